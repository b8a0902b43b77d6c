"""Replay a review whose judgements are known, without a person: how much work it takes, and where rules would stop."""

from bayesift.review.simulate.piles import synthetic_pile
from bayesift.review.simulate.replay import simulate, starting_pair
from bayesift.review.simulate.rules import RULES, Rule, Stop
from bayesift.review.simulate.simulation import Simulation

__all__ = ["RULES", "Rule", "Simulation", "Stop", "simulate", "starting_pair", "synthetic_pile"]
