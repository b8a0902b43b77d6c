"""Which model suits the texts: a few candidates, compared on held-out texts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil, log
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import average_precision_score
from sklearn.utils import check_random_state

from bayesift import progress
from bayesift._labels import TargetType
from bayesift._typing import BoolArray, FloatArray
from bayesift.decide import Threshold
from bayesift.workflow._label_sets import N_FOLDS, Targets, assign_folds
from bayesift.workflow._models import (
    AUTO,
    MODELS,
    Material,
    build_model,
    can_average,
    decided,
    fit_model,
    fitted_selector,
    scores_of_rows,
    suited_policy,
    used_variance,
    vectorizer_for,
)
from bayesift.workflow.features import learnt_features
from bayesift.workflow.model_comparison import (
    Candidate,
    Measure,
    ModelComparison,
    Performance,
    candidates_of,
    chosen_place,
    comparison_of,
)
from bayesift.workflow.words_and_vectors import LINEAR_MODELS, Pile, linear_part

#: Most texts to compare on: a sample of more tells as much.
MOST_TEXTS = 10_000

#: Folds are held out until they have this many texts.
ENOUGH_HELD_OUT = 2_000

#: With fewer different texts, no models are compared.
FEWEST_TEXTS = 20

#: If half of the labels have fewer texts, words with vectors count as simplest if there is a pile: on seven of eight
#: collections they were at least as good as words alone with ten texts of each label.
FEW_OF_A_LABEL = 20

#: If most texts have a label with fewer texts than there are folds, no models are compared: the fold that holds one
#: out takes away so much of its label that a model does well by giving it any other label.
FEWEST_OF_A_LABEL = N_FOLDS

#: If texts may have any number of labels, models are compared on this many labels.
MOST_LABELS = 10

#: The relative gap at which fits for a comparison stop.
TOLERANCE = 1e-3

#: Smaller probabilities are replaced by this, because otherwise a single text could decide everything.
LEAST_PROBABILITY = 1e-15

#: Relative times, from which the time left is estimated: of comparing each candidate, of one with pairs of words, and
#: of the search for its variance compared with the fits that follow.
_COSTS, _COST_OF_PAIRS, _SEARCHING = {"nb": 0.1}, 3.0, 0.6


def choose_model(
    classifier: Any,
    texts: Sequence[str],
    targets: Targets,
    sample_weight: Any = None,
    measure: Measure = "auto",
    pile: Pile | None = None,
) -> ModelComparison:
    """Compare the candidates on held-out texts and choose one.

    Copies of a text are held out together. The prior variance is searched for without the first fold and then kept.
    Candidates count as equally good if they are behind the best by no more than a standard error of the paired
    differences, or by next to nothing. Of these, the one with the greatest log likelihood is chosen and, if several are
    equally good in that too, the simplest, which with few labels and a pile is the one with vectors. The F1 of a rare
    label depends on a few texts near the threshold, so average precision is added to it and the greatest sum wins.

    Parameters
    ----------
    classifier : TextClassifier
        The classifier whose other parameters apply: ``vectorizer``, ``selector``, ``threshold``, ``variance``, …
    texts : sequence of str
    targets : Targets
    sample_weight : array of shape (n_texts,), optional
        How much each text counts.
    measure : {"auto", "log_likelihood", "accuracy", "f1"}, default="auto"
        What to compare; ``"auto"`` is ``"f1"`` if thresholds are set for the greatest F1, else ``"accuracy"``.
    pile : Pile, optional
        The texts with and without labels.

    Returns
    -------
    ModelComparison
    """
    policy = suited_policy(classifier.threshold, targets)
    if measure == "auto":
        measure = "f1" if policy in ("max_f1", "max_f1_of_rest") else "accuracy"
    pile = Pile(classifier, texts, None) if pile is None else pile
    open_to = [
        candidate
        for candidate in candidates_of(classifier.model)
        if _is_possible(candidate, classifier, targets, len(texts)) and _suits_vectors(candidate, pile)
    ]
    if _texts_of_a_label(targets) < FEW_OF_A_LABEL:
        # The pile says more about words than so few labels do, and too few texts are held out to tell the difference.
        open_to.sort(key=lambda candidate: not candidate.vectors)
    everything = Material(texts, np.empty((len(texts), 0)), targets, sample_weight, classifier.class_weight)
    material = _sample(everything, classifier.random_state)
    if material is None:
        reason = f"{open_to[0].name}, because there are too few texts to compare models on"
        return ModelComparison(open_to[0].name, reason, measure, len(texts), 0, [])
    fold = assign_folds(material.texts, material.targets.sets(), N_FOLDS)
    n_turns = min(N_FOLDS, ceil(ENOUGH_HELD_OUT * N_FOLDS / len(fold)))
    comparing = _Comparing(classifier, material, fold, n_turns, policy, measure, pile)
    single = [candidate for candidate in open_to if not candidate.pairs]
    # Expected time of each candidate, and of the one with pairs that follows.
    costs = [*(_COSTS.get(candidate.model, 1.0) for candidate in single), _COST_OF_PAIRS]
    ends = np.cumsum([0.0, *costs]) / sum(costs)
    found = []
    for place, candidate in enumerate(single):
        with progress.part(ends[place], ends[place + 1]):
            found.append(comparing.performance(candidate))
    best = single[chosen_place(found, comparing.weights, measure)]
    more = [candidate for candidate in open_to if candidate.pairs and candidate.model == best.model]
    with progress.part(ends[-2], 1.0):
        found += [comparing.performance(candidate) for candidate in more]
    return comparison_of(found, comparing.weights, comparing.n_texts, measure)


def _suits_vectors(candidate: Candidate, pile: Pile) -> bool:
    """Tell whether a candidate has vectors if they are required, and none if they are impossible."""
    if pile.is_wanted():
        return candidate.vectors
    return pile.is_open() or not candidate.vectors


def _is_possible(candidate: Candidate, classifier: Any, targets: Targets, n_texts: int) -> bool:
    """Tell whether a candidate can do what is asked of the classifier."""
    if n_texts < candidate.least_texts or _texts_of_a_label(targets) < candidate.least_of_a_label:
        return False
    if candidate.one_label and targets.target_type == "multilabel-indicator":
        return False
    if classifier.features is not None and candidate.model not in LINEAR_MODELS:
        return False
    # Sampling takes long, so it is done only for a model asked for by name.
    method = "ep" if classifier.posterior == "auto" else classifier.posterior
    if not can_average(candidate.model, method, classifier.variance):
        return False
    if classifier.prior_knowledge and not MODELS[candidate.model].takes_priors:
        return False
    if classifier.calibration == "sigmoid" and not MODELS[candidate.model].calibrates:
        return False
    policy = suited_policy(classifier.threshold, targets)
    if targets.target_type == "multiclass" and policy != "half" and not MODELS[candidate.model].tunes_threshold:
        return False
    given = classifier.vectorizer
    chooses_terms = given is None or (isinstance(given, Mapping) and "ngram_range" not in given)
    return chooses_terms or not candidate.pairs


def _texts_of_a_label(targets: Targets) -> float:
    """Return the number of texts that at least half of the labels have."""
    return float(np.median(targets.counts()))


def _sample(material: Material, random_state: Any) -> Material | None:
    """Return the texts and labels to compare on; None if they are too few.

    Every label needs two different texts, so that one can be held out, and most texts need a label with several texts.
    """
    if material.sample_weight is not None:
        material = material.rows(material.sample_weight > 0)
    n_texts, targets = len(material.texts), material.targets
    if n_texts > MOST_TEXTS:
        kept: BoolArray = np.zeros(n_texts, dtype=bool)
        kept[check_random_state(random_state).permutation(n_texts)[:MOST_TEXTS]] = True
        material = material.rows(kept)
    pairs = zip(material.texts, material.targets.sets(), strict=True)
    different: Counter[Any] = Counter(label for _, label in {(text, label) for text, own in pairs for label in own})
    known = np.array([different[label] >= 2 for label in targets.classes.tolist()])
    if targets.target_type == "multilabel-indicator":
        names = targets.classes.tolist()
        frequent = sorted(np.flatnonzero(known).tolist(), key=lambda column: -different[names[column]])
        spread = sorted(frequent[:: max(1, ceil(len(frequent) / MOST_LABELS))])
        targets = targets._replace(classes=targets.classes[spread], y=material.targets.y[:, spread])
        enough = bool(spread)
    else:
        own = np.isin(material.targets.y, targets.classes[known])
        material = material.rows(own)
        classes = targets.classes[known]
        kind: TargetType = "binary" if classes.size == 2 else "multiclass"
        targets = Targets(kind, classes, material.targets.y)
        enough = classes.size >= 2
    if not enough or len(set(material.texts)) < FEWEST_TEXTS:
        return None
    counts = targets.counts()
    if float(np.median(np.repeat(counts, counts))) < FEWEST_OF_A_LABEL:
        return None
    return material._replace(targets=targets)


class _Comparing:
    """The texts that are held out in turn, the same for all candidates."""

    def __init__(
        self,
        classifier: Any,
        material: Material,
        fold: Any,
        n_turns: int,
        policy: Any,
        measure: str,
        pile: Pile,
    ) -> None:
        self._pile = pile
        self._classifier, self._material, self._fold, self._n_turns = classifier, material, fold, n_turns
        self._policy, self._measure = policy, measure
        self._held = np.concatenate([np.flatnonzero(fold == turn) for turn in range(n_turns)])
        self.truth = material.targets.indicator()[self._held] > 0
        weights = material.sample_weight
        self.weights = np.ones(self._held.size) if weights is None else weights[self._held]
        self.n_texts = len(material.texts)
        self._numbers: dict[Any, tuple[Any, Any]] = {}
        has_features = classifier.features is not None
        self._columns = learnt_features(classifier, material.texts, AUTO) if has_features else None
        self._beside = None if self._columns is None else self._columns.transform(material.texts)

    def performance(self, candidate: Candidate) -> Performance:
        """Return what each held-out text says about a candidate."""
        vectorizer, X = self._vectorized(candidate)
        material = self._material._replace(X=X)
        classifier, targets = self._classifier, material.targets
        # Compared at the mode, which is fitted; thresholds are set afterwards, on scores of held-out texts.
        changes = {"threshold": self._policy, "threshold_on": "train", "compute_precision": False, "tol": TOLERANCE}
        changes["variance"] = classifier.variance
        changes["posterior"] = None
        if self._measure != "log_likelihood":
            # This keeps the order of texts for each label, and nearly keeps decisions.
            changes["calibration"] = None
        if self._columns is not None:
            changes["dense_features"] = self._columns.n_dense
        names = vectorizer.get_feature_names_out() if classifier.prior_knowledge else None
        scores, logs = [], []
        # The first fit searches for the variance.
        ends = [0.0, *np.linspace(_SEARCHING if self._n_turns > 1 else 1.0, 1.0, self._n_turns)]
        for turn in range(self._n_turns):
            rest, out = material.rows(self._fold != turn), X[self._fold == turn]
            words, kept = names, None
            if classifier.selector is not None:
                selector = fitted_selector(classifier.selector, rest.X, rest.targets)
                kept = selector.get_support()
                rest, out = rest._replace(X=selector.transform(rest.X)), selector.transform(out)
                words = None if words is None else words[kept]
            if self._beside is not None:
                rest = rest._replace(X=_joined(rest.X, self._beside[self._fold != turn]))
                out = _joined(out, self._beside[self._fold == turn])
                words = None if words is None else [*words, *map(str, range(self._beside.shape[1]))]
            with warnings.catch_warnings(), progress.part(*ends[turn : turn + 2]):
                # The fit to all texts warns about what matters.
                warnings.simplefilter("ignore")
                model = build_model(classifier, candidate.model, targets, vectorizer, out.shape[1], **changes)
                if candidate.vectors:
                    model = self._pile.with_vectors(model, vectorizer, kept)
                model = fit_model(model, rest, words)
            changes["variance"] = used_variance(model, targets.classes, changes["variance"])
            if candidate.vectors or self._beside is not None:
                changes["dense_variance"] = float(linear_part(model).dense_variance_[0])
            scores.append(scores_of_rows(model, out))
            logs.append(model.scores_to_log_proba(scores[-1][:, 0] if targets.target_type == "binary" else scores[-1]))
        log_likelihood = _log_likelihood(np.concatenate(logs), self.truth, targets.target_type)
        parts = log_likelihood
        if self._measure != "log_likelihood":
            decisions = self._decided(np.concatenate(scores))
            parts = np.all(decisions == self.truth, axis=1) * 1.0
            if self._measure == "f1":
                parts = f1_by_text(self.truth, decisions, self.weights)
        ranked = mean_average_precision(self.truth, np.concatenate(scores), self.weights)
        return Performance(candidate, parts, log_likelihood, ranked, X.shape[1])

    def _vectorized(self, candidate: Candidate) -> tuple[Any, Any]:
        if candidate.vectors:
            vectorizer = self._pile.vectorizer(candidate.model, pairs=candidate.pairs)
            return vectorizer, vectorizer.transform(self._material.texts)
        vectorizer = vectorizer_for(
            self._classifier.vectorizer,
            candidate.model,
            len(self._material.texts),
            pairs=candidate.pairs,
            n_jobs=self._classifier.n_jobs,
        )
        key = repr(vectorizer.get_params())
        if key not in self._numbers:
            self._numbers[key] = vectorizer, vectorizer.fit_transform(self._material.texts)
        return self._numbers[key]

    def _decided(self, scores: FloatArray) -> BoolArray:
        """Decide as the classifier would, with thresholds that suit these scores."""
        threshold = Threshold(self._policy, scale="log_odds", cautious=True)
        truth = self.truth[:, -scores.shape[1] :].astype(np.int64)
        threshold.fit(scores, *(() if self._policy == "half" else (truth, self.weights)))
        return decided(scores, threshold.thresholds_, self._material.targets.target_type)


def _joined(X: Any, beside: Any) -> Any:
    return sp.hstack([X, beside], format="csr")


def _log_likelihood(logs: FloatArray, truth: BoolArray, target_type: TargetType) -> FloatArray:
    """Return the log likelihood of the labels of each text."""
    least = log(LEAST_PROBABILITY)
    if target_type != "multilabel-indicator":
        return np.maximum(logs[truth], least)
    absent = np.log1p(-np.minimum(np.exp(logs), 1.0 - LEAST_PROBABILITY))
    return np.where(truth, np.maximum(logs, least), absent).sum(axis=1)


def f1_by_text(truth: BoolArray, decisions: BoolArray, weights: FloatArray) -> FloatArray:
    """Return what each text adds to the mean F1 of the labels: the F1, and how fast it changes with the text's weight.

    F1 is a ratio of sums over texts, 2TP / (2TP + FP + FN). By the delta method its standard error is that of the mean
    of these numbers. Labels that no text has or is given are left out.
    """
    twice = 2.0 * (truth & decisions)
    total = truth * 1.0 + decisions
    share = weights / weights.sum()
    below = share @ total
    seen = below > 0
    twice, total, below = twice[:, seen], total[:, seen], below[seen]
    f1 = (share @ twice) / below
    return np.mean(f1 + (twice - f1 * total) / below, axis=1)


def mean_average_precision(truth: BoolArray, scores: FloatArray, weights: FloatArray) -> float:
    """Return the mean average precision of the labels; labels that all texts have, or none, are left out."""
    truth = truth[:, -scores.shape[1] :]
    varied = [column for column in range(truth.shape[1]) if 0 < truth[:, column].sum() < len(truth)]
    found = [average_precision_score(truth[:, k], scores[:, k], sample_weight=weights) for k in varied]
    return float(np.mean(found)) if found else 0.0
