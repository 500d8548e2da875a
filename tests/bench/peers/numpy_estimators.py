"""The estimators of estimator_bench.cc in plain numpy: nothing is checked, no diagnostics."""

from measure import attempt, best_milliseconds, report

import numpy as np

EPISODES, STEPS, DISCOUNT = 10_000, 100, 0.99

rng = np.random.default_rng(1)
rewards = rng.standard_normal((EPISODES, STEPS))
log_ratios = 0.05 * rng.standard_normal((EPISODES, STEPS))
q = rng.standard_normal((EPISODES, STEPS))
v = rng.standard_normal((EPISODES, STEPS + 1))
factors = DISCOUNT ** np.arange(STEPS)


def trajectory_weights():
    total = log_ratios.sum(axis=1)
    return np.exp(total - total.max()), total.max()


def step_weights():
    total = np.cumsum(log_ratios, axis=1)
    top = total.max(axis=0)
    return np.exp(total - top), top


def importance_sampling():
    weights, top = trajectory_weights()
    return np.exp(top) * np.mean(weights * (rewards @ factors))


def weighted_importance_sampling():
    weights, _ = trajectory_weights()
    return np.sum(weights * (rewards @ factors)) / np.sum(weights)


def per_decision():
    weights, top = step_weights()
    return np.mean(np.sum(weights * rewards * (factors * np.exp(top)), axis=1))


def weighted_per_decision():
    weights, _ = step_weights()
    return np.sum(np.sum(weights * rewards * factors, axis=0) / np.sum(weights, axis=0))


def doubly_robust_terms():
    weights, _ = step_weights()
    residuals = factors * (rewards + DISCOUNT * v[:, 1:] - q)
    return weights * residuals, weights


def weighted_doubly_robust():
    numerators, denominators = doubly_robust_terms()
    return v[:, 0].mean() + np.sum(numerators.sum(axis=0) / denominators.sum(axis=0))


def bootstrap(numerators, denominators, resamples, block=64):
    values = []
    for begin in range(0, resamples, block):
        count = min(block, resamples - begin)
        counts = rng.multinomial(EPISODES, np.full(EPISODES, 1.0 / EPISODES), size=count)
        counts = counts.astype(float)
        values.append(np.sum((counts @ numerators) / (counts @ denominators), axis=1))
    return np.concatenate(values)


def measure():
    for name, function in (("is", importance_sampling), ("wis", weighted_importance_sampling),
                           ("pdis", per_decision), ("wpdis", weighted_per_decision),
                           ("wdr", weighted_doubly_robust)):
        report("numpy", "numpy", f"estimate {name}", best_milliseconds(function, rounds=10))
    weights, _ = trajectory_weights()
    returns = (weights * (rewards @ factors))[:, None]
    report("numpy", "numpy", "bootstrap wis",
           best_milliseconds(lambda: bootstrap(returns, weights[:, None], 10_000), rounds=1))


attempt("numpy", measure)
