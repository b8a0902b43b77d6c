"""Fits of one category with several priors: the candidates of the weakest serve all, and one round confirms them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from bayesift._typing import FloatArray
from bayesift.linear._fit.problem import Problem, Solution, SolverOptions
from bayesift.linear._sharded.candidates import INNER
from bayesift.linear._sharded.design import ShardedDesign
from bayesift.linear._sharded.solving import judge, searched, solve


def solve_path(problems: Sequence[Problem], options: SolverOptions) -> list[Solution]:
    """Find the posterior modes of problems that differ in their priors, from the strongest to the weakest.

    The weakest is solved first: few columns that it does not need are needed by another. On its candidates, which are
    in memory then, the others are solved one from the other, and a single round over everything judges all of them.
    Those that it does not prove are solved by themselves, from where they stand.
    """
    *others, weakest = problems
    design = weakest.design
    assert isinstance(design, ShardedDesign)
    last = solve(design, weakest, options, None)
    starts, proved = _solve_on_held(design, others, options)
    found = [
        solution if solution is not None else solve(design, problem, options, start)
        for problem, start, solution in zip(others, starts, proved, strict=True)
    ]
    return [*found, last]


def _solve_on_held(
    design: ShardedDesign, problems: Sequence[Problem], options: SolverOptions
) -> tuple[list[FloatArray | None], list[Solution | None]]:
    """Solve problems on the columns in memory; return where each stands and, where a round has proved it, its mode."""
    held = design.held
    if held is None or not problems:
        return [None] * len(problems), [None] * len(problems)
    begin = time.perf_counter()
    searches = [searched(design, problem, options, None) for problem in problems]
    betas: list[FloatArray] = []
    delta = np.zeros(problems[0].prior.mode.size)
    for search in searches:
        delta, _ = search.solve_held(held, delta, INNER * search.tol)
        betas.append(delta + search.mode)
    proved: list[Solution | None] = []
    for search, beta, sums in zip(searches, betas, design.several_slopes(problems, betas), strict=True):
        found = judge(sums, beta - search.mode, search.mode, search.prior)
        seconds = time.perf_counter() - begin
        own = Solution(beta, found.primal, found.dual, found.residual, 1, seconds, True)
        proved.append(own if search.is_closed(found, found.dual) else None)
    return list(betas), proved
