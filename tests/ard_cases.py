"""Tagged objects for the tests of relevance determination."""

from __future__ import annotations

import numpy as np


def golden():
    """Sixty objects with 162 of eight tags, 24 of them of class 1: made by arithmetic, so that anyone can make them."""
    i, j = np.arange(60)[:, None], np.arange(8)[None, :]
    X = ((i * (2 * j + 3) + j**2 + i**2 // 7) % 11 < 4).astype(np.float64)
    t = 2 * X[:, 0] + X[:, 1] - X[:, 2] - 2 * X[:, 3] + (np.arange(60) % 9 == 0) > 0
    return X, t.astype(int)


def random_tags(seed, n=12, d=3, density=0.5):
    """Objects with random tags and classes, both classes present."""
    random = np.random.default_rng(seed)
    X = (random.random((n, d)) < density).astype(np.float64)
    t = (random.random(n) < 0.5).astype(int)
    t[:2] = 0, 1
    return X, t


def telling_tags(seed, n=120, d=10):
    """Two tags that tell the class, the rest noise."""
    random = np.random.default_rng(seed)
    X = (random.random((n, d)) < 0.3).astype(np.float64)
    t = (3 * X[:, 0] - 3 * X[:, 1] + random.normal(size=n) > 0).astype(int)
    return X, t
