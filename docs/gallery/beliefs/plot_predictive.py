"""
Prediction with and without uncertainty
=======================================

Heads in the next ten tosses. A plug-in estimate ignores how little is known; the average over the belief does not.
"""

from bayesift.conjugate import BetaBinomial
from bayesift.plots import PredictiveDisplay

display = PredictiveDisplay.from_model(BetaBinomial(2, 2).update(3, 17), 10)
display.plot().ax_.set_xlabel("heads in the next 10 tosses")
