#ifndef LFIW_ENVS_TASK_OPTIONS_H_
#define LFIW_ENVS_TASK_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/config/config.h"
#include "core/error.h"
#include "core/layers.h"
#include "envs/mujoco_task.h"

namespace lfiw::envs {

// The options of a task: those of Gymnasium's arguments that it has, under their names.
struct TaskOptions {
  MujocoTask task;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("frame_skip", task.frame_skip, "simulator steps of a step", AtLeast(1));
    v.Field("max_episode_steps", task.max_episode_steps, "time limit", AtLeast(1));
    VisitRewards(v);
    VisitContacts(v);
    VisitHealth(v);
    if (task.reset == Reset::kNoise) {
      v.Field("reset_noise_scale", task.reset_noise, "spread of first states", AtLeast(0.0));
    }
    if (task.observation == Observation::kState) VisitObservation(v);
  }

 private:
  template <class Visitor>
  void VisitRewards(Visitor& v) {
    switch (task.progress) {
      case RewardedProgress::kRootPosition:
      case RewardedProgress::kTorsoPosition:
      case RewardedProgress::kMassCenter:
        v.Field("forward_reward_weight", task.progress_weight, "of the forward velocity");
        break;
      case RewardedProgress::kHeight:
        // Gymnasium takes uph_cost_weight as well, but computes nothing with it
        break;
      case RewardedProgress::kReach:
      case RewardedProgress::kPush:
        v.Field("reward_dist_weight", task.progress_weight, "of the distance to the goal");
        v.Field("reward_control_weight", task.control_cost, "of the squared action");
        break;
      case RewardedProgress::kNone:
      case RewardedProgress::kBalance:
        return;
    }
    if (task.progress == RewardedProgress::kPush) {
      v.Field("reward_near_weight", task.near_weight, "of the distance to the object");
    } else if (task.progress != RewardedProgress::kReach) {
      v.Field("ctrl_cost_weight", task.control_cost, "of the squared action");
    }
  }

  template <class Visitor>
  void VisitContacts(Visitor& v) {
    if (task.name == "Ant") {
      if (task.last_version < 5) {
        v.Field("use_contact_forces", task.derived.contact_forces, "observe contact forces");
      }
      v.Field("contact_cost_weight", task.contact.weight, "of squared contact forces");
      Range(v, "contact_force_range", task.contact.force, "to which contact forces are clipped");
    } else if (task.progress == RewardedProgress::kHeight) {
      v.Field("impact_cost_weight", task.contact.weight, "of squared contact forces");
      Range(v, "impact_cost_range", task.contact.cost, "to which their cost is clipped");
    } else if (task.progress == RewardedProgress::kMassCenter) {
      v.Field("contact_cost_weight", task.contact.weight, "of squared contact forces");
      Range(v, "contact_cost_range", task.contact.cost, "to which their cost is clipped");
    }
  }

  template <class Visitor>
  void VisitHealth(Visitor& v) {
    if (!task.healthy.any()) return;
    v.Field("healthy_reward", task.bonus, "of a step in a healthy state");
    v.Field("terminate_when_unhealthy", task.terminates, "end the episode");
    if (task.healthy.height != Interval{}) {
      Range(v, "healthy_z_range", task.healthy.height, "heights of a healthy state");
      if (task.healthy.angle != Interval{}) {
        Range(v, "healthy_angle_range", task.healthy.angle, "angles of a healthy state");
      }
    }
    if (task.healthy.state != Interval{}) {
      Range(v, "healthy_state_range", task.healthy.state, "all else of a healthy state");
    }
  }

  template <class Visitor>
  void VisitObservation(Visitor& v) {
    if (task.hidden_positions > 0) {
      v.Field("exclude_current_positions_from_observation", task.hides_positions,
              "leave out horizontal positions");
    }
    if (task.name == "Ant" && task.first_version >= 5) {
      v.Field("include_cfrc_ext_in_observation", task.derived.contact_forces,
              "observe contact forces");
    }
    if (task.name != "Humanoid" && task.name != "HumanoidStandup") return;
    v.Field("include_cinert_in_observation", task.derived.inertia, "observe inertias");
    v.Field("include_cvel_in_observation", task.derived.velocity, "observe body velocities");
    v.Field("include_qfrc_actuator_in_observation", task.derived.actuator_forces,
            "observe actuator forces");
    v.Field("include_cfrc_ext_in_observation", task.derived.contact_forces,
            "observe contact forces");
  }

  template <class Visitor>
  void Range(Visitor& v, std::string_view name, Interval& range, std::string_view doc) {
    std::vector<double> bounds = {range.low, range.high};
    v.Field(name, bounds, doc);
    if (bounds.size() != 2 || !(bounds[0] <= bounds[1])) {
      Throw<ConfigError>("{}: expected two numbers [low, high], the lower one first", name);
    }
    range = {bounds[0], bounds[1]};
  }
};

// Sets options of `task` from texts such as "frame_skip=2". `name` says in errors whose they are.
// Throws ConfigError with one line that names the options which the task has.
MujocoTask WithOptions(const MujocoTask& task, const std::string& name,
                       const std::vector<std::string>& options);

// Names the options that `task` has.
std::vector<std::string> OptionNames(const MujocoTask& task);

// Writes a value as it stands in the name of an environment: "2", "true", "[0.7,2]".
std::string OptionText(const ConfigNode& value);

// Writes the options of `changed` that differ from those of `task`, in one order, each behind a
// colon: ":frame_skip=2:healthy_z_range=[0.7,2]".
std::string OptionSuffix(const MujocoTask& task, const MujocoTask& changed);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_TASK_OPTIONS_H_
