"""What is computed on one shard, by whoever has it: functions without state that return arrays to be summed.

Coefficients come as a :class:`Table` of the columns that any of the problems uses. All that is computed for a problem
is computed alike whichever problems stand beside it, so that its bits do not depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed, columns_dot, selected
from bayesift._typing import AnyArray, FloatArray, Int32Array, Int64Array
from bayesift.linear._losses import dual_part, guarded_curvature, loss_terms
from bayesift.shards import Rows, ShardFile

#: Factors of the dual variables at which the dual objective is computed, in ascending order. It is concave in the
#: factor: between two of them, a straight line is a lower bound.
SCALES: FloatArray = np.array([0.0, 0.4, 0.7, 0.9, *(1.0 - 10.0**-power for power in range(2, 9)), 1.0])


class Table(NamedTuple):
    """Coefficients of several problems: the columns that any of them uses, a row of values for each, the constants."""

    columns: Int64Array
    values: FloatArray
    constants: FloatArray

    def places(self, n_columns: int) -> Int32Array:
        """Return the row of every column of the matrix, −1 for those that no problem uses."""
        place = np.full(n_columns, -1, dtype=np.int32)
        place[self.columns] = np.arange(self.columns.size, dtype=np.int32)
        return place


def table_of(betas: Sequence[FloatArray]) -> Table:
    """Return the table of several vectors of coefficients, the constants of which are last."""
    used = np.zeros(betas[0].size - 1, dtype=bool)
    for beta in betas:
        used |= beta[:-1] != 0.0
    columns = np.flatnonzero(used)
    values = np.stack([beta[columns] for beta in betas], axis=1)
    return Table(columns, np.ascontiguousarray(values), np.array([beta[-1] for beta in betas]))


@kernel
def add_scores(rows: Compressed, place: Int32Array, values: FloatArray, z: FloatArray) -> None:
    """Add x_iᵀβ_p to z_pi for all problems p."""
    starts, columns, data = rows
    n_problems = values.shape[1]
    own = np.empty(n_problems)
    for i in range(starts.shape[0] - 1):
        own[:] = 0.0
        for k in range(starts[i], starts[i + 1]):
            at = place[columns[k]]
            if at >= 0:
                x = np.float64(data[k])
                for p in range(n_problems):
                    own[p] += x * values[at, p]
        for p in range(n_problems):
            z[p, i] += own[p]


@kernel
def add_slopes(rows: Compressed, u: FloatArray, side: AnyArray, c: FloatArray) -> None:
    """Add Σ x_ij u_pi to c_jp0 over the documents i of a category p, and to c_jp1 over the others."""
    starts, columns, data = rows
    n_problems = u.shape[0]
    for i in range(starts.shape[0] - 1):
        if n_problems == 1:
            only, where = u[0, i], side[0, i]
            if only != 0.0:
                for k in range(starts[i], starts[i + 1]):
                    c[columns[k], 0, where] += np.float64(data[k]) * only
        else:
            for k in range(starts[i], starts[i + 1]):
                x = np.float64(data[k])
                line = c[columns[k]]
                for p in range(n_problems):
                    line[p, side[p, i]] += x * u[p, i]


@kernel
def add_curvatures(rows: Compressed, w: FloatArray, h: FloatArray) -> None:
    """Add Σ_i x_ij² w_pi to h_jp."""
    starts, columns, data = rows
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            x = np.float64(data[k])
            for p in range(w.shape[0]):
                h[columns[k], p] += x * x * w[p, i]


@kernel
def add_products(rows: Compressed, w: FloatArray, matrix: FloatArray) -> None:
    """Add Σ_i w_i x_i x_iᵀ to the lower triangle; the columns of a row are in ascending order."""
    starts, columns, data = rows
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            v = w[i] * data[k]
            line = matrix[columns[k]]
            for other in range(starts[i], k + 1):
                line[columns[other]] += v * data[other]


@kernel
def row_norms(rows: Compressed, first_dense: int) -> FloatArray:
    """Return the squared length of each row before a column, and from it on."""
    starts, columns, data = rows
    out = np.zeros((2, starts.shape[0] - 1))
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            x = np.float64(data[k])
            out[1 if columns[k] >= first_dense else 0, i] += x * x
    return out


def linear_scores(rows: Rows, shard: ShardFile, table: Table) -> FloatArray:
    """Return the linear scores of each problem in rows that are open."""
    z = np.repeat(table.constants[:, None], shard.n_rows, axis=1)
    add_scores(rows, table.places(shard.n_columns), table.values, z)
    return z


def scores(shard: ShardFile, table: Table) -> tuple[FloatArray]:
    """Return the linear scores of each problem."""
    return (linear_scores(shard.open(), shard, table),)


def slopes(
    shard: ShardFile, link: int, y: AnyArray, s: FloatArray, table: Table, wants_curvature: bool
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return what a round needs of every problem: losses, slopes, and the dual objective at several factors.

    Parameters
    ----------
    shard : ShardFile
    link : int
        Code of the loss.
    y : int8 array of shape (n_problems, n_rows)
        Labels −1 and +1.
    s : float array of shape (n_problems, n_rows) or (1, n_rows)
        Weights; a single row is that of all problems.
    table : Table
    wants_curvature : bool
        Whether Σ_i s_i f″(r_i) x_ij² is wanted, which costs a pass of its own.

    Returns
    -------
    totals : float array of shape (n_problems, 4)
        The loss; Σ u over the documents of the category and over the others; Σ w.
    duals : float array of shape (n_problems, 2, n_scales)
        −Σ s_i f*(−a u_i/s_i) over either for each factor a of ``SCALES``.
    c : float array of shape (n_columns, n_problems, 2)
        Σ x_ij u_i over either.
    h : float array of shape (n_columns, n_problems)
        The curvatures; empty unless wanted.
    """
    rows = shard.open()
    r = linear_scores(rows, shard, table)
    r *= y
    n_problems = r.shape[0]
    u, w = np.empty_like(r), np.empty_like(r)
    totals, duals = np.empty((n_problems, 4)), np.zeros((n_problems, 2, SCALES.size))
    for p in range(n_problems):
        weights = s[p if s.shape[0] > 1 else 0]
        totals[p, 0] = loss_terms(link, r[p], weights, u[p], w[p])
        totals[p, 3] = w[p].sum()
        for side, members in enumerate((y[p] > 0, y[p] < 0)):
            own_u, own_r, own_s = u[p][members], r[p][members], weights[members]
            totals[p, 1 + side] = own_u.sum()
            sample = np.ones(own_u.size), own_s, np.zeros(own_u.size)
            # At the factor 0 it is 0.
            for place in range(1, SCALES.size):
                duals[p, side, place] = dual_part(link, sample, own_u, own_r, SCALES[place], SCALES[place])
    c = np.zeros((shard.n_columns, n_problems, 2))
    add_slopes(rows, u, (y < 0).view(np.uint8), c)
    h = np.zeros((shard.n_columns if wants_curvature else 0, n_problems))
    if wants_curvature:
        add_curvatures(rows, w, h)
    return totals, duals, c, h


def columns(shard: ShardFile, chosen: Int64Array) -> Compressed:
    """Return the entries of some columns, numbered by their places among the chosen ones, which are in order."""
    starts, numbers, values = selected(shard.open(), shard.n_columns, chosen, False)
    return starts, numbers, np.asarray(values, dtype=np.float64)


def gram(
    shard: ShardFile, link: int, y: AnyArray, s: FloatArray, table: Table, chosen: Int64Array, power: float
) -> tuple[FloatArray]:
    """Return the curvature Σ_i w_i x_i x_iᵀ of a problem in some columns, in order, the constant last.

    Above the diagonal stands nothing. With a ``power`` above 0 curvatures are those of ``guarded_curvature``.
    """
    rows = shard.open()
    r = linear_scores(rows, shard, table)[0]
    r *= y[0]
    u, w = np.empty_like(r), np.empty_like(r)
    loss_terms(link, r, s[0], u, w)
    if power > 0.0:
        w = guarded_curvature(link, r, s[0], u, w, power)
    matrix = np.zeros((chosen.size + 1, chosen.size + 1))
    add_products(selected(rows, shard.n_columns, chosen, True), w, matrix)
    return (matrix,)


def losses(
    shard: ShardFile, link: int, y: AnyArray, s: FloatArray, table: Table, sizes: FloatArray
) -> tuple[FloatArray]:
    """Return the loss of a problem at several steps: its coefficients plus size × the second of two columns of them."""
    z, move = linear_scores(shard.open(), shard, table)
    out, u, w = np.empty(sizes.size), np.empty_like(z), np.empty_like(z)
    for place, size in enumerate(sizes):
        out[place] = loss_terms(link, y[0] * (z + size * move), s[0], u, w)
    return (out,)


def row_products(shard: ShardFile, seed: int) -> tuple[FloatArray]:
    """Return the product of each row with random numbers, the same for copies."""
    products = np.empty(shard.n_rows)
    columns_dot(*shard.open(), np.random.default_rng(seed).random(shard.n_columns), products)
    return (products,)


def norms(shard: ShardFile, first_dense: int) -> tuple[FloatArray]:
    """Return the squared lengths of each row before a column, and from it on."""
    return (row_norms(shard.open(), first_dense),)


def some_rows(shard: ShardFile, chosen: Int64Array) -> Compressed:
    """Return some rows whole."""
    starts, numbers, values = shard.open()
    sizes = starts[1:][chosen] - starts[chosen]
    own = np.append(0, np.cumsum(sizes, dtype=np.int64))
    taken = np.arange(own[-1]) + np.repeat(starts[chosen] - own[:-1], sizes)
    return own.astype(np.uint32), numbers[taken], values[taken].astype(np.float64)
