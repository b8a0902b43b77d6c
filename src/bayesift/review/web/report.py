"""The report of a review: the PRISMA flow diagram, when it was stopped and why, and the protocol as one file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from markupsafe import Markup
from pydantic import BaseModel

from bayesift._version import __version__
from bayesift.review.prisma import Flow, diagram, flow
from bayesift.review.service import Service
from bayesift.review.storage import EarlierReview, Event
from bayesift.review.topic_review import STAGES, TopicReview
from bayesift.review.web.access import (
    CurrentService,
    CurrentSession,
    CurrentTopic,
    LongText,
    Session,
    guarded_router,
)
from bayesift.review.web.exchange import attachment, check_may_export, gathered
from bayesift.review.web.rendering import fragment, page
from bayesift.review.web.slow import slow

router = guarded_router()


class Stopping(BaseModel):
    """Whether to stop or to go on, and why."""

    action: Literal["stop", "go on"]
    note: LongText = ""


def _flow(service: Service, review: TopicReview) -> Flow:
    full = review.decisions("full text") if review.topic.full_text else None
    return flow(service.n_documents, review.decisions(), full)


def _diagram(service: Service, review: TopicReview) -> str:
    stops = service.project.stops.all(review.topic.id)
    return diagram(
        _flow(service, review),
        full_text=review.topic.full_text,
        stopped=bool(stops) and stops[-1].stopped,
        earlier=sum(each.relevant for each in _earlier(service, review)),
    )


def _earlier(service: Service, review: TopicReview) -> list[EarlierReview]:
    return [each for each in service.project.earlier.all() if each.id in review.topic.earlier]


def _context(service: Service, review: TopicReview) -> dict[str, Any]:
    stops = service.project.stops.all(review.topic.id)
    return {
        "topic": review.topic,
        # Everything in it that comes from outside is escaped where it is drawn.
        "diagram": Markup(_diagram(service, review)),  # noqa: S704
        "stops": stops,
        "stopped": bool(stops) and stops[-1].stopped,
        "names": service.project.reviewers.names(),
        "earlier": _earlier(service, review),
    }


@router.get("/topics/{topic}/report", response_class=HTMLResponse)
@slow
def report_page(
    request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic
) -> HTMLResponse:
    """Show the flow of records and when the review was stopped."""
    return page(request, "report.html", session, **_context(service, review))


@router.get("/topics/{topic}/prisma.svg", response_class=Response)
@slow
def prisma_diagram(
    request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic
) -> Response:
    """Return the flow diagram as a file."""
    drawn = _diagram(service, review)
    return Response(drawn, media_type="image/svg+xml", headers=attachment(review, "prisma.svg"))


@router.post("/topics/{topic}/stop", response_class=HTMLResponse)
def stop(
    service: CurrentService, session: CurrentSession, review: CurrentTopic, form: Annotated[Stopping, Form()]
) -> RedirectResponse:
    """Note that the review is stopped, or goes on, with what the page says about it at this moment."""
    topic = review.topic
    found = review.queue(session.reviewer.id).stopping(topic)
    numbers = {name: value for name, value in found._asdict().items() if isinstance(value, int | float | str)}
    for said in found.statements:
        verdict = "allows stopping" if said.allows else "does not allow it" if said.holds else "withdrawn"
        numbers[f"statement {said.letter}"] = f"{verdict}; at most {said.bound.left} left; assumes {said.assumes}"
    service.project.stops.add(
        topic.id,
        session.reviewer.id,
        stopped=form.action == "stop",
        statement=found.sentence,
        numbers=numbers,
        note=form.note.strip(),
    )
    return RedirectResponse(f"/topics/{topic.id}/report", 303)


@router.get("/topics/{topic}/protocol", response_class=Response)
@slow
def protocol(request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic) -> Response:
    """Return the dated protocol as one file: settings, numbers, when it was stopped, and every decision."""
    check_may_export(review, session)
    service.project.audit.note("exported", session.actor, f"{review.topic.name}: protocol")
    parts = gathered(_protocol(service, review, session))
    return StreamingResponse(parts, media_type="text/html; charset=utf-8", headers=attachment(review, "protocol.html"))


def _protocol(service: Service, review: TopicReview, session: Session) -> Iterator[str]:
    context = _context(service, review)
    yield fragment(
        "protocol.html", project=service.project, version=__version__, n_documents=service.n_documents,
        people=service.project.reviewers.all(), by=session.reviewer.name, **context,
    )  # fmt: skip
    events = sorted((event for stage in STAGES for event in review.decisions(stage).events), key=_number)
    for begin in range(0, len(events), 500):
        some = events[begin : begin + 500]
        titles = service.project.documents.titles([event.document for event in some])
        yield fragment("_protocol_rows.html", events=some, titles=titles, names=context["names"])
    yield "</tbody></table></body></html>\n"


def _number(event: Event) -> int:
    return event.id
