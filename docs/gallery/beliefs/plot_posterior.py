"""
What data do to a belief
========================

A coin was fair as far as we knew. Then came 3 heads and 17 tails.
"""

from bayesift.conjugate import BetaBinomial
from bayesift.plots import PosteriorDisplay

display = PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17)
display.plot().ax_.set_xlabel("probability of heads")
