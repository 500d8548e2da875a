"""Environment steps of env_bench.cc with Gymnasium: episodes of 200 random actions.

Besides, the same steps by the MuJoCo that it brings, which is another one than lfiw's.
"""

from measure import attempt, report, step_milliseconds


def measure():
    import gymnasium
    import mujoco

    tool = f"Gymnasium (MuJoCo {mujoco.__version__})"
    for name in ("Swimmer", "HalfCheetah", "HumanoidStandup", "Hopper", "Walker2d", "Ant"):
        env = gymnasium.make(f"{name}-v5").unwrapped
        env.action_space.seed(1)
        actions = [env.action_space.sample() for _ in range(200)]

        def physics(action):
            env.data.ctrl[:] = action
            mujoco.mj_step(env.model, env.data, nstep=env.frame_skip)
            mujoco.mj_rnePostConstraint(env.model, env.data)

        report(tool, "gymnasium", f"environment {name}",
               step_milliseconds(lambda: env.reset(seed=1), env.step, actions))
        report("MuJoCo", "mujoco", f"physics {name}",
               step_milliseconds(lambda: mujoco.mj_resetData(env.model, env.data), physics, actions))


attempt("Gymnasium", measure)
