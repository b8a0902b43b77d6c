"""
What data do to a belief
========================

As far as we knew, a coin was fair. Then came 3 heads and 17 tails.
"""

from bayesift.conjugate import BetaBinomial
from bayesift.plots import PosteriorDisplay

display = PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17)
display.plot().ax_.set_xlabel("probability of heads")
