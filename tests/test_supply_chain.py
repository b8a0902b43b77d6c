"""What the package depends on, and what its source may not contain."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tools.audit import problems
from tools.lock import locked

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ADVISORIES = tomllib.loads((ROOT / "tools" / "advisories.toml").read_text())
TESTED = (ROOT / "constraints.txt").read_text()


def project(*dependencies, **groups):
    return {"project": {"dependencies": list(dependencies)}, "dependency-groups": groups}


def test_no_version_with_a_known_vulnerability_is_allowed_or_tested():
    assert list(problems(PROJECT, TESTED, ADVISORIES)) == []


@pytest.mark.parametrize(
    ("given", "tested", "said"),
    [
        (project("Jinja2>=3.1.5"), "", "dependencies: Jinja2>=3.1.5 allows versions with CVE-2024-22195"),
        (project("numpy"), "", "dependencies: numpy has no oldest version"),
        (project("fasttext-wheel>=0.9"), "", "dependencies: fasttext-wheel is no longer kept"),
        (project(), "urllib3==2.6.3\n", "constraints.txt: urllib3==2.6.3 has .*expected at least 2.7.0"),
        (project(bench=["python_multipart>=0.0.9"]), "", "bench: python_multipart>=0.0.9 allows versions with"),
    ],
)
def test_a_version_with_a_known_vulnerability_is_named(given, tested, said):
    [problem] = problems(given, tested, ADVISORIES)
    assert re.match(said, problem)


def test_the_comparison_may_use_what_is_no_longer_kept():
    assert list(problems(project(peers=["fasttext-wheel>=0.9"]), "", ADVISORIES)) == []


def test_a_locked_list_has_a_hash_for_each_file_and_no_address():
    def item(name, **info):
        return {"metadata": {"name": name, "version": "1.0"}, "download_info": {"url": f"https://a/{name}", **info}}

    files = [item(name, archive_info={"hashes": {"sha256": "ab" * 32}}) for name in ("b", "A")]
    lines = locked({"install": [item("bayesift", dir_info={}), *files]})
    assert lines == [f"{name}==1.0 --hash=sha256:{'ab' * 32}" for name in ("A", "b")]
    with pytest.raises(ValueError, match=r"c 1\.0 has no SHA-256"):
        locked({"install": [item("c", archive_info={})]})


def sources(*endings):
    return [path for path in (ROOT / "src").rglob("*") if path.suffix in endings]


def test_no_source_sends_or_fetches_anything_over_plain_http():
    # A page served on this machine, the names of XML, and the home pages that a person may visit.
    allowed = re.compile(r"http://(\[?\{host|127\.0\.0\.1|localhost|www\.w3\.org/)|^homepage = ")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sources(".py", ".toml", ".html", ".js", ".css")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if "http://" in line and not allowed.search(line)
    ]
    assert found == []


def test_no_source_reads_pickles_or_runs_code_it_is_given():
    risky = re.compile(
        r"\b(import (pickle|marshal|shelve|dill|cloudpickle)\b|from (pickle|marshal|shelve|dill|cloudpickle) import"
        r"|joblib\.(load|dump)\b|allow_pickle=True|(?<![.\w])(eval|exec)\(|os\.system\(|shell=True|verify=False\))"
    )
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sources(".py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if risky.search(line)
    ]
    assert found == []
