"""Matrices that are hard on an estimator, with labels and weights; a seed and a number always give the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Problem(NamedTuple):
    """Documents to learn from and others to ask about, labels, numbers to predict, weights, and what is odd."""

    X: Any
    y: Any
    numbers: Any
    weights: Any
    others: Any
    labels: str
    oddities: tuple[str, ...]


#: Where entries come from: a generator and a shape to numbers.
CONTENTS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Any]] = {
    "counts": lambda rng, shape: rng.poisson(0.7, shape).astype(float),
    "normal": lambda rng, shape: rng.normal(size=shape),
    "positive": lambda rng, shape: rng.gamma(0.5, size=shape) * (rng.random(shape) < 0.5),
    "indicator": lambda rng, shape: (rng.random(shape) < 0.3).astype(float),
    "zeros": lambda rng, shape: np.zeros(shape),
    "constant": lambda rng, shape: np.full(shape, float(rng.integers(-2, 4))),
    "copies": lambda rng, shape: np.repeat(rng.normal(size=(shape[0], 1)), shape[1], axis=1),
    "few rows": lambda rng, shape: rng.poisson(1.0, (2, shape[1])).astype(float)[rng.integers(0, 2, shape[0])],
}

#: Magnitudes that some or all entries are given.
MAGNITUDES = (
    1e300, 1.7e308, 1e160, 1e155, 1e150, 1e120, 1e100, 1e60, 1e40, 1e30, 1e20, 1e16, 1e12, 1e8,
    1e-8, 1e-16, 1e-40, 1e-100, 1e-155, 1e-160, 1e-200, 1e-300, 1e-310, 5e-324,
)  # fmt: skip

FORMS = (
    "dense", "dense", "float32", "bool", "whole", "fortran", "csr", "csr", "csc", "array", "unsorted", "duplicated",
    "explicit zeros", "long indices", "float32 csr", "bool csr", "read-only",
)  # fmt: skip


def _magnify(rng: np.random.Generator, X: Any) -> tuple[Any, str]:
    """Change the size of entries, columns, rows or everything."""
    size = float(rng.choice(MAGNITUDES))
    way = rng.choice(["all", "column", "entry", "row", "column scales", "any", "negative entry"])
    X = X.copy()
    i, j = rng.integers(X.shape[0]), rng.integers(X.shape[1])
    with np.errstate(over="ignore"):
        if way == "all":
            X *= size
        elif way == "column":
            X[:, j] *= size
        elif way == "row":
            X[i] *= size
        elif way == "entry":
            X[i, j] = size
        elif way == "negative entry":
            X[i, j] = -size
        elif way == "column scales":
            X *= np.logspace(-8, 8, X.shape[1])
        else:
            X *= rng.choice(MAGNITUDES, X.shape)
    return np.nan_to_num(X), way if way in ("column scales", "any") else f"{way} {size:g}"


def _blank(rng: np.random.Generator, X: Any) -> tuple[Any, str]:
    """Empty some rows or columns."""
    X = X.copy()
    if rng.random() < 0.5:
        X[rng.random(X.shape[0]) < 0.5] = 0.0
        return X, "empty rows"
    X[:, rng.random(X.shape[1]) < 0.5] = 0.0
    return X, "empty columns"


def _form(rng: np.random.Generator, X: Any, form: str) -> Any:
    """Return the matrix in another form; nothing but the type of the numbers may change what it says."""
    with np.errstate(over="ignore", invalid="ignore"):
        if form.startswith("float32"):
            X = X.astype(np.float32)
        elif form.startswith("bool"):
            X = X != 0
        elif form == "whole":
            X = np.clip(np.round(X), -(2**62), 2**62).astype(np.int64)
    if form == "fortran":
        return np.asfortranarray(X)
    if form == "read-only":
        X.flags.writeable = False
        return X
    if form in ("dense", "float32", "bool", "whole"):
        return X
    if form == "csc":
        return sp.csc_matrix(X)
    if form == "array":
        return sp.csr_array(X)
    matrix = sp.csr_matrix(X)
    if form == "explicit zeros":
        matrix.data[rng.random(matrix.nnz) < 0.3] = 0.0
    elif form == "unsorted":
        _reverse(matrix)
    elif form == "duplicated":
        halves = matrix.copy()
        halves.data = halves.data / 2
        starts = matrix.indptr * 2
        return sp.csr_matrix((_twice(halves, "data"), _twice(halves, "indices"), starts), shape=matrix.shape)
    elif form == "long indices":
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def _twice(matrix: Any, part: str) -> Any:
    values = getattr(matrix, part)
    rows = [values[a:b] for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)]
    return np.concatenate([np.tile(row, 2) for row in rows]) if rows else values


def _reverse(matrix: Any) -> None:
    for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[a:b], matrix.data[a:b] = matrix.indices[a:b][::-1].copy(), matrix.data[a:b][::-1].copy()
    matrix.has_sorted_indices = False


def _labels(rng: np.random.Generator, n: int) -> tuple[Any, str]:
    kind = str(rng.choice(["two", "two", "two", "several", "indicator", "one", "lonely", "named"]))
    if kind == "two":
        return np.arange(n) % 2, kind
    if kind == "several":
        return rng.permutation(np.arange(n) % 3), kind
    if kind == "indicator":
        return (rng.random((n, 3)) < 0.4).astype(int), kind
    if kind == "one":
        return np.zeros(n, dtype=int), kind
    if kind == "lonely":
        return (np.arange(n) == n - 1).astype(int), kind
    return rng.permutation(np.array(["grain", "oil"])[np.arange(n) % 2]), kind


def _weights(rng: np.random.Generator, n: int, y: Any) -> tuple[Any, str]:
    kind = str(rng.choice(["none", "none", "none", "extreme", "some zero", "class zero", "all zero", "small", "large"]))
    if kind == "extreme":
        return rng.choice([1e-10, 1.0, 1e10], n), "weights of 1e-10 to 1e10"
    if kind == "some zero":
        return (rng.random(n) < 0.7).astype(float), "some weights zero"
    if kind == "class zero":
        first = y[:, 0] if np.ndim(y) == 2 else y == y[0]
        return np.where(first, 0.0, 1.0), "weights of a class zero"
    if kind == "all zero":
        return np.zeros(n), "all weights zero"
    if kind in ("small", "large"):
        return np.full(n, 1e-10 if kind == "small" else 1e10), f"weights {kind}"
    return None, ""


def problem(seed: int, number: int) -> Problem:
    """Return a matrix to learn from, with all that belongs to it."""
    rng = np.random.default_rng([seed, number])
    shape = (int(rng.integers(2, 28)), int(rng.choice([1, 2, 3, 5, 8])))
    odd = []
    matrices = []
    content = str(rng.choice(list(CONTENTS)))
    odd.append(content)
    for part in ("", "others: "):
        X = CONTENTS[content](rng, shape)
        if rng.random() < 0.75:
            X, what = _magnify(rng, X)
            odd.append(part + what)
        if rng.random() < 0.3:
            X, what = _blank(rng, X)
            odd.append(part + what)
        form = str(rng.choice(FORMS))
        odd.append(part + form)
        X = _form(rng, X, form)
        if X.dtype.kind == "f":
            values = X.data if sp.issparse(X) else X
            if not np.isfinite(values).all():
                X = X.astype(np.float64)
                finite = np.nan_to_num(X.data if sp.issparse(X) else X)
                X = sp.csr_matrix((finite, X.indices, X.indptr), shape=X.shape) if sp.issparse(X) else finite
        matrices.append(X)
    y, labels = _labels(rng, shape[0])
    weights, what = _weights(rng, shape[0], y)
    odd += [f"labels: {labels}", *([what] if what else [])]
    with np.errstate(over="ignore"):
        numbers = rng.normal(size=shape[0]) * (float(rng.choice(MAGNITUDES)) if rng.random() < 0.3 else 1.0)
    return Problem(matrices[0], y, np.nan_to_num(numbers), weights, matrices[1], labels, tuple(odd))
