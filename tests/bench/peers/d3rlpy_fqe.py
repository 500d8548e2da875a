"""Steps of fitted Q evaluation of fqe_bench.cc with d3rlpy, drawing of the batch included."""

from measure import attempt, best_milliseconds, report


def measure():
    import d3rlpy
    import numpy
    import torch

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    rng = numpy.random.default_rng(1)
    steps, batch = 2000, 256
    ends = numpy.zeros(steps)
    ends[99::100] = 1.0
    data = d3rlpy.dataset.MDPDataset(
        observations=rng.standard_normal((steps, 17)).astype("float32"),
        actions=rng.uniform(-1.0, 1.0, (steps, 6)).astype("float32"),
        rewards=rng.standard_normal(steps).astype("float32"), terminals=ends)
    actor = d3rlpy.models.VectorEncoderFactory(hidden_units=[64, 64], activation="tanh")
    policy = d3rlpy.algos.TD3Config(actor_encoder_factory=actor).create(device="cpu:0")
    policy.build_with_dataset(data)
    critic = d3rlpy.models.VectorEncoderFactory(hidden_units=[256, 256])
    fqe = d3rlpy.ope.FQE(algo=policy, config=d3rlpy.ope.FQEConfig(
        batch_size=batch, encoder_factory=critic, n_critics=1))
    fqe.build_with_dataset(data)
    report("d3rlpy", "d3rlpy", "fqe",
           best_milliseconds(lambda: fqe.update(data.sample_transition_batch(batch)), 100))


attempt("d3rlpy", measure)
