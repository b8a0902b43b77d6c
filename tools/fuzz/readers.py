"""Damaged files of every format that is read, by the thousands: each is read, or refused by an error that names it.

    python -m tools.fuzz.readers --files 20000 --seed 1

A seed and a number always give the same file; ``--only NUMBER`` reads one again and shows what happens. Files are read
in processes of their own, whose memory is limited and which are ended when they take too long.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import lzma
import os
import resource
import sqlite3
import subprocess
import sys
import tarfile
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tools.fuzz.bbr_files import FILES
from tools.fuzz.damage import damaged

Reader = Callable[[Path], Any]

#: Bytes by which a process may grow, and seconds that the reading of so many files may take.
MEMORY = 1 << 30
FILES_OF_A_PROCESS = 500
SECONDS = 300

#: No message is longer than this, however long the lines of a file are.
LONGEST_MESSAGE = 3000


class Case(NamedTuple):
    """A file that is read without complaint, and what reads it; damaged before it is packed, afterwards, or both."""

    name: str
    content: bytes
    readers: tuple[Reader, ...]
    pack: Callable[[bytes], bytes] | None = None


def _table_readers() -> tuple[Reader, ...]:
    from bayesift import datasets
    from bayesift.text import TextVectorizer
    from bayesift.workflow import TextClassifier, classify

    classifier = TextClassifier("lasso", variance="norm", keep_posterior=False)
    classifier.fit(["wheat corn", "ships port", "corn wheat", "port ships"] * 3, ["a", "b"] * 6)

    def texts(path: Path) -> None:
        with datasets.open_texts(path) as stream:
            for block in stream.blocks:
                TextVectorizer("nnn").fit_transform(["wheat", *block.texts])
                list(block.rows)

    def table(path: Path) -> None:
        with datasets.open_table(path) as opened:
            list(opened.rows())

    def classify_to(ending: str) -> Reader:
        return lambda path: classify(classifier, path, path.with_name(f"out.{ending}"), explain=2)

    return (
        datasets.read,
        datasets.read_texts,
        lambda path: list(datasets.iter_records(path, labels=False)),
        lambda path: list(datasets.read_documents(path)),
        texts,
        table,
        classify_to("csv"),
        classify_to("jsonl"),
    )


def _stream_readers() -> tuple[Reader, ...]:
    from bayesift.datasets import stream_objects
    from bayesift.workflow.filter import read_judgements, read_stream, read_topics

    return (
        lambda path: list(stream_objects(path)),
        lambda path: list(read_stream(path, 0)),
        read_judgements,
        read_topics,
    )


def _bbr_readers() -> dict[str, tuple[Reader, ...]]:
    from bayesift import bbr

    models = bbr.read_models, bbr.read_binary_model, bbr.read_polytomous_model, bbr.read_sparse_models
    results = bbr.read_binary_results, bbr.read_dense_results, bbr.read_score_results
    return {
        "model": models,
        "txt": (bbr.read_priors,),
        "train": (bbr.read_data, bbr.read_symbolic_data),
        "results": results,
        "labels": (bbr.read_labels,),
    }


def _tables() -> Iterator[Case]:
    import polars

    readers = _table_readers()
    rows = [(f'text {n}, wheat and "corn" é漢\n{"ships " * n}', f"label{n % 3}", str(n)) for n in range(12)]
    quoted = "".join('"{}",{},{}\r\n'.format(text.replace('"', '""'), *rest) for text, *rest in rows)
    plain = "".join("\t".join(part.replace("\n", " ") for part in row) + "\n" for row in rows)
    objects = [
        {"text": text, "label": label, "id": int(number), "more": [1.5, None, {"a": [True, "x"]}]}
        for text, label, number in rows
    ]
    lines = "".join(json.dumps(row, ensure_ascii=n % 2 == 0) + "\n" for n, row in enumerate(objects))
    western = plain.replace("漢", "ß").replace("\t", ";")
    tables = {
        "a.csv": ("text,label,id\r\n" + quoted).encode(),
        "a.tsv": ("text\tlabel\tid\n" + plain).encode(),
        "a.jsonl": lines.encode(),
        "a.json": json.dumps(objects, ensure_ascii=False, indent=1).encode(),
    }
    others = {
        "western.csv": ("text;label;id\n" + western).encode("cp1252"),
        "utf16.csv": ("text,label,id\r\n" + quoted).encode("utf-16"),
        "columns.json": json.dumps({"text": [text for text, *_ in rows], "label": [row[1] for row in rows]}).encode(),
    }
    for name, content in others.items():
        yield Case(name, content, readers)
    book = _workbook(rows)
    yield Case("a.xlsx", book, readers)
    sheet = "xl/worksheets/sheet1.xml"
    yield Case("sheet.xlsx", zipfile.ZipFile(io.BytesIO(book)).read(sheet), readers, partial(_with_member, book, sheet))
    packers = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    for name, content in tables.items():
        yield Case(name, content, readers)
        for ending, pack in packers.items():
            yield Case(f"{name}.{ending}", content, readers, pack)
    for compression in ("zstd", "snappy", "gzip", "uncompressed"):
        file = io.BytesIO()
        columns = {"text": rows[0][:1] * 12, "label": [label for _, label, _ in rows], "tags": [["x", "y"]] * 12}
        polars.DataFrame(columns | {"day": [n / 2 for n in range(12)]}).write_parquet(file, compression=compression)
        yield Case("a.parquet", file.getvalue(), readers)
    stream = [
        {"text": "wheat", "title": "a", "topics": ["t"], "id": n, "topic": "t", "relevant": True} for n in range(9)
    ]
    names = [{"name": f"topic {n}", "statement": "wheat and corn", **row} for n, row in enumerate(stream)]
    yield Case("s.jsonl", "".join(json.dumps(row) + "\n" for row in names).encode(), _stream_readers())


def _other_files() -> Iterator[Case]:
    from bayesift import datasets
    from bayesift.datasets._files import members_of
    from bayesift.review.importing import read_labels
    from bayesift.review.storage import Document
    from bayesift.workflow.filter import read_topics
    from bayesift.workflow.prior_knowledge import read_prior_knowledge

    documents = [Document(str(n), f"Title {n}", "text", {"doi": f"10/{n}"}, n) for n in range(5)]
    ris = "".join(
        f"TY  - JOUR\nTI  - Tin {n}\nAB  - On tin\nand lead.\nPY  - 1987\nKW  - a\nKW  - b\nER  - \n" for n in range(5)
    )
    yield Case("a.ris", ris.encode(), (lambda path: list(datasets.read_documents(path)),))
    yield Case("a.ris.gz", ris.encode(), (lambda path: list(datasets.read_documents(path)),), gzip.compress)
    yield from _literature()
    vectors = "# words\n" + "".join(f"{n % 2},3 qid:{n} 1:{n / 3} 4:1e-3 {9 + n}:2 # end\n" for n in range(9))
    yield Case("a.svm", vectors.encode(), (datasets.read,))
    yield Case("a.svm.bz2", vectors.encode(), (datasets.read,), bz2.compress)
    labels = "id,title,doi,included\n" + "".join(f"{n},Title {n},10/{n},{n % 2}\n" for n in range(5))
    yield Case("labels.csv", labels.encode(), (lambda path: read_labels(path, documents),))
    noted = ris.replace("ER  - ", "N1  - Bayesift decision: relevant\nER  - ")
    yield Case("labels.ris", noted.encode(), (lambda path: read_labels(path, documents),))
    topics = '[topics]\nwheat = "wheat and corn"\nships = "ships, ports"\n'
    yield Case("topics.toml", topics.encode(), (read_topics,))
    knowledge = 'wheat = "crops"\n[ships]\ndescription = "ports"\nkeywords = {ship = 1.5}\nrelative = 2\n'
    yield Case("knowledge.toml", knowledge.encode(), (read_prior_knowledge,))
    for name, archive in _archives():
        yield Case(name, archive, (lambda path: list(members_of(path, path.name)),))
    for name, place, content in _collections():
        yield Case(place, content.encode(), (_loader(name, place),))


def _literature() -> Iterator[Case]:
    """Return files of other databases and managers of literature."""
    from bayesift.datasets import read_documents

    readers = (lambda path: list(read_documents(path)),)
    pubmed = (
        "PMID- {0}\nDP  - 1987 Mai\nTI  - Tin {0}\nAB  - On tin\n      and lead.\nFAU - Doe, J.\nLID - 10/{0} [doi]\n\n"
    )
    bibtex = '@article{{k{0},\n title = {{On {{T}}in \\\'{{e}}}},\n author = "A and B",\n journal = tin # { {0} }\n}}\n'
    bibtex = "".join(bibtex.replace("{ {0} }", "{0}").format(n) for n in range(5))
    record = (
        "<record><rec-number>{0}</rec-number><titles><title><style>Tin &amp; {0}</style></title></titles>"
        '<ref-type name="Book">6</ref-type><abstract>On tin\nand é.</abstract></record>\n'
    )
    records = "".join(record.format(n) for n in range(5))
    yield Case("a.nbib", "".join(pubmed.format(n) for n in range(5)).encode(), readers)
    yield Case("a.bib", f'@string{{tin = "Journal of Tin"}}\n{bibtex}'.encode(), readers)
    yield Case("a.xml", f'<?xml version="1.0"?><xml><records>{records}</records></xml>'.encode(), readers)
    members = {
        "project.json": b"{}",
        "data_store.db": _database("record"),
        "reviews/a/results.db": _database("results"),
    }
    for name, content in members.items():
        yield Case("a.asreview", content, readers, partial(_with_member, _zipped(members), name))
    yield Case("a.asreview", _zipped(members), readers)


def _database(table: str) -> bytes:
    """Return a database of SQLite as a project of ASReview has it, with five rows."""
    columns = {"record": "record_id, title, abstract, keywords", "results": "record_id, label, note"}[table]
    rows = {"record": (1, "Tin", "On tin.", '["a", "b"]'), "results": (1, 1, "a note")}[table]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE {table} ({columns})")
        marks = ", ".join("?" * len(rows))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", [(n, *rows[1:]) for n in range(5)])
        connection.commit()
        return connection.serialize()


def _zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def _workbook(rows: list[tuple[str, str, str]]) -> bytes:
    import openpyxl

    file, book = io.BytesIO(), openpyxl.Workbook()
    for row in [("text", "label", "id"), *rows]:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def _with_member(archive: bytes, name: str, content: bytes) -> bytes:
    """Return a ZIP archive with another content of a member."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as before, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as after:
        for member in before.namelist():
            after.writestr(member, content if member == name else before.read(member))
    return file.getvalue()


def _archives() -> Iterator[tuple[str, bytes]]:
    for mode in ("", "gz", "bz2", "xz"):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode=f"w:{mode}") as archive:
            for n in range(4):
                member = tarfile.TarInfo(f"folder/{n}.txt")
                member.size = 200
                archive.addfile(member, io.BytesIO(b"wheat " * 40))
        yield f"a.tar.{mode}".removesuffix("."), file.getvalue()
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as packed:
            for n in range(4):
                packed.writestr(f"folder/{n}.txt", "wheat and corn " * 20)
        yield "a.zip", file.getvalue()


def _collections() -> Iterator[tuple[str, str, str]]:
    """Return name, place in the data root and content of small collections."""
    yield "sms", "sms-spam/SMSSpamCollection", "".join(f"{('ham', 'spam')[n % 2]}\tcall me {n}\n" for n in range(9))
    record = ".I {0}\n.U\n8700001{0}\n.T\nAn ailment.\n.W\nNothing can be said.\n.A\nDoe J.\n"
    yield "trec9", "ohsumed/trec9-filtering/ohsumed.87", "".join(record.format(n) for n in range(1, 5))


def _loader(name: str, place: str) -> Reader:
    from bayesift.datasets import load

    def loading(path: Path) -> None:
        root = path.parents[len(Path(place).parts) - 1]
        options = {}
        if name == "trec9":
            folder = path.parent
            topic = "<top>\n<num> Number: OHSU1\n<title> a man\n<desc> Description:\nwhat ails\nhim\n</top>\n"
            (folder / "query.ohsu.1-63").write_text(topic)
            for years, document in (("batch.87", "87000011"), ("88-91", "88000011")):
                (folder / f"qrels.ohsu.{years}").write_text(f"OHSU1\t{document}\t1\n")
            (folder / "ohsumed.88-91").write_text(".I 9\n.U\n88000011\n.T\nAils.\n")
            options = {"documents": True}
        load(name, root, verify=False, **options)

    return loading


def _bbr_files() -> Iterator[Case]:
    readers = _bbr_readers()
    for name, content in FILES.items():
        yield Case(name, content, readers[name.rpartition(".")[2]])


def cases() -> list[Case]:
    """Return the files to damage."""
    return [*_tables(), *_other_files(), *_bbr_files()]


def file_of(case: Case, seed: int, number: int) -> bytes:
    """Return the damaged file with a number."""
    random = Random(f"{seed} {number}")
    if case.pack is None:
        return damaged(case.content, random)
    inside, outside = random.choice(((True, False), (False, True), (True, True)))
    packed = case.pack(damaged(case.content, random) if inside else case.content)
    return damaged(packed, random) if outside else packed


def attempt(case: Case, content: bytes, folder: Path) -> Iterator[tuple[str, str]]:
    """Read a file by every reader; yields how it went, and, where that is wrong, what happened."""
    path = folder / case.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    for reader in case.readers:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reader(path)
        except (ValueError, OSError) as error:
            problem = _wrong_message(str(error), path)
            yield ("failed", f"{problem}: {type(error).__name__}: {str(error)[:200]}") if problem else ("refused", "")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            place = traceback.extract_tb(error.__traceback__)[-1]
            yield "failed", f"{type(error).__name__}: {str(error)[:200]} ({Path(place.filename).name}:{place.lineno})"
        else:
            yield "read", ""


def _wrong_message(message: str, path: Path) -> str:
    """Say what is wrong with a message: it must name the file and be of a length that can be read."""
    if path.name.partition(".")[0] not in message and "the file" not in message:
        return "names no file"
    return "a very long message" if len(message) > LONGEST_MESSAGE else ""


def work(seed: int, first: int, limit: int) -> None:
    """Read the files from a number up to another and tell of each, as JSON."""
    known = cases()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    with TemporaryDirectory() as folder:
        os.environ["BAYESIFT_CACHE"] = str(Path(folder) / "cache")
        for number in range(first, limit):
            print(json.dumps({"number": number}), flush=True)
            case = known[number % len(known)]
            found = list(attempt(case, file_of(case, seed, number), Path(folder)))
            print(json.dumps({"number": number, "case": case.name, "found": found}), flush=True)


class Results:
    """How the files went."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Counter[str]] = {}
        self.failures: list[tuple[int, str, str]] = []

    def add(self, number: int, case: str, found: list[tuple[str, str]]) -> None:
        """Take note of one file."""
        for outcome, failure in found:
            self.outcomes.setdefault(case, Counter())[outcome] += 1
            if failure:
                self.failures.append((number, case, failure))

    def table(self) -> str:
        """Return the numbers as a table in Markdown."""
        columns = ["read", "refused", "failed", "crashed", "hung"]
        lines = ["| file | readings | " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(columns) + 1)]
        total = sum(self.outcomes.values(), Counter())
        for name, found in [*sorted(self.outcomes.items()), ("all", total)]:
            lines.append(
                f"| {name} | {sum(found.values())} | " + " | ".join(str(found[each]) for each in columns) + " |"
            )
        return "\n".join(lines)


def run(seed: int, first: int, limit: int, tell: Callable[[str], None] = print) -> Results:
    """Read all files from a number up to another, some hundred in each process."""
    results, names = Results(), [case.name for case in cases()]
    while first < limit:
        last = min(first + FILES_OF_A_PROCESS, limit)
        outcome, output = _watched(seed, first, last)
        reached = first
        for line in output.splitlines():
            told = json.loads(line)
            reached = told["number"]
            if "found" in told:
                results.add(reached, told["case"], told["found"])
        if outcome:
            results.add(reached, names[reached % len(names)], [(outcome, outcome)])
        first = reached + 1
        tell(f"{first} files, {len(results.failures)} failures")
    return results


def _watched(seed: int, first: int, last: int) -> tuple[str, str]:
    """Run a process; returns what became of it, if it did not end well, and what it told."""
    command = [sys.executable, "-m", "tools.fuzz.readers", "--work", str(seed), str(first), str(last)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        told = error.stdout or b""
        return "hung", told.decode() if isinstance(told, bytes) else told
    return "crashed" if done.returncode else "", done.stdout


def _repeat(seed: int, number: int) -> int:
    known = cases()
    case = known[number % len(known)]
    content = file_of(case, seed, number)
    print(case.name, content[:2000])
    with TemporaryDirectory() as folder:
        os.environ["BAYESIFT_CACHE"] = str(Path(folder) / "cache")
        found = list(attempt(case, content, Path(folder)))
    print(*found, sep="\n")
    return any(failure for _, failure in found)


def main() -> int:
    """Run as a worker, as the one who watches, or for one file."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz.readers", description="Read damaged files.")
    parser.add_argument("--files", type=int, default=1000, metavar="N", help="how many")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="number of the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="repeat one file and show what happens")
    parser.add_argument("--work", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        work(*options.work)
        return 0
    if options.only is not None:
        return _repeat(options.seed, options.only)
    results = run(options.seed, options.first, options.first + options.files)
    print(results.table())
    for failure, count in Counter(failure[:150] for _, _, failure in results.failures).most_common():
        examples = [number for number, _, other in results.failures if other[:150] == failure][:3]
        print(f"{count} × {failure} (--only {examples})")
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
