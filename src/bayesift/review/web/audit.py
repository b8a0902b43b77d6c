"""The audit log, for the owner to read."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse

from bayesift.review.web.access import CurrentService, CurrentSession, guarded_router
from bayesift.review.web.rendering import page

router = guarded_router()

_ON_A_PAGE = 100


@router.get("/audit", response_class=HTMLResponse)
def audit_page(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> HTMLResponse:
    """List what was done, the latest first."""
    entries = service.project.audit.latest(_ON_A_PAGE + 1, before)
    return page(
        request,
        "audit.html",
        session,
        entries=entries[:_ON_A_PAGE],
        names=service.project.reviewers.names(),
        older=entries[_ON_A_PAGE - 1].id if len(entries) > _ON_A_PAGE else None,
        latest=before is None,
    )
