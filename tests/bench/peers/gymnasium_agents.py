#!/usr/bin/env python3
"""Evaluates agents of Stable-Baselines3 from logs of their younger selves and holds the answers against Gymnasium.

  gymnasium_agents.py LFIW FOLDER [TASK ...]

trains what FOLDER lacks, writes logs, runs `LFIW evaluate` with all defaults and without naming the environment (so that
dynamics, rewards and ends are learned from the log), measures the true returns in Gymnasium, and prints the table
of docs/results/verdict.md. All is resumable: what FOLDER holds is not made again.

Needs gymnasium, mujoco and stable-baselines3 from PyPI.
"""

import json
import os
import pathlib
import subprocess
import sys

import gymnasium
import numpy
import stable_baselines3
import torch

EXPORT = pathlib.Path(__file__).resolve().parents[3] / "policies" / "export"
EPISODES, TRUE_EPISODES = 150, 300

# Task: horizon, gradient options, snapshots of one training in environment steps. The first snapshot writes the log,
# the others are evaluated.
AGENTS = {
    "InvertedPendulum-v5": (300, dict(n_steps=1024), [8_192, 30_720]),
    "Pendulum-v1": (200, dict(n_steps=1024, gamma=0.9, learning_rate=1e-3), [28_672, 49_152, 81_920]),
    "CartPole-v1": (200, dict(n_steps=512), [6_144, 12_288, 40_960]),
    "HalfCheetah-v5": (200, dict(n_steps=2048), [61_440, 122_880]),
    "Hopper-v5": (200, dict(n_steps=2048), [40_960, 61_440]),
    "Reacher-v5": (50, dict(n_steps=2048), [40_960, 102_400]),
}
# Hand-written rules on Acrobot: the log is of the first, which acts at random every second time.
RULES = {
    "noisy": "where(noise[:, 0] < 0, 1 + sign(observations[:, 5]), 1 + sign(noise[:, 1]))",
    "with_joint_2": "1 + sign(observations[:, 5])",
    "with_joint_1": "1 + sign(observations[:, 4])",
    "against_joint_2": "1 - sign(observations[:, 5])",
}
RULE_FILE = """
import sys
sys.path.insert(0, {export!r})
from serve_policy import serve
from numpy import sign, where
serve(lambda observations, noise, steps: {rule}, obs_dim=6, action_dim=3, noise_dim=2, discrete=True)
"""


def run(task, act, episodes, horizon, seed):
    """Yields observations [T + 1, d], actions [T, ...], rewards [T] and whether the episode ended by itself."""
    environment = gymnasium.make(task)
    for episode in range(episodes):
        observation, _ = environment.reset(seed=100_000 * seed + episode)
        observations, actions, rewards, ended = [observation], [], [], False
        while len(rewards) < horizon and not ended:
            action = act(observation)
            if isinstance(environment.action_space, gymnasium.spaces.Box):
                action = numpy.clip(action, environment.action_space.low, environment.action_space.high)
            observation, reward, ended, cut, _ = environment.step(action)
            observations.append(observation)
            actions.append(action)
            rewards.append(reward)
            if cut:
                break
        yield numpy.array(observations), numpy.array(actions), numpy.array(rewards), ended


def write_log(path, task, act, horizon):
    observations, actions, rewards, ended = zip(*run(task, act, EPISODES, horizon, seed=1))
    numpy.savez_compressed(
        path,
        observations=numpy.concatenate(observations).astype("f4"),
        actions=numpy.concatenate(actions).astype("f4" if actions[0].ndim == 2 else "i8"),
        rewards=numpy.concatenate(rewards).astype("f8"),
        offsets=numpy.cumsum([0] + [len(r) for r in rewards]).astype("i8"),
        terminated=numpy.array(ended).astype("u1"))


def truth(path, task, act, horizon):
    if not path.exists():
        returns = [float(r.sum()) for _, _, r, _ in run(task, act, TRUE_EPISODES, horizon, seed=2)]
        path.write_text(json.dumps([numpy.mean(returns), numpy.std(returns, ddof=1) / len(returns) ** 0.5]))
    return json.loads(path.read_text())


def agent_cases(folder, task):
    """Yields the log's horizon, file and policy, and for each evaluated policy its name, argument and true return."""
    horizon, options, snapshots = AGENTS[task]
    files = [folder / f"{task}_{steps}.zip" for steps in snapshots]
    if not all(file.exists() for file in files):
        agent = stable_baselines3.PPO("MlpPolicy", task, seed=0, device="cpu", **options)
        done = 0
        for steps, file in zip(snapshots, files):
            agent.learn(steps - done, reset_num_timesteps=done == 0)
            agent.save(file)
            done = steps

    def act_of(file):
        agent = stable_baselines3.PPO.load(file, device="cpu")
        torch.manual_seed(int(file.stem.rsplit("_", 1)[1]))
        return lambda observation: agent.predict(observation, deterministic=False)[0]

    log = folder / f"{task}.npz"
    if not log.exists():
        write_log(log, task, act_of(files[0]), horizon)
    for file in files[1:]:
        yield horizon, log, str(files[0]), file.stem, str(file), truth(
            file.with_suffix(".truth"), task, act_of(file), horizon)


def rule_cases(folder):
    task, horizon = "Acrobot-v1", 200
    commands = {}
    for name, rule in RULES.items():
        file = folder / f"acrobot_{name}.py"
        file.write_text(RULE_FILE.format(export=str(EXPORT), rule=rule))
        commands[name] = f"exec:{sys.executable} {file}"

    def act_of(name):
        random = numpy.random.default_rng(3)
        known = {"sign": numpy.sign, "where": numpy.where}
        code = compile(RULES[name], name, "eval")
        return lambda observation: int(
            eval(code, known, {"observations": observation[None], "noise": random.standard_normal((1, 2))})[0])

    log = folder / f"{task}.npz"
    if not log.exists():
        write_log(log, task, act_of("noisy"), horizon)
    for name in list(RULES)[1:]:
        yield horizon, log, commands["noisy"], f"{task} {name}", commands[name], truth(
            folder / f"acrobot_{name}.truth", task, act_of(name), horizon)


def evaluate(program, folder, horizon, log, behavior, name, policy):
    answer = folder / f"{name.replace(' ', '_')}.json"
    if not answer.exists():
        text = subprocess.run(
            [program, "evaluate", "--data", log, "--policy", policy, "--behavior", behavior, "--horizon", str(horizon),
             "--cache", folder / "cache", "--out", folder / f"run_{answer.stem}", "--json"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        answer.write_bytes(text)
    return json.loads(answer.read_text())


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__.strip())
    program, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    print("| policy | truth | lfiw | 95 % | verdict | holds |\n| --- | --- | --- | --- | --- | --- |")
    for task in sys.argv[3:] or [*AGENTS, "Acrobot-v1"]:
        cases = rule_cases(folder) if task == "Acrobot-v1" else agent_cases(folder, task)
        for horizon, log, behavior, name, policy, (mean, error) in cases:
            stated = evaluate(program, folder, horizon, log, behavior, name, policy)["stated"][0]
            low, high = stated["ci_low"], stated["ci_high"]
            holds = low - 1.96 * error <= mean <= high + 1.96 * error
            print(f"| {name} | {mean:.1f} ± {error:.1f} | {stated['value']:.1f} | [{low:.1f}, {high:.1f}] | "
                  f"{stated['verdict']} | {'yes' if holds else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
