from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bayesift.review.engine import Highlight
from bayesift.review.web.rendering import fragment, heaviest_words, pieces
from bayesift.review.web.svg import Axis, Frame, counting_axis, tag

marks = st.builds(Highlight, st.integers(-2, 30), st.integers(-2, 30), st.floats(-5, 5))


@given(st.text(max_size=25), st.lists(marks), st.integers(0, 25), st.integers(0, 25))
def test_the_pieces_are_the_text_whatever_the_highlights_are(text, highlights, begin, end):
    begin, end = sorted((min(begin, len(text)), min(end, len(text))))
    assert "".join(piece.text for piece in pieces(text, highlights, begin, end)) == text[begin:end]


def test_words_are_marked_by_side_and_weight():
    text = "tin the ship port mine"
    found = pieces(
        text,
        [
            Highlight(0, 3, 3.0),
            Highlight(4, 7, 9.0),
            Highlight(8, 12, -1.5),
            Highlight(13, 17, 0.2),
            Highlight(18, 22, 0.9),
        ],
    )
    assert [(piece.text, piece.side, piece.level) for piece in found if piece.side] == [
        ("tin", "for", 3), ("ship", "against", 2), ("mine", "for", 1),
    ]  # fmt: skip
    assert heaviest_words(found) == (["tin", "mine"], ["ship"])


def test_drawings_are_escaped_and_within_their_frame():
    assert tag("text", "<b>&", class_='"x"') == '<text class="&#34;x&#34;">&lt;b&gt;&amp;</text>'
    frame = Frame(Axis("x", 10.0, ()), counting_axis("y", 7))
    frame.line([(0, 0), (10, 7)], "curve")
    drawing = str(frame.drawing("<Title>", "Says it."))
    places = [float(number) for pair in re.findall(r'points="([^"]+)"', drawing) for number in re.split("[ ,]", pair)]
    assert places == [56.0, 224.0, 440.0, 14.0]
    assert 'aria-label="&lt;Title&gt;. Says it."' in drawing
    assert "style=" not in drawing


def test_a_dot_lies_within_its_interval():
    drawing = fragment("_interval.html", value=0.5, low=0.25, high=0.75)
    x, width = map(float, re.search(r'<rect x="([\d.]+)" y="4" width="([\d.]+)"', drawing).groups())
    assert (x, x + width) == (26.0, 74.0)
    assert 'cx="50"' in drawing
