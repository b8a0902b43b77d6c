"""
What a description is worth
===========================

F1 against the number of training documents, with a prior made from the descriptions of the topics and without. A
paragraph about each topic replaces many labelled documents.
"""

from sklearn.model_selection import ShuffleSplit

from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import LearningCurveDisplay
from bayesift.priors import from_description
from bayesift.text import TextVectorizer

news = load("newsroom")
vectorizer = TextVectorizer(stop_words="english")
X = vectorizer.fit_transform(news.train.texts)
described = [from_description(news.descriptions[topic], vectorizer) for topic in news.categories]
names = vectorizer.get_feature_names_out()

display = LearningCurveDisplay.from_estimators(
    {
        "with descriptions": BayesianLogisticRegression(described, variance="norm"),
        "without": BayesianLogisticRegression(variance="norm"),
    },
    X,
    news.indicator("train").toarray(),
    sizes=[30, 60, 120, 200],
    cv=ShuffleSplit(4, test_size=0.3, random_state=0),
    scoring="f1_macro",
    fit_params={"feature_names": names},
    measure="macro F1",
)
display.plot()
