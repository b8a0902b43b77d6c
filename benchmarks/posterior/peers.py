"""Effective draws a second of Gibbs sampling, beside other samplers of the same posterior that are installed.

All are asked for the same: the logistic link, coefficients N(0, 10), a flat intercept. Others get the help that people
would give them: words that no text has are left out, and what they compile is not counted.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from bayesift.datasets import load
from bayesift.posterior import effective_sample_size, gibbs_sampling
from bayesift.priors import Gaussian
from benchmarks.measuring import show
from benchmarks.posterior.coverage import documents

VARIANCE = 10.0
#: Scores of at most so many texts are looked at.
_WATCHED = 256


class Measured(NamedTuple):
    """Processor time, how many draws it gave, and the effective number of them: of the median, and of the worst score.

    The effective number is the smaller one of those of the scores and of their distances from the median.
    """

    seconds: float
    n_draws: int
    median: float
    worst: float

    @classmethod
    def of(cls, seconds: float, scores: np.ndarray) -> Measured:
        """Look at scores of shape (n_chains, n_draws, n_texts)."""
        scores = scores[:, :, :: -(-scores.shape[2] // _WATCHED)]
        distances = np.abs(scores - np.median(scores, axis=(0, 1)))
        effective = np.minimum(effective_sample_size(scores), effective_sample_size(distances))
        return cls(seconds, scores.shape[0] * scores.shape[1], float(np.median(effective)), float(effective.min()))


def _bayesift(X: sp.csr_matrix, y: np.ndarray, n_draws: int, warmup: int, n_chains: int = 4) -> Measured:
    """Measure Gibbs sampling of this package, with the warm-up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        gibbs_sampling(X, y, Gaussian(VARIANCE), n_draws=4, warmup=0, n_chains=1)
        start = time.process_time()
        posterior = gibbs_sampling(X, y, Gaussian(VARIANCE), n_draws=n_draws, warmup=warmup, n_chains=n_chains)
        seconds = time.process_time() - start
    return Measured.of(seconds, posterior.score_draws(X).reshape(n_chains, n_draws, -1))


def _numpyro(X: sp.csr_matrix, y: np.ndarray, n_draws: int, warmup: int) -> Measured:
    """Measure a chain of NUTS without its adaptation, which is free here."""
    import jax
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", val=True)
    Z = np.sqrt(VARIANCE) * X.toarray()

    def model() -> None:
        z = numpyro.sample("z", dist.Normal(0.0, 1.0).expand([Z.shape[1]]))
        intercept = numpyro.sample("intercept", dist.ImproperUniform(dist.constraints.real, (), ()))
        scores = numpyro.deterministic("scores", jax.numpy.dot(Z, z) + intercept)
        numpyro.sample("y", dist.Bernoulli(logits=scores), obs=y)

    mcmc = MCMC(NUTS(model), num_warmup=warmup, num_samples=n_draws, progress_bar=False)
    # The first run compiles and adapts; the second one goes on from where it ended.
    mcmc.run(jax.random.PRNGKey(0), init_params={"z": np.zeros(Z.shape[1]), "intercept": np.array(0.0)})
    mcmc.post_warmup_state = mcmc.last_state
    start = time.process_time()
    mcmc.run(jax.random.PRNGKey(1))
    scores = np.asarray(mcmc.get_samples()["scores"])
    return Measured.of(time.process_time() - start, scores[None])


def _pymc(X: sp.csr_matrix, y: np.ndarray, n_draws: int, warmup: int) -> Measured:
    """Measure a chain of NUTS without its adaptation, which is free here."""
    import pymc

    Z = np.sqrt(VARIANCE) * X.toarray()
    with pymc.Model():
        z = pymc.Normal("z", 0.0, 1.0, shape=Z.shape[1])
        intercept = pymc.Flat("intercept")
        scores = pymc.Deterministic("scores", pymc.math.dot(Z, z) + intercept)
        pymc.Bernoulli("y", logit_p=scores, observed=y)
        drawn = pymc.sample(
            n_draws,
            tune=warmup,
            chains=1,
            cores=1,
            initvals={"z": np.zeros(Z.shape[1]), "intercept": 0.0},
            random_seed=0,
            progressbar=False,
            compute_convergence_checks=False,
        )
    # What each draw after the adaptation took.
    seconds = float(drawn.sample_stats["process_time_diff"].sum())
    return Measured.of(seconds, np.asarray(drawn.posterior["scores"]))


def _bayesbridge(X: sp.csr_matrix, y: np.ndarray, n_draws: int, warmup: int) -> Measured:
    """Measure a chain of Gibbs sampling by conjugate gradients, with its warm-up.

    All coefficients are its "fixed effects", which have Gaussian priors of given deviations; none is left for bridges.
    """
    from bayesbridge import BayesBridge, RegressionCoefPrior, RegressionModel

    prior = RegressionCoefPrior(n_fixed_effect=X.shape[1], sd_for_fixed_effect=np.sqrt(VARIANCE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = y.astype(float), np.ones(y.size)
        model = RegressionModel(outcome, X, family="logit", add_intercept=True, center_predictor=False)
        start = time.process_time()
        drawn, _ = BayesBridge(model, prior).gibbs(
            n_draws + warmup, warmup, seed=0, coef_sampler_type="cg", params_to_save=("coef",)
        )
        seconds = time.process_time() - start
    coef = drawn["coef"]
    return Measured.of(seconds, np.asarray(X @ coef[1:] + coef[0]).T[None])


def _compare(title: str, X: sp.csr_matrix, y: np.ndarray, runs: list[tuple[str, str, Callable[..., Measured]]]) -> None:
    """Print a row for each sampler that is installed, our own first."""
    X = sp.csr_matrix(X[:, np.unique(X.indices)])
    rows, own = [], 0.0
    for name, module, measure in runs:
        if find_spec(module) is None:
            continue
        found = measure(X, y)
        rate = found.median / found.seconds
        own = own or rate
        effective = f"{found.median:.0f} ({found.worst:.0f}) of {found.n_draws}"
        rows.append((name, f"{found.seconds:.1f}", effective, f"{rate:.2f}", f"{own / rate:.1f}"))
    header = (title, "s", "effective draws: median (worst score)", "a second", "bayesift is so many times faster")
    show("Beside other samplers, processor time", header, rows)


def _small_problem() -> tuple[sp.csr_matrix, np.ndarray]:
    """Return 300 texts of ModApte over the 20,000 most frequent words, and labels drawn from the prior."""
    X = documents("reuters21578")
    X = X[:, np.argsort(-np.bincount(X.indices, minlength=X.shape[1]))[:20_000]]
    rng = np.random.default_rng(0)
    rows = rng.permutation(X.shape[0])[:300]
    beta = np.sqrt(VARIANCE) * rng.normal(size=X.shape[1])
    return X[rows], (rng.random(300) < expit(X[rows] @ beta)).astype(int)


def few_beside_peers(n_draws: int = 300, warmup: int = 300) -> None:
    """Print the effective draws of scores a second for 300 texts."""
    X, y = _small_problem()
    runs = [
        ("bayesift, Gibbs", "bayesift", partial(_bayesift, n_draws=500, warmup=200)),
        ("bayesbridge, Gibbs", "bayesbridge", partial(_bayesbridge, n_draws=2000, warmup=200)),
        ("numpyro, NUTS", "numpyro", partial(_numpyro, n_draws=n_draws, warmup=warmup)),
        ("PyMC, NUTS", "pymc", partial(_pymc, n_draws=n_draws, warmup=warmup)),
    ]
    _compare("300 texts, variance 10", X, y, runs)


def many_beside_peers(category: str = "earn") -> None:
    """Print the effective draws of scores a second for all documents of ModApte, beside another Gibbs sampler."""
    collection = load("reuters21578")
    y = collection.indicator("train")[:, collection.categories.index(category)].toarray().ravel()
    runs = [
        ("bayesift, Gibbs", "bayesift", partial(_bayesift, n_draws=150, warmup=30)),
        ("bayesbridge, Gibbs", "bayesbridge", partial(_bayesbridge, n_draws=150, warmup=30)),
    ]
    _compare(f"{y.size:,} texts, {category}, variance 10", documents("reuters21578"), y, runs)
