#ifndef LFIW_ENVS_MUJOCO_TASK_H_
#define LFIW_ENVS_MUJOCO_TASK_H_

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "core/layers.h"

namespace lfiw::envs {

// What a task rewards beside a constant, the control cost and the cost of contacts.
enum class RewardedProgress {
  kNone,
  kRootPosition,   // displacement of qpos[0] / step time
  kTorsoPosition,  // displacement of the torso's xpos[0], as MuJoCo leaves it after a step
  kMassCenter,     // likewise of the mean of xipos[0], weighted by mass
  kHeight,         // height after the step / simulator time step
  kReach,          // minus the distance from the fingertip to the target
  kPush,           // minus the distances from the object to the tip of the arm and to the goal
  kBalance,        // minus the squares of the tip's distance from (0, 2) and of angular velocities
};

// What is observed.
enum class Observation {
  kState,           // qpos, qvel, and what DerivedQuantities names
  kReacher,         // cosines and sines of the joints, target, velocities, fingertip - target
  kPusher,          // qpos and qvel of the arm; places of tip, object and goal
  kDoublePendulum,  // cart, sines, cosines, qvel, constraint forces
};

// Quantities that follow positions and velocities in an observation, in this order.
struct DerivedQuantities {
  bool inertia = false;          // cinert
  bool velocity = false;         // cvel
  bool actuator_forces = false;  // qfrc_actuator
  bool contact_forces = false;   // cfrc_ext, clipped as ContactCost says
  bool constants = true;         // with those of the world and of the free joint, which are all 0

  bool operator==(const DerivedQuantities&) const = default;
};

enum class VelocityNoise { kUniform, kNormal };

// What a reset draws: qpos0 plus U(-reset_noise, reset_noise) and velocities either likewise or
// reset_noise times a standard normal.
enum class Reset {
  kNoise,
  kReacher,  // the target is uniform in a disc of radius 0.2; velocities from U(-0.005, 0.005)
  kPusher,   // the object is uniform, at least 0.17 from its goal; velocities likewise
};

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool operator==(const Interval&) const = default;
};

// weight times the squared norm of cfrc_ext, of which each number is clipped to `force`, and the
// result to `cost`.
struct ContactCost {
  double weight = 0.0;
  Interval force = {};
  Interval cost = {};

  double operator()(std::span<const double> external_forces) const;
  bool operator==(const ContactCost&) const = default;
};

// Whether the episode goes on. `positions` are those of qpos but the hidden ones (the height
// first), `velocities` all of qvel. NaN never is healthy.
struct HealthyRange {
  Interval height = {};        // of positions[0]
  Interval angle = {};         // of positions[1]
  Interval state = {};         // of all positions but the first, and of velocities
  bool finite = false;         // all numbers are finite, and the bounds are allowed themselves
  bool tip_above_one = false;  // of the double pendulum, instead of all else

  // Whether there is a rule at all.
  bool any() const { return *this != HealthyRange{}; }
  bool operator()(std::span<const double> positions, std::span<const double> velocities) const;
  bool operator==(const HealthyRange&) const = default;
};

// A piece of a model's text, and what another version has instead; empty: none.
struct ModelEdit {
  std::string_view from = {};
  std::string_view to = {};

  bool operator==(const ModelEdit&) const = default;
};

// One of Gymnasium's MuJoCo tasks in the versions that compute the same: all that tells it from the
// others. Fields whose name Gymnasium has an argument for are options (envs/task_options.h).
struct MujocoTask {
  std::string_view name;  // "Walker2d"
  int first_version = 0;
  int last_version = 4;
  const char* mjcf = nullptr;
  std::array<ModelEdit, 2> edits = {};
  std::string_view edited = {};  // what the edits change, in words
  int frame_skip = 1;
  std::int64_t max_episode_steps = 1000;

  Observation observation = Observation::kState;
  // Leading entries of qpos (the horizontal position) that the observation leaves out, unless told
  // otherwise.
  std::int64_t hidden_positions = 0;
  bool hides_positions = true;
  double velocity_limit = std::numeric_limits<double>::infinity();  // observed ones are clipped
  DerivedQuantities derived = {};

  Reset reset = Reset::kNoise;
  double reset_noise = 0.0;
  VelocityNoise velocity_noise = VelocityNoise::kUniform;

  RewardedProgress progress = RewardedProgress::kNone;
  double progress_weight = 1.0;  // kPush: of the distance to the goal
  double near_weight = 0.0;      // kPush: of the distance to the tip of the arm
  bool rewards_start = false;    // kReach, kPush: distances are those before the step
  double bonus = 0.0;            // reward per step in a healthy state
  bool bonus_at_end = true;      // also for a step that ends the episode
  double control_cost = 0.0;     // times the squared norm of the clipped action
  ContactCost contact = {};
  bool unseen_contacts_cost = true;  // contacts cost even where they are not observed
  HealthyRange healthy = {};
  bool terminates = true;  // in a state that is not healthy

  // Entries of qpos that the observation leaves out.
  std::int64_t skipped_positions() const { return hides_positions ? hidden_positions : 0; }
  // Whether a step to a state earns the bonus.
  bool EarnsBonus(bool is_healthy) const { return is_healthy || (bonus_at_end && terminates); }
  bool Ends(bool is_healthy) const { return terminates && !is_healthy; }
  bool CostsContacts() const {
    return contact.weight != 0.0 && (derived.contact_forces || unseen_contacts_cost);
  }
  bool UsesContactForces() const { return derived.contact_forces || CostsContacts(); }
};

// Gymnasium's eleven tasks. The version that is meant where none is named, 4, comes first; then the
// others: version 5 where it differs, and versions 2 and 3 of Ant, which observe contact forces.
std::span<const MujocoTask> MujocoTasks();

// The version that is meant where none is named.
inline constexpr int kDefaultVersion = 4;

// "Walker2d" for the version that is meant where none is named, else "Walker2d-v5".
std::string FullName(const MujocoTask& task);

// Distance of the double pendulum's tip from where it should be, and the velocities of its poles,
// as a penalty.
double BalancePenalty(double tip_x, double tip_z, double velocity1, double velocity2);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MUJOCO_TASK_H_
