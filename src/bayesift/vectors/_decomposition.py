"""From the information that company gives to vectors of a few hundred numbers."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from bayesift._threads import map_threads, one_blas_thread
from bayesift._typing import AnyArray, Int64Array
from bayesift.vectors._cooccurrence import Company

#: The directions are those of so many words, drawn at random: more of them change no result that matters.
_SAMPLE = 10_000
#: Directions computed beyond those that are kept, and rounds of refinement: likewise.
_OVERSAMPLES, _ROUNDS = 20, 2
#: Words whose rows are held at a time by each thread.
_BLOCK = 256


def decomposed(company: Company, rank: int, n_jobs: int | None, random_state: int, n_sample: int = _SAMPLE) -> AnyArray:
    """Return U S^½ of the decomposition M ≈ U S Vᵀ of the information M.

    S and V are those of the rows of a sample of the words; as M V = U S, the vectors of all words are M V S^-½. Rows
    are computed in blocks and given up again, so memory is bounded by the sample.
    """
    n_words, n_contexts = company.shape
    size = min(n_words, n_sample)
    sample = np.sort(np.random.default_rng(random_state).choice(n_words, size, replace=False))
    rows = sp.vstack(map_threads(company.information, _blocks(sample), n_jobs), "csr")
    # The dense parts are small: more threads would mostly wait for each other, which takes their processors' time.
    with one_blas_thread():
        _, scales, right = randomized_svd(
            rows, min(rank, size, n_contexts), n_oversamples=_OVERSAMPLES, n_iter=_ROUNDS, random_state=random_state
        )
    # The squares of so many more rows are so many times as large.
    scales = scales * np.sqrt(n_words / size)
    # Directions that hold nothing give zeros, not noise.
    least = np.finfo(np.float32).eps * scales.max()
    directions = np.divide(right.T, np.sqrt(scales), out=np.zeros(right.T.shape, np.float32), where=scales > least)
    vectors = np.empty((n_words, scales.size), dtype=np.float32)
    vectors[sample] = rows @ directions
    del rows

    def project(words: Int64Array) -> None:
        vectors[words] = company.information(words) @ directions

    map_threads(project, _blocks(np.setdiff1d(np.arange(n_words), sample, assume_unique=True)), n_jobs)
    return vectors


def _blocks(words: Int64Array) -> list[Int64Array]:
    return [words[first : first + _BLOCK] for first in range(0, words.size, _BLOCK)]
