"""Environment steps of env_bench.cc with EnvPool: one environment, and eight on one thread."""

from measure import attempt, best_milliseconds, report


def measure():
    import envpool
    import numpy

    for count in (1, 8):
        for name in ("Swimmer", "HalfCheetah", "HumanoidStandup", "Hopper", "Walker2d", "Ant"):
            env = envpool.make(f"{name}-v4", env_type="gymnasium", num_envs=count, num_threads=1)
            space = env.action_space
            actions = numpy.random.default_rng(1).uniform(
                space.low, space.high, (200, count) + space.shape)

            def episode():
                env.reset()
                for action in actions:
                    env.step(action)

            report(f"EnvPool, {count} at a time", "envpool", f"environment {name}",
                   best_milliseconds(episode, rounds=20 // count) / len(actions) / count)


attempt("EnvPool", measure)
