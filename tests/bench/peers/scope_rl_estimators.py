"""Importance sampling of estimator_bench.cc and its bootstrap with SCOPE-RL: two actions."""

from measure import attempt, best_milliseconds, report


def measure():
    import numpy
    import scope_rl.ope.discrete as tools
    from scope_rl.utils import estimate_confidence_interval_by_bootstrap

    episodes, steps = 10_000, 100
    rng = numpy.random.default_rng(1)
    chosen = rng.integers(2, size=episodes * steps)
    behavior = numpy.full(episodes * steps, 0.5)
    first = numpy.clip(0.5 + 0.02 * rng.standard_normal(episodes * steps), 0.1, 0.9)
    log = {"step_per_trajectory": steps, "action": chosen,
           "reward": rng.standard_normal(episodes * steps), "pscore": behavior,
           "evaluation_policy_action_dist": numpy.stack([first, 1.0 - first], axis=1),
           "gamma": 0.99}
    for name, estimator in (
            ("is", tools.TrajectoryWiseImportanceSampling()),
            ("wis", tools.SelfNormalizedTIS()),
            ("pdis", tools.PerDecisionImportanceSampling()),
            ("wpdis", tools.SelfNormalizedPDIS())):
        report("SCOPE-RL", "scope-rl", f"checked {name}",
               best_milliseconds(lambda: estimator.estimate_policy_value(**log), rounds=5))
    values = rng.standard_normal(episodes)
    report("SCOPE-RL", "scope-rl", "bootstrap is", best_milliseconds(
        lambda: estimate_confidence_interval_by_bootstrap(values, n_bootstrap_samples=10_000,
                                                          random_state=1), rounds=1))


attempt("SCOPE-RL", measure)
