"""What is installed: the wheel, its metadata, and the files that speak of the same version and dependencies."""

from __future__ import annotations

import re
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml

import bayesift

hatchling = pytest.importorskip("hatchling.build")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return zipfile.ZipFile(folder / hatchling.build_wheel(str(folder)))


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = [name for name in wheel.namelist() if ".dist-info/" not in name]
    assert {name.split("/")[0] for name in names} == {"bayesift"}
    assert "bayesift/py.typed" in names
    kinds = {".py", ".typed", ".toml", ".jsonl", ".json", ".md", ".html", ".js", ".css", ".svg"}
    assert {Path(name).suffix for name in names} <= kinds
    assert not [name for name in names if re.search(r"(^|/)(tests?|benchmarks|reproduction|docs)/", name)]
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "bayesift").rglob("*.py")}
    assert sources <= set(names)


def test_a_wheel_that_is_built_again_has_the_same_bytes(wheel, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    again = tmp_path / hatchling.build_wheel(str(tmp_path))
    assert again.read_bytes() == Path(str(wheel.filename)).read_bytes()


def test_the_metadata_tell_what_an_index_shows(wheel):
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = Parser().parsestr(wheel.read(name).decode())
    assert metadata["Version"] == bayesift.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert len(metadata.get_all("Provides-Extra")) == len(PROJECT["optional-dependencies"])
    # What publishes checks this, and long knows no newer form.
    assert metadata["Metadata-Version"] == "2.4"


def test_the_readme_of_an_index_has_no_links_to_files_beside_it(wheel):
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    text = Parser().parsestr(wheel.read(name).decode()).get_payload()
    places = re.findall(r"\]\(([^)]*)\)", text)
    assert len(places) > 40
    assert not [place for place in places if not place.startswith(("https://", "#"))]
    version = bayesift.__version__
    assert f"/raw/v{version}/docs/images/few-labels-20newsgroups.svg" in text
    assert f"/blob/v{version}/docs/tutorial.md" in text


def test_the_recipe_for_conda_has_the_dependencies_and_the_commands_of_the_package():
    recipe = yaml.safe_load(re.sub(r"\$\{\{.*?\}\}", "x", (ROOT / "conda" / "recipe.yaml").read_text()))
    theirs = {line.replace(" ", "").lower() for line in recipe["requirements"]["run"] if not line.startswith("python ")}
    assert theirs == {line.lower() for line in PROJECT["dependencies"]}
    commands = dict(line.split(" = ") for line in recipe["build"]["python"]["entry_points"])
    assert commands == PROJECT["scripts"]


def test_a_release_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    recipe = (ROOT / "conda" / "recipe.yaml").read_text()
    # Both name the last release, which is this version unless it is one to come.
    assert f'version: "{citation["version"]}"' in recipe
    heading = f"## {citation['version']} ({citation['date-released']})"
    headings = re.findall(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if ".dev" in bayesift.__version__:
        assert headings[:2] == ["## Unreleased", heading]
    else:
        assert citation["version"] == bayesift.__version__
        assert headings[0] == heading


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_workflows_only_call_the_makefile(path):
    content = yaml.safe_load(path.read_text())
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name, job in content.get("jobs", {}).items():
        for step in job.get("steps", []):
            if "run" in step:
                words = step["run"].split()
                assert words[0] == "make", f"{name}: {step['run']}"
                assert {word for word in words[1:] if "=" not in word} <= targets
            else:
                assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]), f"{name}: {step['uses']} is not pinned"
