#!/usr/bin/env python3
"""Exports policies of Python libraries for lfiw: a TorchScript module and its contract.

  export_policy.py sb3 AGENT.zip OUT.pt [--algo ppo] [--vecnormalize vecnormalize.pkl]
  export_policy.py cleanrl CHECKPOINT OUT.pt [--activation tanh] [--normalizer stats.npz]
  export_policy.py d3rlpy MODEL.d3 OUT.pt

Writes OUT.pt and OUT.yaml, which `lfiw check-policy OUT.pt --data LOG` reads. Run it where the
policy was trained: it needs that library and PyTorch. Loading the original files unpickles them,
which runs code: use files that you trust.
"""

import argparse
import pathlib

import torch
from torch import nn


class MeanNetwork(nn.Module):
    """The layers from observations to the outputs that the contract names, and no more."""

    def __init__(self, *layers, low=None, high=None):
        super().__init__()
        self.layers = nn.Sequential(*layers)
        # bounds that actions in [-1, 1] are taken to, if there are any
        self.scaled = low is not None
        self.register_buffer("low", torch.as_tensor(low if self.scaled else []).float())
        self.register_buffer("high", torch.as_tensor(high if self.scaled else []).float())

    def forward(self, observations):
        outputs = self.layers(observations)
        if not self.scaled:
            return outputs
        return self.low + 0.5 * (outputs + 1.0) * (self.high - self.low)


class TwoHeads(nn.Module):
    """A trunk with a head for the mean and one for the log deviation."""

    def __init__(self, trunk, mean, log_std, log_std_map=None):
        super().__init__()
        self.trunk, self.mean, self.log_std = trunk, mean, log_std
        self.log_std_map = log_std_map or nn.Identity()

    def forward(self, observations):
        hidden = self.trunk(observations)
        return torch.cat([self.mean(hidden), self.log_std_map(self.log_std(hidden))], 1)


class SquashedRange(nn.Module):
    """CleanRL's SAC: tanh, then linearly to [low, high]."""

    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high

    def forward(self, x):
        return self.low + 0.5 * (self.high - self.low) * (torch.tanh(x) + 1.0)


def floats(values):
    return [float(x) for x in torch.as_tensor(values).flatten()]


def statistics(mean, variance, epsilon, clip):
    return {"mean": floats(mean), "variance": floats(variance), "epsilon": float(epsilon),
            "clip": float(clip)}


def yaml_text(value):
    """Enough of YAML for a contract."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {yaml_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(yaml_text(v) for v in value) + "]"
    return repr(value) if isinstance(value, float) else str(value)


def write(module, contract, out):
    """Traces the module on the CPU, compares it with the original and writes both files."""
    module = module.cpu().float().eval()
    inputs = contract["obs_dim"] + (1 if contract.get("time_feature_steps") else 0)
    example = torch.randn(3, inputs)
    traced = torch.jit.trace(module, example)
    if not torch.allclose(traced(example[:1]), module(example[:1]), atol=1e-6):
        raise SystemExit("the traced module differs from the original one")
    traced.save(str(out))
    lines = [f"{key}: {yaml_text(value)}" for key, value in contract.items()]
    out.with_suffix(".yaml").write_text("\n".join(lines) + "\n")
    print(f"{out} and {out.with_suffix('.yaml')}: {contract['output']}, "
          f"{contract['obs_dim']} observations, {contract['action_dim']} actions")


def export_sb3(options):
    import stable_baselines3
    try:
        import sb3_contrib
    except ImportError:
        sb3_contrib = None
    name = options.algo.upper()
    algorithm = getattr(stable_baselines3, name, None) or getattr(sb3_contrib, name, None)
    if algorithm is None:
        raise SystemExit(f"no algorithm {name} in stable_baselines3 or sb3_contrib")
    agent = algorithm.load(options.policy, device="cpu")
    module, contract = sb3_parts(agent)
    if options.vecnormalize:
        contract["normalizer"] = sb3_normalizer(options.vecnormalize)
    steps = options.time_feature_steps
    if steps:
        contract["obs_dim"] -= 1
        contract["time_feature_steps"] = steps
    write(module, contract, options.out)


def sb3_parts(agent):
    policy, space = agent.policy, agent.action_space
    contract = {"obs_dim": int(agent.observation_space.shape[0])}
    if hasattr(policy, "lstm_actor"):
        raise SystemExit("a recurrent policy keeps a state between steps, which lfiw does not")
    if hasattr(space, "n"):
        contract.update(action_dim=int(space.n), output="logits")
    else:
        contract.update(action_dim=int(space.shape[0]), output="mean")
    if hasattr(policy, "action_net"):  # PPO, A2C, TRPO
        trunk = getattr(policy, "pi_features_extractor", policy.features_extractor)
        if contract["output"] == "mean" and agent.use_sde:
            contract["output"] = "action"  # gSDE: the density is not that of a fixed deviation
        elif contract["output"] == "mean":
            contract["log_std"] = floats(policy.log_std.detach())
        layers = (trunk, policy.mlp_extractor.policy_net, policy.action_net)
        return MeanNetwork(*layers), contract
    actor = getattr(policy, "actor", None)
    if actor is None or contract["output"] == "logits":
        raise SystemExit(f"{type(policy).__name__} has no actor that could be exported")
    if hasattr(actor, "log_std") and not agent.use_sde:  # SAC
        contract.update(output="mean_log_std", squash="tanh", log_std_range=[-20.0, 2.0],
                        action_low=floats(space.low), action_high=floats(space.high))
        trunk = nn.Sequential(actor.features_extractor, actor.latent_pi)
        return TwoHeads(trunk, actor.mu, actor.log_std), contract
    contract["output"] = "action"  # TD3, DDPG, and SAC with gSDE
    layers = [actor.features_extractor]
    if hasattr(actor, "latent_pi"):
        layers.append(actor.latent_pi)
    layers.append(actor.mu)
    if hasattr(actor, "log_std"):
        layers.append(nn.Tanh())
    return MeanNetwork(*layers, low=space.low, high=space.high), contract


def sb3_normalizer(path):
    import pickle
    with open(path, "rb") as file:
        normalize = pickle.load(file)
    return statistics(normalize.obs_rms.mean, normalize.obs_rms.var, normalize.epsilon,
                      normalize.clip_obs)


def linear(state, name):
    """The linear layer of a state dict."""
    weight = state[name + ".weight"]
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.load_state_dict({"weight": weight, "bias": state[name + ".bias"]})
    return layer


def export_cleanrl(options):
    state = torch.load(options.policy, map_location="cpu")
    if isinstance(state, (tuple, list)):  # SAC and TD3 save (actor, critic, ...)
        state = state[0]
    if isinstance(state, nn.Module):
        state = state.state_dict()
    if "fc_mean.weight" in state:
        module, contract = cleanrl_sac(state)
    else:
        module, contract = cleanrl_ppo(state, options.activation)
    if options.normalizer:
        import numpy
        stats = numpy.load(options.normalizer)
        variance = stats["var"] if "var" in stats else stats["variance"]
        contract["normalizer"] = statistics(stats["mean"], variance, 1e-8, 10.0)
    write(module, contract, options.out)


def cleanrl_ppo(state, activation):
    names = sorted({k.rsplit(".", 1)[0] for k in state if k.startswith("actor_mean.")},
                   key=lambda name: int(name.split(".")[1]))
    prefix = "actor_mean"
    if not names:  # discrete actions
        names = sorted({k.rsplit(".", 1)[0] for k in state if k.startswith("actor.")},
                       key=lambda name: int(name.split(".")[1]))
        prefix = "actor"
    if not names:
        raise SystemExit("no layers named actor_mean.N, actor.N or fc_mean in the checkpoint")
    layers = [linear(state, names[0])]
    for name in names[1:]:
        layers += [{"tanh": nn.Tanh, "relu": nn.ReLU}[activation](), linear(state, name)]
    contract = {"obs_dim": layers[0].in_features, "action_dim": layers[-1].out_features,
                "output": "mean" if prefix == "actor_mean" else "logits"}
    if prefix == "actor_mean":
        contract["log_std"] = floats(state["actor_logstd"])
    return MeanNetwork(*layers), contract


def cleanrl_sac(state):
    trunk = nn.Sequential(linear(state, "fc1"), nn.ReLU(), linear(state, "fc2"), nn.ReLU())
    mean, log_std = linear(state, "fc_mean"), linear(state, "fc_logstd")
    scale, bias = state["action_scale"].flatten(), state["action_bias"].flatten()
    contract = {"obs_dim": trunk[0].in_features, "action_dim": mean.out_features,
                "output": "mean_log_std", "squash": "tanh", "log_std_range": [-5.0, 2.0],
                "action_low": floats(bias - scale), "action_high": floats(bias + scale)}
    return TwoHeads(trunk, mean, log_std, SquashedRange(-5.0, 2.0)), contract


def export_d3rlpy(options):
    import d3rlpy
    algo = d3rlpy.load_learnable(options.policy, device="cpu:0")
    algo.save_policy(str(options.out))  # actions without noise, scalers included
    contract = {"obs_dim": int(algo.observation_shape[0]), "action_dim": int(algo.action_size),
                "output": "action"}
    lines = [f"{key}: {yaml_text(value)}" for key, value in contract.items()]
    options.out.with_suffix(".yaml").write_text("\n".join(lines) + "\n")
    print(f"{options.out}: action, {contract['obs_dim']} observations")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    libraries = parser.add_subparsers(required=True)
    for name, export in (("sb3", export_sb3), ("cleanrl", export_cleanrl),
                         ("d3rlpy", export_d3rlpy)):
        library = libraries.add_parser(name)
        library.add_argument("policy", type=pathlib.Path)
        library.add_argument("out", type=pathlib.Path, help="module to write (.pt)")
        library.set_defaults(export=export)
        if name == "sb3":
            library.add_argument("--algo", default="ppo")
            library.add_argument("--vecnormalize", help="pickle of VecNormalize")
            library.add_argument("--time-feature-steps", type=int, default=0,
                                 help="of TimeFeatureWrapper, if the agent was trained behind it")
        if name == "cleanrl":
            library.add_argument("--activation", default="tanh", choices=("tanh", "relu"))
            library.add_argument("--normalizer", help=".npz with mean and var of NormalizeObservation")
    options = parser.parse_args()
    options.export(options)


if __name__ == "__main__":
    main()
