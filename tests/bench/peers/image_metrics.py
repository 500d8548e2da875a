"""FID and KID of gof_bench.cc from features, with torch-fidelity and clean-fid.

The features are 10,000 x 2048, KID has ten blocks of 1000.
"""

import time

from measure import attempt, report


def features():
    import numpy

    rng = numpy.random.default_rng(1)
    return [rng.standard_normal((10_000, 2048)).astype("float32") for _ in range(2)]


def milliseconds(function):
    begin = time.process_time()
    function()
    return 1e3 * (time.process_time() - begin)


def measure_fidelity():
    import torch
    from torch_fidelity.metric_fid import fid_features_to_statistics, fid_statistics_to_metric
    from torch_fidelity.metric_kid import kid_features_to_metric

    torch.set_num_threads(1)
    real, made = (torch.from_numpy(values) for values in features())
    report("torch-fidelity", "torch-fidelity", "fid", milliseconds(
        lambda: fid_statistics_to_metric(fid_features_to_statistics(real),
                                         fid_features_to_statistics(made), False)))
    report("torch-fidelity", "torch-fidelity", "kid", milliseconds(
        lambda: kid_features_to_metric(real, made, kid_subsets=10, kid_subset_size=1000,
                                       kid_kernel="poly", verbose=False)))


def measure_clean():
    from cleanfid import fid

    real, made = features()
    report("clean-fid", "clean-fid", "kid", milliseconds(
        lambda: fid.kernel_distance(real, made, num_subsets=10, max_subset_size=1000)))
    report("clean-fid", "clean-fid", "fid", milliseconds(lambda: fid.fid_from_feats(real, made)))


attempt("torch-fidelity", measure_fidelity)
attempt("clean-fid", measure_clean)
