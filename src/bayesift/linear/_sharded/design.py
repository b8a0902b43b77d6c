"""Documents in shards, in place of a design in memory: fits ask it for rounds over all shards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bayesift._sparse import Compressed, transpose
from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import Design, Problem, Solution, SolverOptions
from bayesift.linear._sharded import tasks
from bayesift.linear._sharded.rounds import Rounds
from bayesift.linear._sharded.tasks import Table
from bayesift.linear._solvers.working_set import largest_steps
from bayesift.shards import ShardError, Shards

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Bytes that an entry takes in a design in memory, by rows and by columns; and while one is made.
ENTRY_BYTES, _MAKING_BYTES = 24, 36
#: Share of the memory that entries of the matrix may take; the rest is for numbers per document and per column.
_SHARE = 0.5
#: Share of the memory that the slopes of problems solved together may take, and the maximum number of problems.
_SLOPES_SHARE, _MOST_TOGETHER = 0.1, 64
#: Maximum number of fits that run in parallel.
_MOST_FITS = 32
#: Numbers per document and per column that a fit keeps.
_PER_DOCUMENT, _PER_COLUMN = 12, 16


class Sums(NamedTuple):
    """What the tasks ``slopes`` return for a problem, summed over all shards.

    ``plus`` and ``minus`` are Σ u over the documents of the category and over the others, ``c`` their slopes Σ x_ij u_i
    (two rows), ``duals`` their parts of the dual objective at each of ``SCALES``. ``w`` and ``h`` are the curvatures of
    the constant and of the columns.
    """

    loss: float
    plus: float
    minus: float
    w: float
    duals: FloatArray
    c: FloatArray
    h: FloatArray


class Held(NamedTuple):
    """Some columns in memory: their numbers in ascending order, and the design of all documents with only these."""

    columns: Int64Array
    design: Design


class _Slopes(NamedTuple):
    problem: Problem
    beta: FloatArray
    wants_curvature: bool


class _Columns(NamedTuple):
    wanted: Int64Array


class _Scores(NamedTuple):
    beta: FloatArray


class _Sum(NamedTuple):
    task: Any
    problem: Problem
    table: Table
    arguments: tuple[Any, ...]


class ShardedDesign:
    """Documents in shards, with the methods of :class:`Design` that choosing variances and fitting categories need.

    Parameters
    ----------
    shards : Shards
    n_jobs : int or None
        Workers of the engine, where nothing else says how many there are.
    """

    def __init__(self, shards: Shards, n_jobs: int | None) -> None:
        self.shards, self._n_jobs = shards, n_jobs
        self._rounds = Rounds(self._answer)
        self._held: Held | None = None
        self._gaps: dict[int, float] = {}
        #: How often all shards were read.
        self.n_rounds = 0

    @property
    def n_documents(self) -> int:
        """Number of rows."""
        return self.shards.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.shards.shape[1]

    @property
    def most_entries(self) -> int:
        """Number of entries that may be in memory."""
        return int(_SHARE * self.shards.memory / ENTRY_BYTES)

    @cached_property
    def row_hashes(self) -> FloatArray:
        """A hash of each document, the same as in memory."""
        return self._by_rows(tasks.row_products, 0)

    @cached_property
    def row_numbers(self) -> Int64Array:
        """Numbers of the documents from 0 on, the same for copies."""
        return np.unique(self.row_hashes, return_inverse=True)[1]

    @cached_property
    def squared_norms(self) -> FloatArray:
        """The squared Euclidean norm of each document."""
        return self.block_norms(0)[0]

    def block_norms(self, n_dense: int) -> FloatArray:
        """Return the squared norms of each document without its last columns, and in these."""
        return self._by_rows(tasks.norms, self.n_features - n_dense, axis=1)

    def sums(self, weights: FloatArray) -> None:
        """Nothing is known in advance that would save a round."""

    def subset(self, rows: Int64Array) -> Design:
        """Return the design of some of the documents, in memory, with all columns."""
        order = np.sort(rows)
        bounds = np.searchsorted(order, self.shards.starts)
        chosen = [
            order[first:last] - start
            for first, last, start in zip(bounds[:-1], bounds[1:], self.shards.starts, strict=False)
        ]
        parts = list(self._run(tasks.some_rows, [(part,) for part in chosen]))
        documents = _joined(parts)
        if not np.array_equal(order, rows):
            back = np.searchsorted(order, rows)
            return _design(documents, self.n_features).subset(back)
        return _design(documents, self.n_features)

    def without_empty_columns(self) -> tuple[ShardedDesign, Int64Array]:
        """Return the documents as they are: columns without an entry cost nothing."""
        return self, np.arange(self.n_features)

    def scores(self, beta: FloatArray) -> FloatArray:
        """Return the linear scores β₀ + x_iᵀβ of all documents."""
        return self._rounds.ask(_Scores(beta))

    def slopes(self, problem: Problem, beta: FloatArray, *, wants_curvature: bool = False) -> Sums:
        """Return the sums of a problem at some coefficients; problems on other threads share the round."""
        return self._rounds.ask(_Slopes(problem, beta, wants_curvature))

    def several_slopes(self, problems: Sequence[Problem], betas: Sequence[FloatArray]) -> list[Sums]:
        """Return the sums of several problems, each at its own coefficients, from as few rounds as memory allows."""
        return self._all_slopes([_Slopes(problem, beta, False) for problem, beta in zip(problems, betas, strict=True)])

    @property
    def held(self) -> Held | None:
        """The columns that are in memory."""
        return self._held

    def hold(self, wanted: Int64Array) -> Held | None:
        """Bring columns into memory and return them, with others that are there; None if they do not fit."""
        return self._rounds.ask(_Columns(wanted))

    def inner_jobs(self, n_jobs: int | None) -> int:
        """Return how many threads may be at work within a piece of work: those that ask must be known."""
        return 1

    def map(self, work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None) -> list[Result]:
        """Return ``work(item)`` of every item, as many in parallel as there is memory for."""
        each = 8 * (_PER_DOCUMENT * self.n_documents + _PER_COLUMN * self.n_features)
        n_together = int(np.clip((1.0 - _SHARE) * self.shards.memory / each, 1, _MOST_FITS))
        return self._rounds.map(work, items, n_together)

    def solve(self, problem: Problem, options: SolverOptions, start: FloatArray | None) -> Solution:
        """Find the posterior mode of a problem."""
        # It asks this design for its rounds.
        from bayesift.linear._sharded.solving import solve

        return solve(self, problem, options, start)

    def class_scores(self, beta: FloatArray) -> FloatArray:
        """Return the linear scores of all documents, a column for each class."""
        return np.ascontiguousarray(self._by_rows(tasks.scores, tasks.table_of(list(beta.T)), axis=1).T)

    def solve_classes(self, problem: Any, options: SolverOptions, start: FloatArray | None) -> Solution:
        """Find the posterior mode of all classes together (a ``SoftmaxProblem``)."""
        # It asks this design for its rounds.
        from bayesift.linear._sharded.classes import solve_classes

        return solve_classes(self, problem, options, start)

    def hessian_diagonal(self, problem: Problem, beta: FloatArray, own: FloatArray) -> FloatArray:
        """Return Σ_i s_i f″(r_i) x_ij² plus what the priors add, the intercept's last."""
        sums = self.slopes(problem, beta, wants_curvature=True)
        return np.append(sums.h, sums.w) + own

    def tell_gap(self, problem: Any, primal: float = 1.0, dual: float | None = None) -> None:
        """Note the gap of a problem for ``watch``; without a dual objective, the problem is done."""
        # Threads come and go meanwhile, so work on a copy.
        if dual is None:
            self._gaps.pop(id(problem), None)
        elif dual > -np.inf:
            self._gaps[id(problem)] = (primal - dual) / primal
        self.shards.tell_gap(max(list(self._gaps.values()), default=None))

    def sum_of(self, task: Any, problem: Problem, table: Table, *arguments: Any) -> FloatArray:
        """Sum what a task returns for one problem over all shards, in their order."""
        return self._rounds.ask(_Sum(task, problem, table, arguments))

    def total(self, task: Any, arguments: Sequence[tuple[Any, ...]]) -> list[AnyArray]:
        """Sum the arrays that a task returns over all shards, in their order."""
        return _summed(self._run(task, arguments))

    def _run(self, task: Any, arguments: Sequence[tuple[Any, ...]]) -> Any:
        self.n_rounds += 1
        return self.shards.run(task, arguments, self._n_jobs)

    def _by_rows(self, task: Any, *arguments: Any, axis: int = 0) -> FloatArray:
        found = [part for (part,) in self._run(task, [arguments] * len(self.shards.files))]
        return np.concatenate(found, axis=axis)

    def _answer(self, questions: Sequence[Any]) -> list[Any]:
        """Answer questions of any kind, those of a kind in one round."""
        answers: list[Any] = [None] * len(questions)
        ways: dict[type, Callable[[Any], Sequence[Any]]] = {
            _Slopes: self._all_slopes,
            _Columns: self._all_columns,
            _Scores: self._all_scores,
            _Sum: self._all_sums,
        }
        for kind, way in ways.items():
            places = [place for place, question in enumerate(questions) if isinstance(question, kind)]
            if places:
                for place, answer in zip(places, way([questions[place] for place in places]), strict=True):
                    answers[place] = answer
        return answers

    def _all_scores(self, questions: Sequence[_Scores]) -> list[FloatArray]:
        table = tasks.table_of([question.beta for question in questions])
        return list(self._by_rows(tasks.scores, table, axis=1))

    def _all_sums(self, questions: Sequence[_Sum]) -> list[FloatArray]:
        answers = []
        for task, problem, table, arguments in questions:
            y, s = self.shards.split(problem.y.astype(np.int8)), self.shards.split(problem.weights)
            calls = [
                (problem.link, own_y[None], own_s[None], table, *arguments) for own_y, own_s in zip(y, s, strict=True)
            ]
            answers.append(self.total(task, calls)[0])
        return answers

    def _all_slopes(self, questions: Sequence[_Slopes]) -> list[Sums]:
        most = _SLOPES_SHARE * self.shards.memory / (16 * max(self.n_features, 1))
        size = int(np.clip(most, 1, _MOST_TOGETHER))
        found: dict[int, Sums] = {}
        for wanted in (False, True):
            places = [place for place, question in enumerate(questions) if question.wants_curvature == wanted]
            for first in range(0, len(places), size):
                part = places[first : first + size]
                found.update(zip(part, self._some_slopes([questions[k] for k in part], wanted), strict=True))
        return [found[place] for place in range(len(questions))]

    def _some_slopes(self, questions: Sequence[_Slopes], wants_curvature: bool) -> list[Sums]:
        problems = [question.problem for question in questions]
        labels = self.shards.split(np.stack([problem.y for problem in problems], axis=1).astype(np.int8))
        # Problems mostly have the same weights.
        shared = all(problem.weights is problems[0].weights for problem in problems)
        kinds = [problem.weights for problem in (problems[:1] if shared else problems)]
        weights = self.shards.split(np.stack(kinds, axis=1))
        table, link = tasks.table_of([question.beta for question in questions]), problems[0].link
        calls = [
            (link, np.ascontiguousarray(y.T), np.ascontiguousarray(s.T), table, wants_curvature)
            for y, s in zip(labels, weights, strict=True)
        ]
        totals, duals, c, h = self.total(tasks.slopes, calls)
        return [
            Sums(loss, plus, minus, w, duals[p], np.ascontiguousarray(c[:, p].T), np.ascontiguousarray(h[:, p]))
            for p, (loss, plus, minus, w) in enumerate(totals.tolist())
        ]

    def _all_columns(self, questions: Sequence[_Columns]) -> list[Held | None]:
        """Hold all columns that were asked for, and those held before while there is room."""
        counts = self.shards.column_counts
        wanted = np.unique(np.concatenate([question.wanted for question in questions]))
        kept = np.empty(0, np.int64) if self._held is None else self._held.columns
        everything = np.union1d(wanted, kept)
        if int(counts[everything].sum()) <= self.most_entries:
            wanted = everything
        elif int(counts[wanted].sum()) > self.most_entries:
            return [None] * len(questions)
        if self._held is None or not np.array_equal(wanted, kept):
            self._held = None
            self._held = self._gathered(wanted)
        return [self._held] * len(questions)

    def _gathered(self, wanted: Int64Array) -> Held:
        parts = self._run(tasks.columns, [(wanted,)] * len(self.shards.files)) if wanted.size else ()
        n_entries = int(self.shards.column_counts[wanted].sum())
        return Held(wanted, _design(_joined(parts, self.n_documents, n_entries), wanted.size))


def fits_in_memory(shards: Shards) -> bool:
    """Tell whether a design of all rows fits in memory."""
    return shards.n_entries * _MAKING_BYTES <= _SHARE * shards.memory


def documents_of(shards: Shards, n_jobs: int | None) -> Design | ShardedDesign:
    """Return the documents of shards: in memory, like their matrix, if they fit."""
    if not fits_in_memory(shards):
        return ShardedDesign(shards, n_jobs)
    parts = shards.run(tasks.columns, [(np.arange(shards.shape[1]),)] * len(shards.files), n_jobs)
    return _design(_joined(parts, shards.shape[0], shards.n_entries), shards.shape[1])


def _summed(results: Any) -> list[AnyArray]:
    """Sum arrays over the shards, in their order."""
    total: list[AnyArray] = []
    for result in results:
        if not total:
            total = [np.array(part) for part in result]
        else:
            for sum_, part in zip(total, result, strict=True):
                sum_ += part
    return total


def _joined(parts: Any, n_rows: int | None = None, n_entries: int | None = None) -> Compressed:
    """Put compressed rows one below the other; with their numbers known, without a second copy of them."""
    if n_rows is None or n_entries is None:
        parts = list(parts)
        n_rows, n_entries = sum(part[0].size - 1 for part in parts), sum(part[1].size for part in parts)
    starts, columns, values = np.zeros(n_rows + 1, np.uint32), np.empty(n_entries, np.uint32), np.empty(n_entries)
    row = entry = 0
    for own_starts, own_columns, own_values in parts:
        if row + own_starts.size - 1 > n_rows or entry + own_columns.size > n_entries:
            raise ShardError("the shards have more entries than their column counts say")
        starts[row + 1 : row + own_starts.size] = own_starts[1:] + np.uint32(entry)
        columns[entry : entry + own_columns.size] = own_columns
        values[entry : entry + own_columns.size] = own_values
        row, entry = row + own_starts.size - 1, entry + own_columns.size
    if entry != n_entries:
        raise ShardError("the shards have fewer entries than their column counts say")
    return starts, columns, values


def _design(documents: Compressed, n_columns: int) -> Design:
    by_columns = transpose(*documents, n_columns)
    return Design(by_columns, documents, largest_steps(by_columns[0], by_columns[2]))
