"""The flow of records, the note of stopping, and the protocol."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from bayesift.review.decisions import Decisions
from bayesift.review.prisma import diagram, flow
from bayesift.review.storage import Event

ALL = ["relevant", "irrelevant", "unsure", "skip"]
WHY = [None, "<b>&\"'", "report not retrieved"]
SAID = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 2), st.sampled_from(ALL), st.sampled_from(WHY)), max_size=30
)


@given(SAID, SAID, st.booleans())
def test_every_record_is_counted_once_at_each_step(abstracts, full, double):
    def events(said):
        return [Event(place, who, "label", what, reason=why, id=n) for n, (place, who, what, why) in enumerate(said, 1)]

    first = Decisions(events(abstracts), {6: 0}, double=double)
    second = Decisions(events(full), {6: 0}, double=double)
    found = flow(9, first, second)
    assert (found.identified, found.duplicates) == (9, 1)
    assert found.duplicates + found.unread + found.screened == found.identified
    assert found.excluded + found.undecided + found.sought == found.screened
    assert found.not_retrieved + found.assessed + found.waiting == found.sought
    assert sum(found.reports_excluded.values()) + found.included == found.assessed
    assert sum(found.abstracts_excluded.values()) == found.excluded
    assert min(number for number in found if isinstance(number, int)) >= 0
    for full_text in (True, False):
        drawn = ElementTree.fromstring(diagram(found, full_text=full_text))
        assert f"Records included: n = {found.included}" in "".join(drawn.itertext())
    alone = flow(9, first, None)
    assert alone.included == alone.assessed == alone.sought == found.sought


def test_a_long_reason_goes_on_in_the_next_line():
    reason = "a review, a letter or an abstract of a conference, not studies of their own"
    events = [Event(0, 1, "label", "irrelevant", reason=reason, id=1), Event(1, 1, "label", "irrelevant", id=2)]
    drawn = ElementTree.fromstring(diagram(flow(2, Decisions(events), None), full_text=False))
    lines = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    begin = lines.index("a review, a letter or an abstract of a")
    # No line ends within the number.
    assert [line.strip() for line in lines[begin + 1 : begin + 3]] == ["conference, not studies of their own:", "n = 1"]
    assert f"; {reason}: n = 1; no reason given: n = 1" in drawn.attrib["aria-label"]


def test_the_report_shows_the_flow_and_notes_the_stop(anna, service):
    settings = {"name": "metals", "reasons": "<wrong>", "full_text": "yes", "inclusion": "only <metals>"}
    anna.form_post("/topics/1/settings", **settings)
    anna.label("relevant", 0)
    anna.json_post("/api/topics/1/labels", {"document": 1, "decision": "irrelevant", "reason": "<wrong>"})
    page = anna.get("/topics/1/report").text
    assert "Records screened: n = 2" in page
    assert "&lt;wrong&gt;: n = 1" in page
    assert "Not read yet: n = 4" in page
    assert "The review goes on." in page
    said = anna.get("/api/topics/1/stopping").json()["sentence"]
    page = anna.form_post("/topics/1/stop", action="stop", note="enough <now>").text
    assert "Resume the review" in page
    assert "Not read, ranked last by the model: n = 4" in page
    assert "enough &lt;now&gt;" in page
    (stop,) = service.project.stops.all(1)
    assert (stop.statement, stop.stopped, stop.reviewer, stop.numbers["found"]) == (said, True, 1, 1)
    assert {"statement A", "statement B", "statement C"} <= set(stop.numbers)
    anna.form_post("/topics/1/stop", action="go on")
    assert [entry.stopped for entry in service.project.stops.all(1)] == [True, False]
    assert anna.form_post("/topics/1/stop", action="perhaps").status_code == 422
    svg = anna.get("/topics/1/prisma.svg")
    assert svg.headers["content-disposition"] == 'attachment; filename="metals.prisma.svg"'
    ElementTree.fromstring(svg.text)
    protocol = anna.get("/topics/1/protocol")
    assert protocol.headers["content-disposition"].endswith('metals.protocol.html"')
    words = re.sub("[ \n]+", " ", re.sub("<[^>]+>", " ", protocol.text))
    for expected in (
        said,
        "only &lt;metals&gt;",
        "Anna b Ships wait abstract label irrelevant &lt;wrong&gt; chosen",
        "Stopped",
    ):
        assert expected in words
    assert protocol.text.endswith("</html>\n")
    assert "<script" not in protocol.text
