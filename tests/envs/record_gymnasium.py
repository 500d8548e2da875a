#!/usr/bin/env python3
"""Records what Gymnasium's MuJoCo environments do, as references for the tests of envs.

Runs Gymnasium's own Python classes and models on the MuJoCo that lfiw is built with: in place of the
package `mujoco` stands a module that calls the installed library through record_gymnasium.c, since
there is no wheel of MuJoCo 2.2.2 for current versions of Python. With --wheel the package is used,
to see in what its version differs.

    python3 -m venv venv && venv/bin/pip install gymnasium numpy
    venv/bin/python tests/envs/record_gymnasium.py tests/envs/data/gymnasium

Writes NAME.json, an episode of random actions of each environment and of variants with other
arguments of gymnasium.make, and NAME.model.json, the constants of each compiled model. Every file
names the versions of Gymnasium and MuJoCo.
"""

import argparse
import ctypes
import importlib.machinery
import json
import pathlib
import subprocess
import sys
import tempfile
import types

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent

# Environment, most steps, arguments of gymnasium.make.
EPISODES = [
    ("Swimmer-v4", 20, {}),
    ("Swimmer-v5", 20, {}),
    ("HalfCheetah-v4", 20, {}),
    ("HalfCheetah-v5", 20, {}),
    ("Hopper-v4", 100, {}),
    ("Hopper-v5", 100, {}),
    ("Walker2d-v4", 100, {}),
    ("Walker2d-v5", 100, {}),
    ("Ant-v4", 60, {}),
    ("Ant-v5", 60, {}),
    ("Humanoid-v4", 14, {}),
    ("Humanoid-v5", 14, {}),
    ("HumanoidStandup-v4", 8, {}),
    ("HumanoidStandup-v5", 8, {}),
    ("Reacher-v4", 50, {}),
    ("Reacher-v5", 50, {}),
    ("Pusher-v4", 60, {}),
    ("Pusher-v5", 60, {}),
    ("InvertedPendulum-v4", 30, {}),
    ("InvertedPendulum-v5", 30, {}),
    ("InvertedDoublePendulum-v4", 30, {}),
    ("InvertedDoublePendulum-v5", 30, {}),
    # the form of versions 2 and 3
    ("Ant-v4", 60, {"use_contact_forces": True}),
    # other arguments
    ("Swimmer-v5", 10, {"exclude_current_positions_from_observation": False, "frame_skip": 2,
                        "forward_reward_weight": 2.0, "ctrl_cost_weight": 0.5}),
    ("HalfCheetah-v5", 10, {"exclude_current_positions_from_observation": False,
                            "ctrl_cost_weight": 0.3}),
    ("Hopper-v4", 60, {"terminate_when_unhealthy": False, "healthy_reward": 2.0,
                       "exclude_current_positions_from_observation": False}),
    ("Hopper-v5", 60, {"healthy_z_range": [1.1, 1.3], "healthy_state_range": [-4.0, 6.0],
                       "healthy_angle_range": [-0.1, 0.3], "terminate_when_unhealthy": False,
                       "frame_skip": 3}),
    ("Walker2d-v5", 60, {"terminate_when_unhealthy": False, "healthy_reward": 0.5,
                         "exclude_current_positions_from_observation": False}),
    ("Ant-v4", 30, {"use_contact_forces": True, "contact_force_range": [-0.5, 2.0],
                    "contact_cost_weight": 0.01,
                    "exclude_current_positions_from_observation": False}),
    ("Ant-v5", 40, {"include_cfrc_ext_in_observation": False, "healthy_z_range": [0.5, 0.9],
                    "forward_reward_weight": 3.0}),
    ("Humanoid-v4", 20, {"healthy_z_range": [1.25, 2.0]}),
    ("Humanoid-v5", 25, {"include_cinert_in_observation": False, "contact_cost_weight": 1e-4,
                         "healthy_z_range": [1.3, 2.0],
                         "include_cvel_in_observation": False, "contact_cost_range": [-1.0, 3.0],
                         "exclude_current_positions_from_observation": False}),
    ("HumanoidStandup-v5", 8, {"include_qfrc_actuator_in_observation": False,
                               "include_cinert_in_observation": False,
                               "include_cfrc_ext_in_observation": False,
                               "impact_cost_weight": 1e-5, "ctrl_cost_weight": 2.0}),
    ("Reacher-v5", 20, {"reward_dist_weight": 2.0, "reward_control_weight": 0.1}),
    ("Pusher-v5", 20, {"reward_near_weight": 1.5, "reward_dist_weight": 0.2,
                       "reward_control_weight": 0.3}),
    ("InvertedPendulum-v5", 20, {"reset_noise_scale": 0.1}),
    ("InvertedDoublePendulum-v5", 20, {"healthy_reward": 3.0, "reset_noise_scale": 0.2}),
]

# Name of a recording of constants, and an environment whose model it is.
MODELS = {
    "swimmer": "Swimmer-v5",
    "half_cheetah": "HalfCheetah-v5",
    "hopper": "Hopper-v5",
    "walker2d": "Walker2d-v4",
    "walker2d_v5": "Walker2d-v5",
    "ant": "Ant-v5",
    "humanoid": "Humanoid-v5",
    "humanoid_standup": "HumanoidStandup-v5",
    "reacher": "Reacher-v5",
    "pusher": "Pusher-v4",
    "pusher_v5": "Pusher-v5",
    "inverted_pendulum": "InvertedPendulum-v5",
    "inverted_double_pendulum": "InvertedDoublePendulum-v5",
}

BODY_FIELDS = ["parentid", "pos", "quat", "ipos", "iquat", "mass", "inertia"]
JOINT_FIELDS = ["type", "bodyid", "pos", "axis", "limited", "range", "stiffness", "margin",
                "solref", "solimp"]
GEOM_FIELDS = ["type", "bodyid", "contype", "conaffinity", "condim", "size", "pos", "quat",
               "friction", "margin", "gap", "solmix", "solref", "solimp"]


class FieldStruct(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("data", ctypes.c_void_p),
                ("rows", ctypes.c_long), ("cols", ctypes.c_long)]


def arrays_of(fields, count):
    """Views of the arrays that a table of fields names."""
    types_of = {b"mjtNum": ctypes.c_double, b"int": ctypes.c_int, b"mjtByte": ctypes.c_ubyte}
    arrays = {}
    for field in fields[:count]:
        size = field.rows * field.cols
        if field.type not in types_of:
            continue
        if field.data is None or size == 0:
            arrays[field.name.decode()] = np.zeros(0)
            continue
        pointer = ctypes.cast(field.data, ctypes.POINTER(types_of[field.type]))
        array = np.ctypeslib.as_array(pointer, (size,))
        one_number = field.cols == 1
        arrays[field.name.decode()] = array if one_number else array.reshape(field.rows, -1)
    return arrays


class InstalledMujoco(types.ModuleType):
    """What Gymnasium calls of the package `mujoco`, by the installed library."""

    def __init__(self):
        super().__init__("mujoco")
        self.__spec__ = importlib.machinery.ModuleSpec("mujoco", None)
        folder = tempfile.mkdtemp()
        shim = folder + "/record_gymnasium.so"
        subprocess.run(["cc", "-std=gnu11", "-shared", "-fPIC", "-o", shim,
                        HERE / "record_gymnasium.c", "-Wl,--no-as-needed", "-lmujoco"], check=True)
        shim = self.shim = ctypes.CDLL(shim)
        pointer = ctypes.c_void_p
        for name, result, arguments in [
                ("mj_loadXML", pointer, [ctypes.c_char_p, pointer, ctypes.c_char_p, ctypes.c_int]),
                ("mj_makeData", pointer, [pointer]),
                ("mj_step", None, [pointer, pointer]),
                ("mj_forward", None, [pointer, pointer]),
                ("mj_resetData", None, [pointer, pointer]),
                ("mj_rnePostConstraint", None, [pointer, pointer]),
                ("mj_name2id", ctypes.c_int, [pointer, ctypes.c_int, ctypes.c_char_p]),
                ("mj_id2name", ctypes.c_char_p, [pointer, ctypes.c_int, ctypes.c_int]),
                ("mj_versionString", ctypes.c_char_p, []),
                ("model_fields", ctypes.c_int, [pointer, pointer]),
                ("data_fields", ctypes.c_int, [pointer, pointer, pointer]),
                ("model_size", ctypes.c_int, [pointer, ctypes.c_char_p]),
                ("option_numbers", None, [pointer, pointer]),
                ("option_choices", None, [pointer, pointer])]:
            function = getattr(shim, name)
            function.restype, function.argtypes = result, arguments
        self.__version__ = shim.mj_versionString().decode()
        module = self

        class MjModel:
            @staticmethod
            def from_xml_path(path):
                return MjModel(path)

            def __init__(self, path):
                error = ctypes.create_string_buffer(1000)
                self.pointer = shim.mj_loadXML(path.encode(), None, error, 1000)
                assert self.pointer, error.value
                fields = (FieldStruct * 500)()
                self.arrays = arrays_of(fields, shim.model_fields(self.pointer, fields))
                numbers, choices = (ctypes.c_double * 8)(), (ctypes.c_int * 6)()
                shim.option_numbers(self.pointer, numbers)
                shim.option_choices(self.pointer, choices)
                self.opt = types.SimpleNamespace(timestep=numbers[0], numbers=list(numbers),
                                                 choices=list(choices))
                size = types.SimpleNamespace(offwidth=10**6, offheight=10**6)
                self.vis = types.SimpleNamespace(global_=size)

            def __getattr__(self, name):
                if name in self.__dict__["arrays"]:
                    return self.arrays[name]
                size = shim.model_size(self.pointer, name.encode())
                if size < 0:
                    raise AttributeError(name)
                return size

            def names(self, kind, count):
                name = lambda i: shim.mj_id2name(self.pointer, kind, i) or b""
                return [name(i).decode() for i in range(count)]

        class MjData:
            def __init__(self, model):
                self.model = model
                self.pointer = shim.mj_makeData(model.pointer)
                fields = (FieldStruct * 500)()
                count = shim.data_fields(model.pointer, self.pointer, fields)
                self.__dict__.update(arrays_of(fields, count))

            def body(self, name):
                place = name
                if isinstance(name, str):
                    place = shim.mj_name2id(self.model.pointer, 1, name.encode())
                return types.SimpleNamespace(xpos=self.xpos[place])

        self.MjModel, self.MjData = MjModel, MjData

        def step(model, data, nstep=1):
            for _ in range(nstep):
                shim.mj_step(model.pointer, data.pointer)

        self.mj_step = step
        for name in ["mj_forward", "mj_resetData", "mj_rnePostConstraint"]:
            call = lambda model, data, name=name: getattr(module.shim, name)(
                model.pointer, data.pointer)
            setattr(self, name, call)


def plain(value):
    """A value as JSON has it, numbers to 13 digits."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        short = float(f"{float(value):.13g}")
        return int(short) if short.is_integer() and abs(short) < 1e9 else short
    return value


def recording_name(env, arguments, taken):
    name = ""
    for c in env.split("-")[0]:
        name += "_" + c.lower() if c.isupper() and name else c.lower()
    name += "_v2" if arguments == {"use_contact_forces": True} else "_" + env.split("-")[1]
    if not arguments or arguments == {"use_contact_forces": True}:
        return name
    number = 1
    while f"{name}_variant{number}" in taken:
        number += 1
    return f"{name}_variant{number}"


def record_episode(make, env_id, steps, arguments, versions):
    env = make(env_id, disable_env_checker=True, **arguments).unwrapped
    env.reset(seed=1)
    rng = np.random.default_rng(2)
    qpos0, qvel0 = env.data.qpos.copy(), env.data.qvel.copy()
    episode = {"env": env_id, "arguments": arguments, **versions,
               "frame_skip": env.frame_skip, "timestep": env.model.opt.timestep,
               "qpos0": qpos0, "qvel0": qvel0, "obs0": env._get_obs(), "steps": []}
    low, high = env.action_space.low.astype(float), env.action_space.high.astype(float)
    for _ in range(steps):
        action = rng.uniform(low, high).astype(np.float32).astype(float)
        obs, reward, terminated, _, _ = env.step(action)
        episode["steps"].append({"action": [float(a) for a in action], "obs": obs,
                                 "reward": reward, "terminated": bool(terminated)})
        if terminated:
            break
    return episode


def record_model(model, versions):
    """The constants of a compiled model, by the names of mjModel."""
    kinds = {"body": (1, model.nbody), "jnt": (3, model.njnt), "geom": (5, model.ngeom),
             "site": (6, model.nsite), "actuator": (18, model.nu)}
    out = {**versions,
           "nq_nv_nu_nbody_njnt_ngeom": [model.nq, model.nv, model.nu, model.nbody, model.njnt,
                                         model.ngeom],
           "opt_timestep_density_viscosity_impratio_tolerance_gravity3": model.opt.numbers,
           "opt_integrator_collision_cone_jacobian_solver_iterations": model.opt.choices}
    for kind, (number, count) in kinds.items():
        out[kind + "_name"] = model.names(number, count)
    groups = {"body": BODY_FIELDS, "jnt": JOINT_FIELDS, "geom": GEOM_FIELDS,
              "dof": ["armature", "damping", "frictionloss"], "site": ["bodyid", "pos", "quat"],
              "actuator": ["trnid", "gear", "ctrllimited", "ctrlrange"],
              "tendon": ["num", "limited", "range", "stiffness"], "wrap": ["type", "objid", "prm"]}
    for group, names in groups.items():
        for name in names:
            field = f"{group}_{name}"
            if field in model.arrays:
                out[field] = model.arrays[field]
    out["qpos0"], out["qpos_spring"] = model.qpos0, model.qpos_spring
    out["ntendon_nexclude_npair_neq"] = [model.ntendon, model.nexclude, model.npair, model.neq]
    return out


def write(path, value):
    path.write_text(json.dumps(plain(value), separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--wheel", action="store_true", help="use the package mujoco")
    options = parser.parse_args()
    if not options.wheel:
        sys.modules["mujoco"] = InstalledMujoco()
    # nothing is drawn
    rendering = types.ModuleType("gymnasium.envs.mujoco.mujoco_rendering")
    rendering.MujocoRenderer = lambda *arguments: None
    sys.modules[rendering.__name__] = rendering
    import gymnasium
    import mujoco
    versions = {"gymnasium": gymnasium.__version__, "mujoco": mujoco.__version__}
    options.out.mkdir(parents=True, exist_ok=True)
    taken = set()
    for env_id, steps, arguments in EPISODES:
        name = recording_name(env_id, arguments, taken)
        taken.add(name)
        try:
            episode = record_episode(gymnasium.make, env_id, steps, arguments, versions)
        except ImportError as error:
            print(f"{env_id}: {error}")
            continue
        write(options.out / f"{name}.json", episode)
        print(f"{name}: {len(episode['obs0'])} observations, {len(episode['steps'])} steps, "
              f"ends: {episode['steps'][-1]['terminated']}")
    if options.wheel:
        return
    for name, env_id in MODELS.items():
        model = gymnasium.make(env_id, disable_env_checker=True).unwrapped.model
        write(options.out / f"{name}.model.json", record_model(model, versions))


main()
