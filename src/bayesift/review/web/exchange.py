"""Export the result, and import decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from fastapi import File, Form, HTTPException, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from bayesift.review.exporting import WRITERS, rows
from bayesift.review.importing import ENDINGS, read_labels
from bayesift.review.literature import WRITERS as LITERATURE
from bayesift.review.literature import asreview_project
from bayesift.review.storage import Event
from bayesift.review.topic_review import TopicReview
from bayesift.review.web.access import CurrentService, CurrentSession, CurrentTopic, Session, guarded_router
from bayesift.review.web.language import said
from bayesift.review.web.rendering import page, thousands
from bayesift.review.web.slow import slow
from bayesift.review.web.uploads import kept

router = guarded_router()

_PART = 100_000


@router.get("/topics/{topic}/data", response_class=HTMLResponse)
def data_page(request: Request, session: CurrentSession, review: CurrentTopic) -> HTMLResponse:
    """Offer files to download, and ask for one with decisions."""
    return _data_page(request, session, review)


def _data_page(
    request: Request, session: Session, review: TopicReview, *, told: str = "", problem: str = ""
) -> HTMLResponse:
    return page(
        request,
        "data.html",
        session,
        topic=review.topic,
        told=told,
        problem=problem,
        endings=",".join(ENDINGS),
        status=422 if problem else 200,
    )


@router.get("/topics/{topic}/export", response_class=Response)
@slow
def export(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    review: CurrentTopic,
    format: Literal["csv", "jsonl", "ris", "bib", "nbib", "xml", "asreview"] = "csv",
    decided_only: Annotated[bool, Query()] = False,
    unchanged: Annotated[bool, Query()] = False,
) -> Response:
    """Return all documents, or the decided ones, with probabilities and decisions.

    In CSV, texts that a spreadsheet would take for formulas are escaped, unless they are wanted unchanged.
    """
    check_may_export(review, session)
    names = service.project.reviewers.names()
    probabilities = review.queue(session.queue).probabilities()
    remarks = service.project.remarks.all(review.topic.id)
    found = rows(
        service.project.documents, probabilities, review.decisions(), names, remarks, decided_only=decided_only
    )
    which = "decided documents" if decided_only else "all documents"
    service.project.audit.note("exported", session.actor, f"{review.topic.name}: {which} as {format}")
    if format == "asreview":
        archive = asreview_project(found, review.topic.name)
        return Response(archive, media_type="application/zip", headers=attachment(review, format))
    writer, kind = (WRITERS | LITERATURE)[format]
    options = {"unchanged": unchanged} if format == "csv" else {}
    content = writer(found, service.project.documents.extra_names(), **options)
    return StreamingResponse(gathered(content), media_type=kind, headers=attachment(review, format))


@router.get("/topics/{topic}/model", response_class=Response)
@slow
def export_model(request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic) -> Response:
    """Return the trained model as a model file."""
    from bayesift.formats import save

    service.project.audit.note("exported", session.actor, f"{review.topic.name}: model")
    review.refresh()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.bayesift"
        save(review.queue(session.queue).model(), path)
        content = path.read_bytes()
    return Response(content, media_type="application/octet-stream", headers=attachment(review, "bayesift"))


@router.post("/topics/{topic}/labels/import", response_class=HTMLResponse)
@slow
def import_labels(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    review: CurrentTopic,
    file: Annotated[UploadFile, File()],
    all_are: Annotated[Literal["", "relevant", "irrelevant"], Form()] = "",
) -> HTMLResponse:
    """Save the decisions of a file as the reviewer's own."""
    try:
        same = {place: copy.original for place, copy in service.copies.items()}
        with kept(file) as path:
            labels = read_labels(path, service.project.documents, same, all_are or None)
    except ValueError as error:
        return _data_page(request, session, review, problem=said("Nothing was imported: {error}.", error=str(error)))
    reviewer, n = session.reviewer.id, len(labels.decisions)
    service.project.audit.note("decisions imported", session.actor, f"{review.topic.name}: {n}")
    review.add(
        [
            Event(place, reviewer, "import", decision, why="import", reason=labels.reasons.get(place))
            for place, decision in sorted(labels.decisions.items())
        ]
    )
    told = said(
        "Decisions imported: {n}. Without a decision: {undecided}. About other documents: {unmatched}.",
        n=thousands(n),
        undecided=thousands(labels.undecided),
        unmatched=thousands(labels.unmatched),
    )
    return _data_page(request, session, review, told=told)


def check_may_export(review: TopicReview, session: Session) -> None:
    """Refuse a reviewer who must not see yet what others decide."""
    if review.topic.double and session.may_review and not session.may_manage:
        raise HTTPException(403, "Where two read each document unseen, owners and readers export the decisions.")


def gathered(parts: Iterable[str]) -> Iterator[str]:
    """Join small parts: each that is sent costs a change of threads."""
    held: list[str] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size > _PART:
            yield "".join(held)
            held, size = [], 0
    yield "".join(held)


def attachment(review: TopicReview, ending: str) -> dict[str, str]:
    """Name a file after the topic, in letters that no browser and no disk takes for anything else."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", review.topic.name).strip("-")[:60] or "topic"
    return {"Content-Disposition": f'attachment; filename="{name}.{ending}"'}
