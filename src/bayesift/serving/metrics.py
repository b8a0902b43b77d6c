"""Counts and times of requests, in the text format of Prometheus."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The content type of the format.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Histogram:
    r"""Counts of values by their size.

    Parameters
    ----------
    bounds : sequence of float
        In increasing order; a value is counted at the first bound that is not below it.

    Examples
    --------
    >>> from bayesift.serving.metrics import Histogram
    >>> histogram = Histogram([1, 2])
    >>> for value in (1, 1.5, 7):
    ...     histogram.observe(value)
    >>> print("\n".join(histogram.lines("x")))
    x_bucket{le="1"} 1
    x_bucket{le="2"} 2
    x_bucket{le="+Inf"} 3
    x_sum 9.5
    x_count 3
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str) -> Iterator[str]:
        """Return the lines of the format."""
        total = 0
        for bound, count in zip((*self._bounds, "+Inf"), self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {self._sum:.15g}"
        yield f"{name}_count {total}"


class Metrics:
    """Requests, texts, labels and batches so far."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds = Histogram(_SECONDS)
        self.batches = Histogram(_TEXTS)
        self.texts = self.characters = self.under_way = 0
        self._begun = time.time()

    def text(self, labels: Mapping[str, int], waiting: int) -> str:
        """Return everything in the text format.

        Parameters
        ----------
        labels : mapping of str to int
            How often each label was given.
        waiting : int
            Number of waiting characters.
        """
        lines: list[str] = []

        def add(name: str, kind: str, about: str, values: Iterator[str]) -> None:
            lines.extend((f"# HELP {name} {about}", f"# TYPE {name} {kind}", *values))

        def one(name: str, kind: str, about: str, value: float) -> None:
            add(name, kind, about, iter([f"{name} {value:.15g}"]))

        name = "bayesift_requests_total"
        of = (
            f'{name}{{method="{method}",path="{_escaped(path)}",status="{status}"}} {count}'
            for (method, path, status), count in sorted(self.requests.items())
        )
        add(name, "counter", "Requests answered.", of)
        name = "bayesift_labels_total"
        given = (f'{name}{{label="{_escaped(label)}"}} {count}' for label, count in labels.items())
        add(name, "counter", "Labels given.", given)
        one("bayesift_texts_total", "counter", "Texts classified.", self.texts)
        one("bayesift_characters_total", "counter", "Characters of these texts.", self.characters)
        name = "bayesift_request_seconds"
        about = "Time from the head of a request for labels to the end of the answer."
        add(name, "histogram", about, self.seconds.lines(name))
        name = "bayesift_batch_texts"
        add(name, "histogram", "Texts scored together.", self.batches.lines(name))
        one("bayesift_requests_under_way", "gauge", "Requests being answered.", self.under_way)
        one("bayesift_waiting_characters", "gauge", "Characters of texts that are waiting or being scored.", waiting)
        one("process_cpu_seconds_total", "counter", "Processor time of the process.", time.process_time())
        one("process_start_time_seconds", "gauge", "When the process began, in seconds since 1970.", self._begun)
        return "\n".join(lines) + "\n"


class Measured:
    """Counts requests and measures how long they take.

    Parameters
    ----------
    app : ASGI application
        Answers the requests.
    metrics : Metrics
        Where to count them.
    paths : collection of str
        Paths that are counted by name; all others count as one, so that nobody can fill the memory with names.
    timed : str
        The path whose time is measured.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: Collection[str], timed: str) -> None:
        self._app = app
        self._metrics = metrics
        self._paths = paths
        self._timed = timed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note how it was answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        # An answer that breaks off does not count as one.
        status = 500
        metrics = self._metrics

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        metrics.under_way += 1
        try:
            await self._app(scope, receive, note)
        finally:
            metrics.under_way -= 1
            path = scope["path"] if scope["path"] in self._paths else "other"
            method = scope["method"] if scope["method"] in ("GET", "POST") else "other"
            metrics.requests[method, path, status] += 1
            if path == self._timed:
                metrics.seconds.observe(time.perf_counter() - begun)


def _escaped(value: str) -> str:
    """Escape a value for the format; what cannot be written in UTF-8 becomes a question mark."""
    safe = value.encode("utf-8", "replace").decode()
    return safe.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
