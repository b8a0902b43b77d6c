"""The scripts and the style sheet: read once, so that no path of a request ever reaches the disk."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

_FILES = {
    file.name: (file.read_bytes(), _TYPES[file.name[file.name.rindex(".") :]])
    for file in files("bayesift.review.web").joinpath("static").iterdir()
}

router = APIRouter()


@router.get("/static/{name}", response_class=Response)
def static_file(name: str) -> Response:
    """Return a file of the page."""
    if name not in _FILES:
        raise HTTPException(404, "There is no such file.")
    content, kind = _FILES[name]
    return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})
