"""The states of all topics as plain arrays, in a file and back, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesift._files import atomic_path
from bayesift._typing import AnyArray, Int32Array
from bayesift.filtering._documents import TermWeights
from bayesift.filtering.topic import FilterRules, Row, TopicState
from bayesift.online import belief as beliefs
from bayesift.online.belief import exponents_of

Arrays = dict[str, AnyArray]


def arrays_of(weights: TermWeights, states: Sequence[TopicState]) -> Arrays:
    """Return everything that learning has changed as plain arrays."""
    spelled = [term.encode("utf-8", "surrogatepass") for term in weights.terms]
    result: Arrays = {
        "terms": np.frombuffer(b"".join(spelled), dtype=np.uint8),
        "term_ends": np.cumsum([len(term) for term in spelled], dtype=np.int64),
        "frequency": weights.frequency,
        "n_documents": np.array(weights.n_documents),
    }
    for k, state in enumerate(states):
        result |= {f"{k}.{name}": value for name, value in _topic_arrays(state, weights.present()).items()}
    return result


def _topic_arrays(state: TopicState, present: Int32Array) -> Arrays:
    # Nearly all documents outside are those of the training set, which all topics share: the others are kept alone.
    more = state.inside + state.outside
    more[: present.size] -= present
    inside, added = np.flatnonzero(state.inside), np.flatnonzero(more)
    none = np.empty(0, dtype=np.uint32), np.empty(0)
    return {
        "columns": state.columns,
        "mean": state.belief.mean,
        "covariance": np.asarray(state.belief.covariance),
        "log_evidence": np.array(state.belief.log_evidence),
        "exponents": exponents_of(state.belief),
        "inside": np.stack([inside, state.inside[inside]]),
        "added": np.stack([added, more[added]]),
        "numbers": np.array([state.n_inside, state.n_outside, state.turn, state.retrieved, state.inside.size]),
        "relevant_ends": np.cumsum([row.columns.size for row in state.relevant], dtype=np.int64),
        "relevant_columns": np.concatenate([none[0], *(row.columns for row in state.relevant)]),
        "relevant_weights": np.concatenate([none[1], *(row.weights for row in state.relevant)]),
    }


def restore(arrays: Any, weights: TermWeights, n_topics: int, rules: FilterRules) -> list[TopicState]:
    """Fill ``weights`` and give the states back from :func:`arrays_of`."""
    content, ends = arrays["terms"].tobytes(), arrays["term_ends"].tolist()
    terms = [
        content[begin:end].decode("utf-8", "surrogatepass")
        for begin, end in zip([0, *ends[:-1]], ends, strict=bool(ends))
    ]
    frequency = arrays["frequency"]
    weights.set_frequencies(terms[: frequency.size], frequency, int(arrays["n_documents"]))
    weights.add(terms[frequency.size :])
    likelihood = beliefs.likelihood_of("flip", 0.0, rules.kappa)
    return [_topic(arrays, k, weights.present(), likelihood) for k in range(n_topics)]


def _topic(arrays: Any, k: int, present: Int32Array, likelihood: beliefs.Likelihood) -> TopicState:
    part = {name: arrays[f"{k}.{name}"] for name in _TOPIC_PARTS}
    # Earlier snapshots have none.
    exponents = arrays.get(f"{k}.exponents")
    if exponents is not None and not exponents.any():
        exponents = None
    n_inside, n_outside, turn, retrieved, n_terms = part["numbers"].tolist()
    inside, outside = np.zeros(n_terms, dtype=np.int32), np.zeros(n_terms, dtype=np.int32)
    inside[part["inside"][0]] = part["inside"][1]
    outside[: present.size] = present
    outside[part["added"][0]] += part["added"][1].astype(np.int32)
    columns, weights = part["relevant_columns"], part["relevant_weights"]
    ends = part["relevant_ends"].tolist()
    rows = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    return TopicState(
        columns=part["columns"],
        belief=beliefs.Belief(
            part["mean"], part["covariance"], likelihood, None, float(part["log_evidence"]), exponents
        ),
        inside=inside,
        outside=outside - inside,
        n_inside=n_inside,
        n_outside=n_outside,
        relevant=tuple(Row(columns[row].copy(), weights[row].copy()) for row in rows),
        turn=turn,
        retrieved=retrieved,
    )


_TOPIC_PARTS = (
    "columns",
    "mean",
    "covariance",
    "log_evidence",
    "inside",
    "added",
    "numbers",
    "relevant_ends",
    "relevant_columns",
    "relevant_weights",
)


def write(path: Path, arrays: Arrays) -> None:
    """Put arrays into a file, which is on the disk, whole, when this returns."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        # The list comes first: what else a changed bit may hide is then missed.
        np.savez(file, names=np.array(sorted(arrays)), **arrays)  # type: ignore[arg-type]


def read(path: Path) -> Arrays:
    """Read the arrays of a file."""
    with path.open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
                if arrays.pop("names").tolist() != sorted(arrays):
                    raise ValueError("parts of it are missing")
                return arrays
        except Exception as error:
            # A changed bit can make zipfile and numpy fail in ways that are not all known.
            raise ValueError(
                f"{path} cannot be read, because it is damaged ({error}); restore it from a copy, or remove it: it is "
                "then rebuilt from the journal"
            ) from error
