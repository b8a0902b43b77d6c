"""
A concept from four examples
============================

Which numbers belong with 16, 8, 2 and 64? The powers of two are a small set that contains all four, so little
probability is left for other concepts.
"""

from bayesift.concepts import number_game
from bayesift.plots import ConceptDisplay

display = ConceptDisplay(number_game(), [16, 8, 2, 64])
display.plot()

# %%
# What is believed of every number after two examples:

ConceptDisplay(number_game(), [16, 8]).plot_predictive()
