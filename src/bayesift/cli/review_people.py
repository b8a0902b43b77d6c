"""Commands about the people in a review: who may do what, who is logged in, and the audit log."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesift.cli._shell import console, shown, table

if TYPE_CHECKING:
    from bayesift.review.storage import Project, Reviewer

ProjectPlace = Annotated[
    str, typer.Argument(metavar="PROJECT", help="The project file, the data next to it, or postgresql://….")
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the reviewer.")]


class RoleName(StrEnum):
    """The roles by name."""

    reader = "reader"
    reviewer = "reviewer"
    owner = "owner"


class LogFormat(StrEnum):
    """Formats of the audit log."""

    csv = "csv"
    jsonl = "jsonl"


def require_review() -> None:
    """Raise an error that says what to install if a package that the review page needs is missing."""
    from bayesift._extras import require

    for module in ("fastapi", "uvicorn", "jinja2", "python_multipart", "sqlalchemy"):
        require(module, extra="review", purpose="the review page")


@contextmanager
def opened_project(where: str) -> Iterator[Project]:
    """Open an existing project; a server may be using it meanwhile."""
    require_review()
    from bayesift.review.serve import project_file, without_password
    from bayesift.review.storage import Project

    place = where if "://" in where else project_file(Path(where))
    if not Project.exists(place):
        expected = "expected one made by 'bayesift review'"
        raise FileNotFoundError(f"there is no project at {without_password(place)}; {expected}")
    with closing(Project.open(place)) as project:
        yield project


def reviewers(project: ProjectPlace) -> None:
    """List the reviewers of a project, with their roles and numbers of open sessions."""
    with opened_project(project) as opened:
        logins = [login.reviewer for login in opened.sessions.all()]
        rows = table("name", "role", ">sessions", "removed")
        for person in opened.reviewers.all():
            rows.add_row(shown(person.name), person.role, str(logins.count(person.id)), person.removed or "")
        console().print(rows)


def token(
    project: ProjectPlace,
    name: Name,
    role: Annotated[RoleName | None, typer.Option(help="What the reviewer may do (default: as before).")] = None,
    public_url: Annotated[
        str | None, typer.Option(help="Address at which reviewers reach the page; turns the token into a link.")
    ] = None,
) -> None:
    """Give a reviewer a new token, which ends the sessions of the old one; add the reviewer if necessary."""
    with opened_project(project) as opened:
        person, made = opened.reviewers.invite(name, None if role is None else role.value)
        said = made if public_url is None else f"{public_url.rstrip('/')}/login#{made}"
        typer.echo(f"{shown(person.name)} ({person.role}): {said}")


def role(project: ProjectPlace, name: Name, role: Annotated[RoleName, typer.Argument(help="The new role.")]) -> None:
    """Change what a reviewer may do."""
    with opened_project(project) as opened:
        opened.reviewers.change_role(_named(opened, name), role.value)
        typer.echo(f"{shown(name)} now has the role {role.value}")


def remove(project: ProjectPlace, name: Name) -> None:
    """Stop a reviewer from logging in; their decisions stay, under their name."""
    with opened_project(project) as opened:
        opened.reviewers.remove(_named(opened, name))
        typer.echo(f"{shown(name)} has been removed; their decisions stay")


def sessions(
    project: ProjectPlace,
    end: Annotated[list[str] | None, typer.Option(help="End the session with this key; may be repeated.")] = None,
    end_all: Annotated[
        bool, typer.Option("--end-all", help="End all sessions, so that everybody must log in again.")
    ] = False,
) -> None:
    """List the open sessions, or end some of them."""
    with opened_project(project) as opened:
        found = opened.sessions.all()
        if end or end_all:
            unknown = set(end or ()) - {login.key for login in found}
            if unknown:
                raise ValueError(f"there is no session {min(unknown)!r}; expected the key of a listed one")
            chosen = [login for login in found if end_all or login.key in (end or ())]
            typer.echo(f"{opened.sessions.end_listed(chosen)} ended")
            return
        names = opened.reviewers.names()
        rows = table("key", "name", "since", "address", "browser")
        for login in found:
            rows.add_row(login.key, shown(names[login.reviewer]), login.since, login.address, shown(login.browser, 40))
        console().print(rows)


def audit(
    project: ProjectPlace,
    format: Annotated[LogFormat, typer.Option(help="Format of the log.")] = LogFormat.csv,
) -> None:
    """Write the audit log to standard output: logins, tokens, roles, settings, imports and exports."""
    with opened_project(project) as opened:
        from bayesift.review.exporting import spreadsheet_safe

        names = opened.reviewers.names()
        rows = csv.writer(sys.stdout, lineterminator="\n")
        fields = "at", "reviewer", "address", "action", "detail"
        if format is LogFormat.csv:
            rows.writerow(fields)
        for entry in opened.audit:
            found = {name: getattr(entry, name) for name in fields}
            found["reviewer"] = None if entry.reviewer is None else names[entry.reviewer]
            if format is LogFormat.csv:
                rows.writerow([spreadsheet_safe(value) for value in found.values()])
            else:
                typer.echo(json.dumps(found, ensure_ascii=False))


def _named(project: Project, name: str) -> Reviewer:
    found = project.reviewers.named(name)
    if found is None or found.removed is not None:
        known = ", ".join(person.name for person in project.reviewers.all() if person.removed is None)
        raise ValueError(f"there is no reviewer {name!r}; the reviewers are {known}")
    return found
