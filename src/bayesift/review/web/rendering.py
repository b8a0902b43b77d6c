"""From templates to pages; everything that comes from outside is escaped by the templates."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from bayesift.review.web.sessions import Session, service_of
from bayesift.review.web.svg import interval_bar

_environment = Environment(
    loader=PackageLoader("bayesift.review.web", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def percent(share: float) -> str:
    r"""Write a probability: whole per cent, but never 0 or 100 where it is neither.

    Examples
    --------
    >>> from bayesift.review.web.rendering import percent
    >>> [percent(share).replace("\N{NO-BREAK SPACE}", " ") for share in (0.731, 0.0004, 0.9999)]
    ['73 %', '< 1 %', '> 99 %']
    """
    if 0 < share < 0.005:
        return "< 1\u00a0%"
    if 0.995 < share < 1:
        return "> 99\u00a0%"
    return f"{100 * share:.0f}\u00a0%"


def thousands(number: int) -> str:
    """Write a number with thin spaces, which no language reads as a point or a comma."""
    return f"{number:,}".replace(",", "\u202f")


_environment.filters.update(percent=percent, thousands=thousands)
_environment.globals.update(interval_bar=interval_bar)


def fragment(name: str, /, **context: Any) -> str:
    """Render a part of a page."""
    return _environment.get_template(name).render(context)


def page(request: Request, name: str, session: Session | None, /, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Render a whole page."""
    shared = {"session": session, "project": service_of(request).project, "here": request.url.path}
    return HTMLResponse(fragment(name, **shared, **context), status)
