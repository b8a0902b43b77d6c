"""The Dockerfile, as far as it can be checked without Docker: what it copies is there, what it calls exists."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest
import typer

pytest.importorskip("fastapi")

from bayesift.cli.app import app
from bayesift.review import serve as review_page
from bayesift.serving import serve as model_server

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
#: Each instruction with its arguments, lines joined.
LINES = [
    tuple(line.split(" ", 1))
    for line in re.sub(r"\\\n\s*", "", TEXT).splitlines()
    if line.strip() and not line.startswith("#")
]


def arguments(name):
    return [rest for instruction, rest in LINES if instruction == name]


def test_what_is_copied_is_there_and_not_ignored():
    sources = [name for line in arguments("COPY") for name in line.split()[:-1]]
    assert sources
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for name in sources:
        assert (ROOT / name).exists(), name
        assert any(fnmatch(name, pattern) for pattern in kept), name
    # What the package needs to be built.
    assert {"pyproject.toml", "README.md", "LICENSE", "src"} <= set(sources)


def test_nothing_runs_as_root_and_nothing_is_fetched_by_address():
    assert "useradd --create-home --uid 10001 bayesift" in TEXT
    instructions = [name for name, _ in LINES]
    assert arguments("USER") == ["10001"]
    assert instructions.index("USER") < instructions.index("ENTRYPOINT")
    assert set(re.findall(r"https?://[^/'\"\s]+", TEXT)) == {"http://127.0.0.1:8787", "http://127.0.0.1:8788"}
    assert "index-url" not in TEXT


def test_what_is_compiled_is_kept_where_its_user_may_write():
    environment = " ".join(arguments("ENV"))
    assert "NUMBA_CACHE_DIR=/var/cache/bayesift" in environment
    [warm] = [line for line in LINES if line[0] == "RUN" and line[1].startswith("bayesift warm")]
    assert LINES.index(("USER", "10001")) < LINES.index(warm)
    # "--user" runs it as anybody.
    assert "chmod --recursive a+rwX /var/cache/bayesift" in warm[1]


@pytest.mark.parametrize(
    ("target", "module", "rest"), [("review", review_page, []), ("serve", model_server, ["MODEL"])]
)
def test_an_image_starts_its_command_on_its_port(target, module, rest):
    begin = LINES.index(("FROM", f"base AS {target}"))
    stage = dict(LINES[begin + 1 : begin + 4])
    program, command, *options = json.loads(stage["ENTRYPOINT"])
    assert (program, command) == ("bayesift", target)
    port = str(module.USUAL_PORT)
    assert stage["EXPOSE"] == options[options.index("--port") + 1] == port
    health = json.loads(stage["HEALTHCHECK"].partition("CMD ")[2])
    assert health[:2] == ["python", "-c"]
    assert f"127.0.0.1:{port}/health" in health[2]
    compile(health[2], "HEALTHCHECK", "exec")
    # The options are those of the command.
    group = typer.main.get_command(app)
    found = group.commands[command]
    context = found.make_context(command, [*options, *rest], resilient_parsing=True)
    if target == "review":
        found = found.commands["open"]
        context = found.make_context("open", [*options, "papers.csv"], resilient_parsing=True)
    assert context.params["host"] == "0.0.0.0"
    assert context.params["port"] == int(port)
