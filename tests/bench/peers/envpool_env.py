"""Environment steps of env_bench.cc with EnvPool: one environment, and eight on one thread."""

from measure import attempt, report, step_milliseconds


def measure():
    import envpool
    import numpy

    for count in (1, 8):
        for name in ("Swimmer", "HalfCheetah", "HumanoidStandup", "Hopper", "Walker2d", "Ant"):
            env = envpool.make(f"{name}-v4", env_type="gymnasium", num_envs=count, num_threads=1)
            space = env.action_space
            actions = numpy.random.default_rng(1).uniform(
                space.low, space.high, (200, count) + space.shape)

            report(f"EnvPool, {count} at a time", "envpool", f"environment {name}",
                   step_milliseconds(env.reset, env.step, actions) / count)


attempt("EnvPool", measure)
