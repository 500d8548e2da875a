"""Inverse propensity weighting of a million rounds, as in estimator_bench.cc, with OBP."""

from measure import attempt, best_milliseconds, report


def measure():
    import numpy
    from obp.ope import InverseProbabilityWeighting, SelfNormalizedInverseProbabilityWeighting
    from obp.utils import estimate_confidence_interval_by_bootstrap

    rounds = 1_000_000
    rng = numpy.random.default_rng(1)
    first = numpy.clip(0.5 + 0.02 * rng.standard_normal(rounds), 0.1, 0.9)
    log = {"reward": rng.standard_normal(rounds), "action": rng.integers(2, size=rounds),
           "pscore": numpy.full(rounds, 0.5), "position": numpy.zeros(rounds, dtype=int),
           "action_dist": numpy.stack([first, 1.0 - first], axis=1)[:, :, None]}
    for name, estimator in (("is", InverseProbabilityWeighting()),
                            ("wis", SelfNormalizedInverseProbabilityWeighting())):
        report("OBP", "obp", f"bandit {name}",
               best_milliseconds(lambda: estimator.estimate_policy_value(**log), rounds=5))
    values = rng.standard_normal(10_000)
    report("OBP", "obp", "bootstrap is", best_milliseconds(
        lambda: estimate_confidence_interval_by_bootstrap(values, n_bootstrap_samples=10_000,
                                                          random_state=1), rounds=1))


attempt("OBP", measure)
