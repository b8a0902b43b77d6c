"""Read an earlier review, whose decisions a new one learns from: a project, or a file with decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from bayesift.review.decisions import Decisions
from bayesift.review.engine import Corpus, Earlier
from bayesift.review.importing import Columns, import_documents, is_literature
from bayesift.review.marks import marks
from bayesift.review.storage import Document, EarlierRecord, Project, ProjectError, Topic, back_up, reading_text

#: How a SQLite file begins, such as a project file.
_SQLITE = b"SQLite format 3\0"


def read_earlier(
    path: Path,
    columns: Columns = Columns(),  # noqa: B008
    encoding: str | None = None,
    topic: str | None = None,
    tell: Callable[[str], None] = lambda note: None,
) -> list[EarlierRecord]:
    """Read the records that an earlier review judged relevant or irrelevant; others are left out.

    Parameters
    ----------
    path : Path
        A project of this program, or any file that :func:`bayesift.datasets.read_documents` knows with a decision for
        each record: in a column, or in the notes, as :mod:`bayesift.review.marks` says.
    columns : Columns
        Which columns hold what, if their names are not the usual ones.
    encoding : str, optional
        Encoding of the file; detected by default.
    topic : str, optional
        Which topic of a project; required if it has several.
    tell : callable, optional
        Called with each sentence about what was detected, such as the encoding.

    Returns
    -------
    list of EarlierRecord
        Each record once, even if the file repeats it; at least one is relevant.
    """
    if path.is_file() and is_project(path):
        decided = _of_project(path, topic)
    elif topic is not None:
        raise ValueError(f"topic is {topic!r}, but {path.name} is not a project; expected no topic, or a project")
    else:
        decided = _of_documents(list(import_documents(path, columns, encoding, tell)), path)
    found: dict[tuple[str, str], bool] = {}
    for title, text, relevant in decided:
        if title.strip() or text.strip():
            found[title, text] = relevant
    if not any(found.values()):
        raise ValueError(f"{path.name} has no record that was decided relevant; expected at least one")
    return [EarlierRecord(title, text, relevant) for (title, text), relevant in found.items()]


def read_all_earlier(
    paths: Sequence[Path], topic: str | None = None, tell: Callable[[str], None] = lambda note: None
) -> list[tuple[str, list[EarlierRecord]]]:
    """Read several earlier reviews, each with the name of its file; parameters as in :func:`read_earlier`."""
    if topic is not None and not paths:
        raise ValueError(f"earlier_topic is {topic!r}, but there is no earlier review; expected both or neither")
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"there is no earlier review at {path}; expected a file with decisions")
    return [(path.name, read_earlier(path, topic=topic, tell=tell)) for path in paths]


def examples_of_files(corpus: Corpus, paths: Sequence[Path], topic: str | None = None) -> Earlier | None:
    """Return the records of earlier reviews as rows of a corpus; None if there are none."""
    return rows_of([record for _, some in read_all_earlier(paths, topic) for record in some], corpus)


def rows_of(records: Sequence[EarlierRecord], corpus: Corpus) -> Earlier | None:
    """Return records as rows of a corpus, to learn from; None if there are none."""
    if not records:
        return None
    texts = [reading_text(record.title, record.text) for record in records]
    return Earlier.of(corpus, texts, [record.relevant for record in records])


def is_project(path: Path) -> bool:
    """Tell whether a file is a database, as projects are, whatever its name."""
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _of_project(path: Path, name: str | None) -> list[EarlierRecord]:
    """Return what was decided by title and abstract in a project, which is not changed and may be in use."""
    with TemporaryDirectory() as folder:
        # A project of an older version is migrated when it is opened, so a copy is opened, not the project itself.
        copy = Path(folder) / "earlier.review.sqlite"
        back_up(path, copy)
        with closing(Project.open(copy)) as project:
            topic = _chosen(project.topics.all(), name, path.name)
            same = {place: each.original for place, each in project.duplicates.all().items()}
            events = (event for event in project.history.since(topic.id) if event.stage == "abstract")
            statuses = Decisions(events, same, double=topic.double).statuses()
            return [
                EarlierRecord(document.title, document.text, statuses[document.place] == "relevant")
                for document in project.documents
                if statuses.get(document.place) in ("relevant", "irrelevant")
            ]


def _chosen(topics: list[Topic], name: str | None, source: str) -> Topic:
    known = ", ".join(repr(topic.name) for topic in topics) or "none"
    if name is None and len(topics) == 1:
        return topics[0]
    found = next((topic for topic in topics if topic.name == name), None)
    if found is None:
        given = "no topic is named" if name is None else f"there is no topic {name!r}"
        raise ProjectError(f"{given} of the earlier review {source}; expected one of its topics, which are: {known}")
    return found


def _of_documents(documents: list[Document], path: Path) -> list[EarlierRecord]:
    given = marks(
        [document.extra for document in documents],
        path.name,
        lambda place: f"record {documents[place].key[:40]}",
        notes_first=is_literature(path),
    )
    return [
        EarlierRecord(document.title, document.text, mark.decision == "relevant")
        for document, mark in zip(documents, given, strict=True)
        if mark.decision in ("relevant", "irrelevant")
    ]
