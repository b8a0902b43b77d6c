"""
Bounds that touch
=================

The relevance tagging machine replaces a likelihood by a lower bound before integrating; the bound can touch the
likelihood at any point.
"""

from bayesift.plots import BoundDisplay

display = BoundDisplay.from_objects(
    [[1, 1, 0], [1, 0, 1], [1, 1, 1]], [1, 1, 0], [0.5, 0.6, 0.4], tag=0, touching=[0.2, 0.5, 0.8]
)
display.plot().ax_.set_xlabel("q, the tag's probability of the class")
