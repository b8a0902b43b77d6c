"""The requests and answers of the interface, with examples for its description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bayesift.datasets import FeaturedText

_EXAMPLE = "The minister said that wheat exports rose by a tenth."


#: Values by column name; a value that is left out or null is missing.
Features = dict[str, str | int | float | bool | None]


class Request(BaseModel):
    """Texts to classify, and what to return about them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: Annotated[str | None, Field(description="A single text, instead of texts.")] = None
    texts: Annotated[list[str] | None, Field(description="Any number of texts, up to a limit (see /model).")] = None
    features: Annotated[
        Features | list[Features] | None,
        Field(
            description="Values of the model's features, by name: those of the text, or a list with those of each text."
        ),
    ] = None
    probabilities: Annotated[bool, Field(description="Whether to return the probability of every label.")] = True
    interval: Annotated[
        float | None,
        Field(
            gt=0,
            lt=1,
            description="Probability with which intervals contain the probabilities, for models with a posterior "
            "(default: 0.9).",
        ),
    ] = None
    reasons: Annotated[
        int,
        Field(
            ge=0, description="How many words to return that count most for and against each label given; 0 for none."
        ),
    ] = 0

    def all_texts(self, names: Sequence[str] = ()) -> list[str]:
        """Return the texts, with features of some names; raise ValueError unless they are given in one way."""
        if (self.text is None) == (self.texts is None):
            found = "neither is there" if self.text is None else "both are there"
            raise ValueError(f"text, texts: {found}; expected one of them")
        texts = [self.text] if self.text is not None else self.texts or []
        if not names:
            if self.features is not None:
                raise ValueError("features: the model has none; expected only texts")
            return texts
        given = [self.features] if self.text is not None else self.features
        if not isinstance(given, list) or len(given) != len(texts):
            raise ValueError(f"features: expected a list with the values of each text, by the names {', '.join(names)}")
        rows = [self._row(values, names) for values in given]
        return [FeaturedText(text, row) for text, row in zip(texts, rows, strict=True)]

    @staticmethod
    def _row(values: Any, names: Sequence[str]) -> dict[str, Any]:
        if not isinstance(values, dict):
            raise ValueError(f"features: expected the values of a text, by the names {', '.join(names)}")
        odd = [name for name in values if name not in names]
        if odd:
            raise ValueError(f"features: the model has no feature {odd[0][:100]!r}; expected {', '.join(names)}")
        return {name: values.get(name) for name in names}


class Word(BaseModel):
    """A word and what it adds to the score of a label."""

    word: str
    weight: float


#: The ends of an interval.
Ends = Annotated[list[float], Field(min_length=2, max_length=2)]


class ReasonFor(BaseModel):
    """Why a text got a label or, if it got none, why not the most probable one."""

    label: str
    accepted: bool
    probability: float
    words: list[Word]
    company: Annotated[
        list[Word] | None,
        Field(description="With vectors of words: the part of each number that comes from words used like it."),
    ] = None
    word_intervals: Annotated[
        list[Ends] | None,
        Field(description="With a posterior: intervals that contain the numbers of the words with probability 0.9."),
    ] = None


class Result(BaseModel):
    """The answer about one text."""

    labels: Annotated[list[str], Field(description="One label, or any number if a text may have several.")]
    probabilities: dict[str, float] | None = None
    intervals: Annotated[
        dict[str, Ends] | None, Field(description="Intervals of the probabilities, if the model keeps its posterior.")
    ] = None
    reasons: list[ReasonFor] | None = None


class Answer(BaseModel):
    """The answers about the texts of a request, in order."""

    results: list[Result]


class RequestLimits(BaseModel):
    """How much a request may ask for."""

    texts: int
    characters: int
    words: int
    values: int
    bytes: int


class AboutModel(BaseModel):
    """The model, as ``bayesift info`` shows it, and how much a request may ask for."""

    name: Annotated[str, Field(description="The name of the model file.")]
    version: Annotated[str, Field(description="The version of Bayesift.")]
    limits: RequestLimits
    model: dict[str, Any]


class Health(BaseModel):
    """Whether texts are being classified, and the version."""

    status: Literal["ok"]
    version: str


class Problem(BaseModel):
    """What is wrong with a request, in a sentence."""

    detail: str


#: Requests as the description of the interface shows them.
REQUESTS = {
    "one text": {"value": {"text": _EXAMPLE}},
    "several texts, labels only": {"value": {"texts": [_EXAMPLE, "Fog closed the port."], "probabilities": False}},
    "with reasons": {"value": {"text": _EXAMPLE, "reasons": 3}},
}

_ANSWER = {
    "results": [
        {
            "labels": ["farming"],
            "probabilities": {"farming": 0.93, "shipping": 0.07},
            "reasons": [
                {
                    "label": "farming",
                    "accepted": True,
                    "probability": 0.93,
                    "words": [{"word": "wheat", "weight": 1.84}, {"word": "exports", "weight": -0.31}],
                }
            ],
        }
    ]
}

#: The description of the answers to a request for labels.
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": Answer, "content": {"application/json": {"example": _ANSWER}}},
    **{
        status: {"model": Problem, "description": about}
        for status, about in (
            (401, "The token is missing or wrong."),
            (403, "The request comes from a page of another site."),
            (413, "Too many texts, characters, bytes or probabilities."),
            (421, "The server is not called by this name."),
            (422, "Not JSON, or not of the expected form."),
            (429, "Too much from one address is waiting."),
            (503, "Too much is waiting."),
        )
    },
}


def parse(body: bytes) -> Request:
    """Read a request; raise ValueError with a sentence that says what is wrong, and where."""
    try:
        return Request.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        # Names that the sender made up may be long.
        raise ValueError(f"{where[:100]}: {first['msg']}") from None
