"""PPO of ppo_bench.cc with Stable-Baselines3: both have the defaults of the baselines."""

import time

from measure import attempt, report


def measure():
    import gymnasium
    import torch
    from stable_baselines3 import PPO

    torch.set_num_threads(1)
    for name in ("HalfCheetah", "Swimmer"):
        steps = 4 * 2048
        model = PPO("MlpPolicy", gymnasium.make(f"{name}-v5"), device="cpu", seed=1)
        begin = time.process_time()
        model.learn(steps)
        report("Stable-Baselines3", "stable-baselines3", f"ppo {name}",
               1e3 * (time.process_time() - begin) / steps)


attempt("Stable-Baselines3", measure)
