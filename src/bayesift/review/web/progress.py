"""The progress of the review, what may be left, and the plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from math import log10
from typing import Any

import numpy as np
from fastapi import Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from bayesift._typing import FloatArray
from bayesift.review.engine import Stopping
from bayesift.review.engine.statements import MISSES
from bayesift.review.storage import Event
from bayesift.review.web.access import CurrentService, CurrentSession, CurrentTopic, guarded_router
from bayesift.review.web.language import said, translated
from bayesift.review.web.rendering import page, percent, thousands
from bayesift.review.web.slow import slow
from bayesift.review.web.svg import Axis, Frame, counting_axis, stacked

router = guarded_router()

_POINTS = 400
_BINS = 20

#: Units of time, and their seconds.
UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_REASONS = ("probable", "informative", "random")


@router.get("/topics/{topic}/progress", response_class=HTMLResponse)
@slow
def progress_page(
    request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic
) -> HTMLResponse:
    """Show what is found, what may be left, and how decisions came about."""
    topic, queue = review.topic, review.queue(session.queue)
    held = review.decisions().in_force(session.queue if topic.own_queues else None)
    found = queue.stopping(topic)
    unread = np.ones(service.n_documents, dtype=bool)
    unread[[event.document for event in held]] = False
    unread[list(service.copies)] = False
    shown = Counter(event.why for event in held)
    return page(
        request,
        "progress.html",
        session,
        topic=topic,
        found=found,
        misses=MISSES,
        earlier=[each for each in service.project.earlier.all() if each.id in topic.earlier],
        estimates=_estimates(found),
        shares=_shares(shown, topic.informative, topic.random),
        curve=recall_plot(held, found),
        histogram=histogram_plot(queue.probabilities()[unread]),
        times=time_plot(held),
    )


def _estimates(found: Stopping) -> list[tuple[str, str, str]]:
    """Return what is known about the rest: its name, the number, and where that comes from."""
    low, high = found.model_interval
    sure = {"confidence": percent(found.confidence)}
    return [
        (
            translated("Relevant found"),
            thousands(found.found),
            said("of {n} decided", n=thousands(found.found + found.irrelevant)),
        ),
        (
            translated("Recall so far"),
            percent(found.recall) if found.found else "–",
            translated("expected by the model"),
        ),
        (
            translated("Relevant left, by the model"),
            f"{found.expected_left:.0f}",
            said("{low} to {high} with {confidence} credibility", low=f"{low:.0f}", high=f"{high:.0f}", **sure),
        ),
        (
            translated("Relevant left, by the random sample"),
            # The sample alone does not know of documents that were judged for other reasons.
            f"≤ {thousands(min(found.by_sample.left, found.unjudged))}",
            said(
                "exact bound, {confidence} confidence: {relevant} relevant among {size} drawn",
                relevant=found.sample_relevant, size=thousands(found.sample_size), **sure,
            ),
        ),
        (
            translated("Relevant left, at every look"),
            f"≤ {thousands(found.by_bets.left)}",
            said(
                "{confidence} confidence, however often you look: recall at least {recall}",
                recall=percent(found.by_bets.recall), **sure,
            ),
        ),
    ]  # fmt: skip


def _shares(shown: Counter[str | None], informative: float, random: float) -> list[dict[str, Any]]:
    wanted = dict(zip(_REASONS, (1 - informative - random, informative, random), strict=True))
    return [{"why": why, "wanted": wanted[why], "shown": shown[why]} for why in _REASONS]


def _thinned(n: int) -> list[int]:
    """Choose at most so many places of n, with the last."""
    return sorted({*range(0, n, max(1, n // _POINTS)), n - 1}) if n else []


def recall_plot(held: Sequence[Event], found: Stopping) -> Markup:
    """Plot the relevant documents found against the documents read, with the total that the model expects."""
    relevant = np.cumsum([event.decision == "relevant" for event in held]) if held else np.zeros(0)
    low, high = found.found + found.model_interval[0], found.found + found.model_interval[1]
    expected = found.found + found.expected_left
    # A wide interval must not press the curve flat.
    top = min(max(1.08 * high, expected, 5.0), max(4.0 * expected, 5.0))
    n = max(len(held), 1)
    frame = Frame(counting_axis(translated("documents read"), n), counting_axis(translated("relevant found"), top))
    frame.box(0, n, low, min(high, top), "band")
    frame.line([(0, expected), (n, expected)], "expected")
    frame.text(n, expected, translated("expected in total"))
    frame.line([(0, 0), *((place + 1, float(relevant[place])) for place in _thinned(len(held)))], "curve")
    sentence = said(
        "After {n} documents, {found} relevant ones are found; {expected} are expected in total, {low} to {high}.",
        n=len(held), found=found.found, expected=f"{expected:.0f}", low=f"{low:.0f}", high=f"{high:.0f}",
    )  # fmt: skip
    return frame.drawing(translated("Recall curve"), sentence)


def histogram_plot(probabilities: FloatArray) -> Markup:
    """Plot the histogram of the probabilities of unread documents, with counts on a logarithmic scale."""
    counts, _ = np.histogram(probabilities, _BINS, (0.0, 1.0))
    most = int(counts.max(initial=1))
    decades = range(len(str(most)) + 1)
    y = Axis(
        translated("unread documents"),
        log10(most) + 1.15,
        tuple((k + 1.0, thousands(10**k)) for k in decades if 10**k <= most),
    )
    x = Axis(translated("probability of being relevant"), 1.0, tuple((k / 5, f"{20 * k}\u00a0%") for k in range(6)))
    frame = Frame(x, y)
    for place, count in enumerate(counts):
        if count:
            frame.box(place / _BINS + 0.004, (place + 1) / _BINS - 0.004, 0, log10(count) + 1, "bar")
    likely = int(counts[_BINS // 2 :].sum())
    sentence = said(
        "Of {n} unread documents, {likely} are more likely relevant than not.", n=len(probabilities), likely=likely
    )
    return frame.drawing(translated("Probabilities of the unread documents"), sentence)


def time_plot(held: Sequence[Event]) -> Markup:
    """Plot how many documents were decided over time, and how many of these were relevant."""
    moments = [datetime.fromisoformat(event.at).timestamp() for event in held]
    first, last = (min(moments), max(moments)) if moments else (0.0, 1.0)
    width = max(last - first, 1.0) / _BINS
    bars: list[Counter[bool]] = [Counter() for _ in range(_BINS)]
    for event, moment in zip(held, moments, strict=True):
        bars[min(int((moment - first) / width), _BINS - 1)][event.decision == "relevant"] += 1
    top = max((bar.total() for bar in bars), default=1)
    span = last - first
    unit, name = next((seconds, word) for word, seconds in UNITS.items() if span >= 2 * seconds or seconds == 1)
    x = counting_axis(said("{unit} since the first decision", unit=name), max(span / unit, 1.0))
    frame = Frame(x, counting_axis(translated("documents"), top))
    for place, bar in enumerate(bars):
        left, right = (place + 0.06) / _BINS * x.top, (place + 0.94) / _BINS * x.top
        stacked(frame, left, right, [(bar[True], "bar yes"), (bar[False], "bar no")])
    sentence = said("{n} documents decided in {time} {unit}.", n=len(held), time=f"{span / unit:.0f}", unit=name)
    return frame.drawing(translated("Decisions over time"), sentence)
