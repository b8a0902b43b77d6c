"""What several papers share: Reuters-21578 with a line about each category, and F1 in per cent."""

from __future__ import annotations

from typing import Any, NamedTuple

import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from bayesift.datasets import Collection, load
from bayesift.text import TextVectorizer

#: Where the collection has no description of a category, one line of our own.
OWN_DESCRIPTIONS = {
    "alum": "aluminium and bauxite, smelters and output of the metal",
    "barley": "barley harvest, exports and tenders",
    "carcass": "meat and carcasses, beef and pork slaughtered and packed",
    "castor-oil": "castor oil and castor seed",
    "cocoa": "cocoa beans, buffer stock and the international cocoa organization",
    "coconut": "coconuts, copra and coconut growers",
    "coconut-oil": "coconut oil, crushers and exports",
    "coffee": "coffee beans, export quotas and the international coffee organization",
    "copper": "copper mines, cathode prices and smelters",
    "copra-cake": "copra cake and meal for animal feed",
    "corn": "corn and maize harvest, exports, acreage and bushels",
    "cotton": "cotton crop, bales and growers",
    "cotton-oil": "cottonseed oil",
    "gold": "gold mines, bullion and ounces of ore",
    "grain": "grain harvest, wheat, corn, maize and barley exports in tonnes",
    "groundnut": "groundnuts and peanuts",
    "groundnut-oil": "groundnut and peanut oil",
    "hog": "hogs and pigs, slaughter and pork",
    "iron-steel": "iron ore and steel mills",
    "l-cattle": "live cattle and herds",
    "lead": "lead metal, smelters and mines",
    "lin-oil": "linseed oil",
    "livestock": "livestock, cattle, hogs, beef and pork",
    "lumber": "lumber, timber, logs and plywood",
    "meal-feed": "meal and feed for animals, soymeal and cake",
    "nickel": "nickel mines and metal",
    "oat": "oats and their harvest",
    "oilseed": "oilseeds, soybeans, rapeseed, sunflower and crushers",
    "orange": "oranges and frozen orange juice",
    "palladium": "palladium metal",
    "palm-oil": "palm oil, refiners and exports",
    "palmkernel": "palm kernels and their oil",
    "platinum": "platinum metal and coins",
    "potato": "potatoes and potato futures",
    "rape-oil": "rapeseed oil",
    "rapeseed": "rapeseed and canola, tenders and crushers",
    "rice": "rice crop, paddy and exports",
    "rubber": "natural rubber and the international rubber agreement",
    "rye": "rye harvest and tenders",
    "silver": "silver mines and ounces",
    "sorghum": "sorghum exports and bushels",
    "soy-meal": "soybean meal",
    "soy-oil": "soybean oil",
    "soybean": "soybeans, crushers, acreage and bushels",
    "strategic-metal": "strategic metals, uranium, titanium, cobalt and tungsten",
    "sugar": "sugar beet and cane, raw and white sugar, tenders and tonnes",
    "sun-meal": "sunflower meal",
    "sun-oil": "sunflower oil",
    "sunseed": "sunflower seed",
    "tea": "tea auctions and growers",
    "tin": "tin metal and the international tin council",
    "veg-oil": "vegetable oils, palm, soybean, rapeseed and sunflower oil",
    "wheat": "wheat harvest, winter wheat, exports, subsidies and bushels",
    "zinc": "zinc smelters, metal and mines",
}


class ModApte(NamedTuple):
    """The matrices of the ModApte split."""

    collection: Collection
    vectorizer: TextVectorizer
    X_train: sp.csr_matrix
    Y_train: NDArray[Any]
    X_test: sp.csr_matrix
    Y_test: NDArray[Any]

    def description(self, category: str) -> str:
        """Return what a category is about: the collection's own words, or ours."""
        return self.collection.descriptions.get(category) or OWN_DESCRIPTIONS[category]


def modapte() -> ModApte:
    """Weigh terms as in section 5.1: log TF × IDF, cosine-normalised, SMART stop words, Porter's stemmer."""
    collection = load("reuters21578")
    vectorizer = TextVectorizer("lsc", stop_words="smart", stemmer="porter", unknown_terms="normalize")
    X_train = vectorizer.fit_transform(collection.train.texts)
    X_test = vectorizer.transform(collection.test.texts)
    labels = (collection.indicator(part).toarray() for part in ("train", "test"))
    Y_train, Y_test = labels
    return ModApte(collection, vectorizer, X_train, Y_train, X_test, Y_test)


def f1_percent(truth: NDArray[Any], decisions: NDArray[Any]) -> tuple[float, float]:
    """Return macro- and micro-averaged F1 in per cent; a category with no positives and no acceptances counts 1."""
    return tuple(100.0 * f1_score(truth, decisions, average=kind, zero_division=1.0) for kind in ("macro", "micro"))
