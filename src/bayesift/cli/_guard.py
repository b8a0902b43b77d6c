"""Checks of the files of every command: each output can be written, and is neither an input nor another output."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from typer.models import OptionInfo, ParameterInfo

from bayesift._files import is_written_through
from bayesift._same_files import DASH, check_distinct
from bayesift.cli._shell import UserError, say, shown


@dataclass(frozen=True)
class Written:
    """Marks a parameter as a file that the command writes; all other paths are files that it reads.

    Parameters
    ----------
    in_place_of : str
        An input that may be the same file, which is then replaced when all is done.
    or_dash : bool
        Whether ``-`` is standard output.
    is_folder : bool
        Whether it is a folder; the command checks the files in it itself.
    or_folder : bool
        Whether it may be a folder; the command checks the files in it itself.
    """

    in_place_of: str = ""
    or_dash: bool = False
    is_folder: bool = False
    or_folder: bool = False


class Labelled:
    """Marks a parameter as labelled texts: if it is a folder, only its subfolders are read, one for each label."""


@dataclass(frozen=True)
class FileParameter:
    """A parameter that is a path: its spelling on the command line, how it is written (if it is), how it is read."""

    spelled: str
    written: Written | None
    is_labelled: bool


def file_parameters(command: Callable[..., Any]) -> dict[str, FileParameter]:
    """List the parameters of a command that are paths, by their names."""
    found = {}
    for name, parameter in signature(command, eval_str=True).parameters.items():
        kind = parameter.annotation
        if get_origin(kind) is not Annotated:
            continue
        base, *marks = get_args(kind)
        if base is Path or Path in get_args(base) or list[Path] in get_args(base):
            written = next((mark for mark in marks if isinstance(mark, Written)), None)
            found[name] = FileParameter(_spelled(name, marks), written, Labelled in marks)
    return found


def _spelled(name: str, marks: list[Any]) -> str:
    """Return how a parameter is spelled in the help of its command."""
    info = next(mark for mark in marks if isinstance(mark, ParameterInfo))
    if not isinstance(info, OptionInfo):
        return (info.metavar or name.upper()).strip("[]")
    return next((text for text in option_names(info) if text.startswith("--")), f"--{name.replace('_', '-')}")


def option_names(info: OptionInfo) -> list[str]:
    """Return the names of an option; the first is in the place that holds the default if there is no Annotated."""
    first = [info.default] if isinstance(info.default, str) else []
    return [*first, *(info.param_decls or ())]


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command begin only if its outputs can be written without harm to its inputs or to each other."""
    files = file_parameters(command)

    @wraps(command)
    def run(**given: Any) -> None:
        for folder in _check(files, given):
            say(
                f"There is no folder {shown(folder)} yet; it will be made.",
                bool(given.get("quiet") or given.get("as_json")),
            )
        command(**given)

    return run


def check_picture(path: Path) -> None:
    """Refuse a file whose name does not end like that of a picture."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UserError(
            f"{path} ends in {path.suffix!r}; expected the ending of a picture", "plots are .png, .svg or .pdf files"
        )


def _check(files: Mapping[str, FileParameter], given: Mapping[str, Any]) -> list[Path]:
    """Check what a command reads and writes; return the folders that are made for it, since it writes into them."""
    reads: dict[str, Path | None] = {}
    writes: dict[str, Path | None] = {}
    in_place: dict[str, str] = {}
    missing: dict[Path, None] = {}
    for name, file in files.items():
        if file.written is None and isinstance(given[name], list):
            several = given[name]
            one = len(several) == 1
            reads |= {file.spelled if one else f"{file.spelled} {path}": path for path in several}
        elif file.written is None:
            reads[file.spelled] = given[name]
        elif not file.written.is_folder and given[name] is not None:
            writes[file.spelled] = given[name]
            if not _check_output(file.spelled, given[name], file.written):
                missing[given[name].parent] = None
            if file.written.in_place_of:
                in_place[file.spelled] = files[file.written.in_place_of].spelled
    if Path(DASH) not in writes.values():
        writes["standard output"] = Path(DASH)
    check_distinct(reads, writes, in_place, {file.spelled for file in files.values() if file.is_labelled})
    return [*missing]


def _check_output(spelled: str, path: Path, written: Written) -> bool:
    """Refuse a file that cannot be written, before any work is done; tell whether there is a folder for it."""
    if str(path) == DASH:
        if not written.or_dash:
            raise UserError(f"{spelled} is '-'; expected the name of a file", "for standard output, give /dev/stdout")
        return True
    if path.is_dir():
        if written.or_folder:
            return True
        raise UserError(f"{path} is a folder; expected a file", "name a file to write, such as -o news.bayesift")
    if is_written_through(path):
        return True
    final = Path(os.path.realpath(path))
    parent = next(folder for folder in final.parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise UserError(f"{path} cannot be written: {parent} is not a folder that you may write to")
    return parent == final.parent
