"""Tables, rules, results and reports of the catalogue, on experiments made up for the purpose."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.catalogue import (
    Cell,
    Claim,
    Experiment,
    Figure,
    Grid,
    NotPossibleError,
    Outcome,
    PieceCache,
    Result,
    Runner,
    SameDecision,
    Table,
    Within,
    every_experiment,
    joined,
    judged_again,
    published,
    read_results,
    run,
    select,
    write_folder,
    write_page,
)
from reproduction.catalogue.experiment import PAPERS
from reproduction.catalogue.report import Matrix, to_markdown

GRID = Grid("Table 1", ("lasso", "ridge"), ("here", "there"), ((50.0, 60.0), (40.0, np.nan)))


def made_up(**changes):
    """An experiment whose numbers are known."""

    def numbers(runner):
        table = Table.of("F1", {"lasso": {"here": 52.0, "there": 70.0}, "ridge": {"here": 41.0}}, GRID)
        return Outcome(
            (table,), (Claim("lasso is above ridge", np.bool_(True), "52 > 41"), Claim("the sky is green", False))
        )

    fields = {
        "name": "paper/table1",
        "paper": "A. Author (1999)",
        "item": "Table 1",
        "shows": "What it shows.",
        "run": numbers,
        "minutes": 1,
        "quick_minutes": 1,
        "rule": Within(3),
    }
    return Experiment(**{**fields, **changes})


@pytest.fixture
def runner(tmp_path):
    return Runner(PieceCache(tmp_path / "cache"))


def test_published_numbers_stand_beside_ours():
    table = Table.of(
        "F1", {"lasso": {"here": 52, "elsewhere": 3.0}, "probit": {"here": "?"}}, GRID, decimals={"here": 1}
    )
    assert table.rows == ("lasso", "ridge", "probit")
    assert table.columns == ("here", "there", "elsewhere")
    assert table.texts() == [["50.0 / 52.0", "60.00 / –", "3.00"], ["40.0 / –", "", ""], ["?", "", ""]]


def test_a_cell_with_an_error_a_mark_and_a_miss():
    assert Cell(1.0, 2.0, 0.25, "*", agrees=False).text(2) == "1.00 / 2.00 ± 0.25 * ✗"
    assert Cell.of(float("nan"), float("inf")) == Cell()
    assert Cell.of(Cell(ours=1.0, mark="a"), 2.0) == Cell(2.0, 1.0, None, "a")


def test_a_rule_of_its_column_then_of_its_row():
    values = {"lasso": {"here": 53.5, "there": 63.5}, "ridge": {"here": 43.5}}
    judged = Table.of("F1", values, GRID).judged({"here": Within(4), "lasso": Within(3)})
    assert [[cell.agrees for cell in row] for row in judged.cells] == [[True, False], [True, None]]
    one = Table.of("F1", values, GRID).judged(Within(3))
    assert [[cell.agrees for cell in row] for row in one.cells] == [[False, False], [False, None]]
    unlike = replace(one, cells=Table.of("F1", values, GRID).cells, comparable=False).judged(Within(3))
    assert all(cell.agrees is None for row in unlike.cells for cell in row)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e3), st.floats(-1, 1))
def test_within_a_distance(printed, distance, share):
    rule = Within(distance)
    assert rule(printed, printed + share * distance * 0.999)
    assert not rule(printed, printed + distance * 1.001 + 0.01)
    assert rule(printed, printed - distance) == rule(printed - distance, printed)


def test_rules_say_what_they_ask():
    assert Within(0.15, relative=True, least=5)(10, 14)
    assert not Within(0.15, relative=True, least=5)(100, 116)
    assert str(Within(0.15, relative=True, least=5)) == "within 15 % or 5"
    assert str(Within(3)) == "within 3"
    share = Within(0.25, relative=True, least=1, whole=100)
    assert share(99.64, 98.7)
    assert not share(99.64, 98.6)
    assert share(84.44, 88.3)
    assert not share(84.44, 88.4)
    assert not share(1.04, 2.1)
    assert str(share) == "within 25 % of the share or the rest or 1"
    assert SameDecision()(0.01, 0.04)
    assert SameDecision()(0.05, 0.0)
    assert not SameDecision()(0.049, 0.051)
    assert str(SameDecision()) == "on the same side of 0.05"
    with pytest.raises(ValueError, match="distance is -1"):
        Within(-1)


def test_no_printed_number_is_passed_over():
    table = Table.of("F1", {"lasso": {"here": 52.0, "there": 70.0}}, GRID)
    for rule in (None, {"here": Within(3)}):
        with pytest.raises(ValueError, match=r"'F1' has no rule for lasso, (here|there); expected one for every"):
            table.judged(rule)
    assert replace(table, comparable=False).judged(None).cells == table.cells


PRINTED = [
    (name, item)
    for name, item in (
        *((f"genkin2007/{item}", item) for item in ("table1", "table2", "table3", "features")),
        *((f"eyheramendy2003/table{k}", f"table{k}") for k in range(1, 9)),
        ("chai2002/table2", "table2"),
        *((f"molchanov2015/{item}", item) for item in ("table1", "table2")),
        ("murphy2012/table3.1", "table3.1"),
    )
]


@pytest.mark.parametrize(("name", "item"), PRINTED)
def test_every_rule_can_fail(name, item):
    """A rule tells numbers of the same printed column apart; one that takes any of them for any other says nothing."""
    experiment = every_experiment()[name]
    grid = published(experiment.folder)[item]
    for column in grid.columns:
        values = [value for value in grid.column(column) if not np.isnan(value)]
        rule = experiment.rule[column] if isinstance(experiment.rule, dict) else experiment.rule
        if len(set(values)) > 1:
            assert not rule(min(values), max(values)), column
            assert not rule(max(values), min(values)), column
        for value in values:
            # Nor is a number that is not there at all taken for what is printed.
            far = 3 * value + 100 if value else 1000.0
            assert not rule(value, far) or column == "p", (column, value)


def test_earlier_results_are_judged_by_the_rules_of_today(tmp_path, runner, monkeypatch):
    kind = made_up(conclusions=lambda tables: (Claim("lasso is above 60", tables[0].ours("lasso", "here") > 60),))
    result = run(kind, runner)
    assert [claim.text for claim in result.claims] == ["lasso is above ridge", "the sky is green", "lasso is above 60"]
    stricter = replace(
        kind, rule=Within(1), conclusions=lambda tables: (Claim("lasso is above 60", None), Claim("new", True))
    )
    again = judged_again(result, stricter)
    assert again.cells == [False, False, True]
    assert again.summary.startswith("1 of 3 numbers agree (within 1)")
    assert [claim.holds for claim in again.claims] == [True, False, None, True]
    skipped = replace(result, skipped="no data")
    assert judged_again(skipped, stricter) == skipped
    other = made_up(name="paper/table2")
    monkeypatch.setattr(
        "reproduction.catalogue.report.every_experiment", lambda: {"paper/table1": stricter, "paper/table2": other}
    )
    write_folder([result, replace(result, name="paper/gone")], tmp_path)
    found = joined([run(other, runner)], tmp_path)
    assert [result.name for result in found] == ["paper/table1", "paper/table2"]
    assert found[0] == again
    assert joined([], tmp_path / "nothing") == []


def test_verdicts(runner):
    result = run(made_up(), runner)
    assert result.judgements == [True, False, True, True, False]
    assert result.verdict == "partly"
    assert result.summary == "2 of 3 numbers agree (within 3); 1 of 2 conclusions hold"
    assert run(made_up(rule=None, run=lambda runner: Outcome()), runner).verdict == "shown"
    good = Outcome(claims=(Claim("true", True), Claim("unknown", None)))
    assert run(made_up(run=lambda runner: good), runner).verdict == "agrees"
    bad = Outcome(claims=(Claim("false", False),))
    assert run(made_up(run=lambda runner: bad), runner).verdict == "differs"


def test_a_quick_run_of_a_part_is_not_judged(tmp_path):
    quick = Runner(PieceCache(tmp_path), quick=True)
    part = run(made_up(quick="a part"), quick)
    assert part.verdict == "quick"
    assert all(cell.agrees is None for row in part.tables[0].cells for cell in row)
    assert run(made_up(), quick).verdict == "partly"


def test_what_cannot_be_run_says_why(runner, empty_root):
    result = run(made_up(collections=("reuters21578",)), runner)
    assert result.verdict == "skipped"
    assert result.summary == (f"needs reuters21578, not found in {empty_root} (see: bayesift data fetch reuters21578)")
    assert "one of webkb, ohsumed" in made_up(any_of=("webkb", "ohsumed")).reason_to_skip()
    some = made_up(collections=("newsroom",), any_of=("newsroom", "webkb"))
    assert some.reason_to_skip() == ""
    assert run(some, runner).notes == ("Not in the data root: webkb.",)

    def refuse(runner):
        raise NotPossibleError("the texts are not at hand")

    assert run(made_up(run=refuse), runner).skipped == "the texts are not at hand"


def test_names_have_a_form():
    with pytest.raises(ValueError, match="name is 'Table 1'; expected paper/item"):
        made_up(name="Table 1")


def test_results_round_trip_through_json(runner):
    result = run(made_up(notes=("a choice",)), runner)
    again = Result.from_dict(json.loads(json.dumps(result.as_dict())))
    assert again == result
    assert again.as_dict() == result.as_dict()
    assert json.loads(json.dumps(result.as_dict()))["verdict"] == "partly"


def test_figures_keep_their_files_in_json(tmp_path, runner):
    def picture():
        from matplotlib import pyplot

        return pyplot.subplots()[0]

    drawn = run(made_up(run=lambda runner: Outcome(figures=(Figure("curve", "A curve", picture),))), runner)
    [result] = write_folder([drawn], tmp_path)
    assert result.figures == (Figure("curve", "A curve", None, "paper-table1-curve.png"),)
    assert (tmp_path / "paper-table1-curve.png").stat().st_size > 1000
    assert read_results(tmp_path) == [result]
    write_page(tmp_path, tmp_path / "docs" / "page.md", "images")
    page = (tmp_path / "docs" / "page.md").read_text(encoding="utf-8")
    assert "![A curve](images/paper-table1-curve.png)" in page
    assert (tmp_path / "docs" / "images" / "paper-table1-curve.png").exists()


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.classes = [], []

    def handle_starttag(self, tag, attributes):
        self.classes += [value for name, value in attributes if name == "class"]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_report_names_verdicts_and_every_miss(tmp_path, runner, empty_root):
    results = [
        run(made_up(shows="a < b | c"), runner),
        run(made_up(name="paper/other", collections=("webkb",)), runner),
    ]
    write_folder(results, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| `paper/table1` | partly | 2 of 3 numbers agree" in text
    assert "\na < b | c\n" in text
    assert "- `paper/table1`, lasso, there: 60.00 / 70.00" in text
    assert "- `paper/table1`: does not hold: the sky is green" in text
    assert "| lasso | 50.00 / 52.00 | 60.00 / 70.00 ✗ |" in text
    assert "Not run: needs webkb" in text
    assert "- 2 experiments: 1 in part, 1 were skipped." in text
    assert "- 3 printed numbers judged: 2 agree, 1 do not." in text
    assert "- 2 conclusions judged: 1 hold, 1 do not." in text
    assert results[0].versions["bayesift"] in text
    assert results[0].date in text
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    assert "miss" in tags.classes
    assert "a &lt; b | c" in page
    assert "<code>paper/table1</code>" in page


def test_the_report_tells_results_of_several_days(tmp_path, runner):
    results = [run(made_up(), runner), replace(run(made_up(name="paper/other"), runner), date="1999-01-02")]
    write_folder(results, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "Not one run: the numbers of 1 of 2 experiments are of an earlier day" in text
    assert "| 1999-01-02 |" in text
    write_folder(results[:1], tmp_path)
    assert "Not one run" not in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_bars_stay_in_their_cells():
    assert "| a \\| b | c |" in to_markdown([Matrix(("one", "two"), (("a | b", "c"),))])


def test_a_note_is_given_once(tmp_path, runner):
    notes = [("Stems.",), ("Folds.", "Stems."), ()]
    write_folder([run(made_up(name=f"paper/table{k}", notes=own), runner) for k, own in enumerate(notes)], tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert [
        line for line in text.splitlines() if line in ("- Stems.", "- Folds.", "- Notes given above hold here too.")
    ] == [
        "- Stems.",
        "- Folds.",
        "- Notes given above hold here too.",
    ]


def test_the_catalogue_is_whole():
    everything = every_experiment()
    assert {name.partition("/")[0] for name in everything} == set(PAPERS)
    for experiment in everything.values():
        assert experiment.shows.endswith(".")
        assert 0 < experiment.quick_minutes <= experiment.minutes
        experiment.missing()


def test_experiments_are_found_by_name_and_by_paper():
    names = [experiment.name for experiment in select(["genkin2007/table2", "genkin2007/table1", "genkin2007/table2"])]
    assert names == ["genkin2007/table1", "genkin2007/table2"]
    assert {experiment.folder for experiment in select(["molchanov2015"])} == {"molchanov2015"}
    with pytest.raises(ValueError, match="there is no experiment 'genkin2007/tabel1'; did you mean genkin2007/table1"):
        select(["genkin2007/tabel1"])
    with pytest.raises(ValueError, match="--list' lists them all"):
        select(["zzz"])


@pytest.mark.parametrize("paper", [name for name in PAPERS if name != "beyond"])
def test_every_paper_names_its_source(paper):
    assert len(published(paper).source) > 20
    assert all(grid.place for grid in published(paper).grids.values())


def test_a_grid_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"rows of \[2, 1\] numbers; expected 2 rows of 2"):
        Grid("somewhere", ("a", "b"), ("x", "y"), ((1.0, 2.0), (3.0,)))
