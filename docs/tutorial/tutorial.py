#!/usr/bin/env python3
"""The Python part of docs/tutorial.md: an agent of Stable-Baselines3 on Pendulum of Gymnasium.

  tutorial.py train    trains one PPO agent; old.zip is how it was early on, new.zip its end
  tutorial.py log      writes episodes of the old agent to log.npz, as lfiw reads them
  tutorial.py truth    runs both agents in Gymnasium and prints their mean returns

Tried with gymnasium 1.4.0, stable-baselines3 2.9.2 and torch 2.15.0.
"""

import sys

import gymnasium
import numpy
import stable_baselines3
import torch

TASK = "Pendulum-v1"
OLD_STEPS, NEW_STEPS = 28_672, 81_920
LOGGED_EPISODES, TRUE_EPISODES = 200, 200


def train():
    agent = stable_baselines3.PPO(
        "MlpPolicy", TASK, gamma=0.9, learning_rate=1e-3, n_steps=1024, seed=0, device="cpu")
    agent.learn(OLD_STEPS)
    agent.save("old.zip")
    agent.learn(NEW_STEPS - OLD_STEPS, reset_num_timesteps=False)
    agent.save("new.zip")


def run(agent, episodes, seed):
    """Yields observations [T + 1, 3], actions [T, 1] and rewards [T] of episodes with the agent's noise."""
    environment = gymnasium.make(TASK)
    low, high = environment.action_space.low, environment.action_space.high
    torch.manual_seed(seed)
    for episode in range(episodes):
        observation, _ = environment.reset(seed=1000 * seed + episode)
        observations, actions, rewards = [observation], [], []
        terminated = truncated = False
        while not (terminated or truncated):
            drawn, _ = agent.predict(observation, deterministic=False)
            action = numpy.clip(drawn, low, high)  # what the environment executes
            observation, reward, terminated, truncated, _ = environment.step(action)
            observations.append(observation)
            actions.append(action)
            rewards.append(reward)
        yield numpy.array(observations), numpy.array(actions), numpy.array(rewards), terminated


def log():
    episodes = list(run(stable_baselines3.PPO.load("old.zip", device="cpu"), LOGGED_EPISODES, seed=1))
    lengths = [len(rewards) for _, _, rewards, _ in episodes]
    numpy.savez_compressed(
        "log.npz",
        observations=numpy.concatenate([o for o, _, _, _ in episodes]).astype("f4"),
        actions=numpy.concatenate([a for _, a, _, _ in episodes]).astype("f4"),
        rewards=numpy.concatenate([r for _, _, r, _ in episodes]).astype("f8"),
        offsets=numpy.cumsum([0, *lengths]).astype("i8"),
        terminated=numpy.array([t for _, _, _, t in episodes]).astype("u1"),
        environment=numpy.array(TASK))


def truth():
    for name in ("old", "new"):
        agent = stable_baselines3.PPO.load(f"{name}.zip", device="cpu")
        returns = [rewards.sum() for _, _, rewards, _ in run(agent, TRUE_EPISODES, seed=2)]
        error = numpy.std(returns, ddof=1) / numpy.sqrt(len(returns))
        print(f"{name}: {numpy.mean(returns):.1f} +- {error:.1f} ({len(returns)} episodes)")


if __name__ == "__main__":
    torch.set_num_threads(1)
    steps = {"train": train, "log": log, "truth": truth}
    if len(sys.argv) != 2 or sys.argv[1] not in steps:
        raise SystemExit(__doc__.strip())
    steps[sys.argv[1]]()
