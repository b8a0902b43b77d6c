"""The list of lines that are broken on purpose: it names what there is, and every change is one."""

from __future__ import annotations

import ast
import tomllib

from tools.mutants.__main__ import LIST, TOP, chosen, is_known
from tools.mutants.making import mutants_of

CONTENT = tomllib.loads(LIST.read_text(encoding="utf-8"))

SOURCE = '''\
def judged(values: list[int | None], least: int = 3) -> bool:
    """Tell whether 1 < 2."""
    if len(values) < least:
        raise ValueError(f"{len(values)} + 1")
    total = 0
    for value in values:
        total += value * 2
    return total >= max(least, 1) and not values[0]
'''


def test_one_change_for_each_line(tmp_path):
    (tmp_path / "some.py").write_text(SOURCE)
    found = [(mutant.line, mutant.old, mutant.new) for mutant in mutants_of(tmp_path, "some.py", None, True)]
    assert found == [(3, "len(values) < least", "False"), (5, "0", "1"), (7, "+", "-"), (8, ">=", ">")]
    turned = mutants_of(tmp_path, "some.py", ["judged"], False)[-1]
    assert turned.new == "<"
    assert "return total < max(least, 1) and" in turned.applied(SOURCE.encode()).decode()


def test_changes_leave_a_program_that_is_another_one():
    found = chosen(CONTENT["target"], [])
    assert len(found) >= 200
    assert all((TOP / name).is_file() for target in CONTENT["target"] for name in target["tests"])
    for test in (test for target in CONTENT["target"] for test in target.get("without", [])):
        name, function = test.split("::")
        assert f"def {function}(" in (TOP / name).read_text(encoding="utf-8")
    # One of each kind in each file.
    for mutant in {(mutant.file, mutant.kind): mutant for mutant, _ in found}.values():
        source = (TOP / mutant.file).read_bytes()
        assert ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source)), str(mutant)


def test_what_is_said_to_change_nothing_is_among_the_changes():
    mutants = [mutant for mutant, _ in chosen(CONTENT["target"], [])]
    for entry in CONTENT["same"]:
        assert entry["why"]
        assert sum(is_known(mutant, [entry]) for mutant in mutants) == 1, entry
