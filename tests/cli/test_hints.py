"""Hints go by the names of error classes: each name must be that of a class that is raised somewhere."""

from __future__ import annotations

import bayesift.formats
import bayesift.shards
import bayesift.text
from bayesift.cli._hints import _HINTS, hint_for
from bayesift.formats import NotAModelFileError
from bayesift.workflow import errors


def test_every_hint_is_for_an_error_that_exists():
    known = {**vars(errors), **vars(bayesift.formats), **vars(bayesift.text), **vars(bayesift.shards)}
    for name in _HINTS:
        assert issubclass(known[name], ValueError | OSError)
    assert {name for name in vars(errors) if name.endswith("Error")} <= set(_HINTS)


def test_an_error_without_a_class_of_its_own_has_no_hint_unless_it_is_a_fault_of_ours():
    assert hint_for(ValueError("take a polytomous model")) == ""
    assert "--debug" in hint_for(KeyError("x"))
    assert "MODEL first, then DATA" in hint_for(NotAModelFileError("x"))
