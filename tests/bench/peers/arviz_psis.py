"""Pareto smoothing of estimator_bench.cc with ArviZ."""

from measure import attempt, best_milliseconds, report


def measure():
    import arviz
    import numpy

    rng = numpy.random.default_rng(1)
    for count in (100_000, 1_000_000):
        log_weights = rng.standard_normal(count)
        report("ArviZ", "arviz", f"psis {count}",
               best_milliseconds(lambda: arviz.psislw(log_weights), rounds=5))


attempt("ArviZ", measure)
