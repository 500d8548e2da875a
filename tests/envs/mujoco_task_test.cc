#include "envs/mujoco_task.h"

#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "envs/mujoco_shared.h"
#include "tests/envs/reference.h"

namespace lfiw::envs {
namespace {

using Json = nlohmann::json;
using Getter = std::function<std::vector<double>(const mjModel&)>;

// rows x cols values of a field of mjModel.
template <class T, class Size>
Getter Table(T* mjModel::*field, Size mjModel::*rows, int cols = 1) {
  return [=](const mjModel& m) { return std::vector<double>(m.*field, m.*field + m.*rows * cols); };
}

template <class... T>
std::vector<double> List(T... values) {
  return {static_cast<double>(values)...};
}

// Which pairs may collide; from MuJoCo 3 on all that are not excluded, which was 0.
template <class Option>
int CollisionOf(const Option& option) {
  if constexpr (requires { option.collision; }) {
    return option.collision;
  } else {
    return 0;
  }
}

std::map<std::string, Getter> BodyAndJointFields() {
  using M = mjModel;
  return {
      {"body_parentid", Table(&M::body_parentid, &M::nbody)},
      {"body_pos", Table(&M::body_pos, &M::nbody, 3)},
      {"body_quat", Table(&M::body_quat, &M::nbody, 4)},
      {"body_ipos", Table(&M::body_ipos, &M::nbody, 3)},
      {"body_iquat", Table(&M::body_iquat, &M::nbody, 4)},
      {"body_mass", Table(&M::body_mass, &M::nbody)},
      {"body_inertia", Table(&M::body_inertia, &M::nbody, 3)},
      {"jnt_type", Table(&M::jnt_type, &M::njnt)},
      {"jnt_bodyid", Table(&M::jnt_bodyid, &M::njnt)},
      {"jnt_pos", Table(&M::jnt_pos, &M::njnt, 3)},
      {"jnt_axis", Table(&M::jnt_axis, &M::njnt, 3)},
      {"jnt_limited", Table(&M::jnt_limited, &M::njnt)},
      {"jnt_range", Table(&M::jnt_range, &M::njnt, 2)},
      {"jnt_stiffness", Table(&M::jnt_stiffness, &M::njnt)},
      {"jnt_margin", Table(&M::jnt_margin, &M::njnt)},
      {"jnt_solref", Table(&M::jnt_solref, &M::njnt, mjNREF)},
      {"jnt_solimp", Table(&M::jnt_solimp, &M::njnt, mjNIMP)},
      {"dof_armature", Table(&M::dof_armature, &M::nv)},
      {"dof_damping", Table(&M::dof_damping, &M::nv)},
      {"dof_frictionloss", Table(&M::dof_frictionloss, &M::nv)},
      {"qpos0", Table(&M::qpos0, &M::nq)},
      {"qpos_spring", Table(&M::qpos_spring, &M::nq)},
  };
}

std::map<std::string, Getter> GeomAndActuatorFields() {
  using M = mjModel;
  return {
      {"geom_type", Table(&M::geom_type, &M::ngeom)},
      {"geom_bodyid", Table(&M::geom_bodyid, &M::ngeom)},
      {"geom_contype", Table(&M::geom_contype, &M::ngeom)},
      {"geom_conaffinity", Table(&M::geom_conaffinity, &M::ngeom)},
      {"geom_condim", Table(&M::geom_condim, &M::ngeom)},
      {"geom_size", Table(&M::geom_size, &M::ngeom, 3)},
      {"geom_pos", Table(&M::geom_pos, &M::ngeom, 3)},
      {"geom_quat", Table(&M::geom_quat, &M::ngeom, 4)},
      {"geom_friction", Table(&M::geom_friction, &M::ngeom, 3)},
      {"geom_margin", Table(&M::geom_margin, &M::ngeom)},
      {"geom_gap", Table(&M::geom_gap, &M::ngeom)},
      {"geom_solmix", Table(&M::geom_solmix, &M::ngeom)},
      {"geom_solref", Table(&M::geom_solref, &M::ngeom, mjNREF)},
      {"geom_solimp", Table(&M::geom_solimp, &M::ngeom, mjNIMP)},
      {"actuator_trnid", Table(&M::actuator_trnid, &M::nu, 2)},
      {"actuator_gear", Table(&M::actuator_gear, &M::nu, 6)},
      {"actuator_ctrllimited", Table(&M::actuator_ctrllimited, &M::nu)},
      {"actuator_ctrlrange", Table(&M::actuator_ctrlrange, &M::nu, 2)},
      {"tendon_num", Table(&M::tendon_num, &M::ntendon)},
      {"tendon_limited", Table(&M::tendon_limited, &M::ntendon)},
      {"tendon_range", Table(&M::tendon_range, &M::ntendon, 2)},
      {"tendon_stiffness", Table(&M::tendon_stiffness, &M::ntendon)},
      {"wrap_type", Table(&M::wrap_type, &M::nwrap)},
      {"wrap_objid", Table(&M::wrap_objid, &M::nwrap)},
      {"wrap_prm", Table(&M::wrap_prm, &M::nwrap)},
      {"site_bodyid", Table(&M::site_bodyid, &M::nsite)},
      {"site_pos", Table(&M::site_pos, &M::nsite, 3)},
      {"site_quat", Table(&M::site_quat, &M::nsite, 4)},
  };
}

std::map<std::string, Getter> GlobalFields() {
  return {
      {"nq_nv_nu_nbody_njnt_ngeom",
       [](const mjModel& m) { return List(m.nq, m.nv, m.nu, m.nbody, m.njnt, m.ngeom); }},
      {"ntendon_nexclude_npair_neq",
       [](const mjModel& m) { return List(m.ntendon, m.nexclude, m.npair, m.neq); }},
      {"opt_timestep_density_viscosity_impratio_tolerance_gravity3",
       [](const mjModel& m) {
         const mjOption& o = m.opt;
         return List(o.timestep, o.density, o.viscosity, o.impratio, o.tolerance, o.gravity[0],
                     o.gravity[1], o.gravity[2]);
       }},
      {"opt_integrator_collision_cone_jacobian_solver_iterations",
       [](const mjModel& m) {
         const mjOption& o = m.opt;
         return List(o.integrator, CollisionOf(o), o.cone, o.jacobian, o.solver, o.iterations);
       }},
  };
}

std::map<std::string, mjtObj> NameFields() {
  return {{"body_name", mjOBJ_BODY},
          {"jnt_name", mjOBJ_JOINT},
          {"geom_name", mjOBJ_GEOM},
          {"site_name", mjOBJ_SITE},
          {"actuator_name", mjOBJ_ACTUATOR}};
}

std::vector<double> Flatten(const Json& value) {
  if (!value.is_array()) return {value.get<double>()};
  std::vector<double> flat;
  for (const Json& item : value) std::ranges::copy(Flatten(item), std::back_inserter(flat));
  return flat;
}

// Expects that a model has every constant of a file, to 1e-12.
void ExpectConstants(const mjModel& model, const std::string& file) {
  std::map<std::string, Getter> getters = GlobalFields();
  getters.merge(BodyAndJointFields());
  getters.merge(GeomAndActuatorFields());
  const auto names = NameFields();
  const Json reference = ReadReference(file);
  for (const auto& [field, value] : reference.items()) {
    if (field == "mujoco" || field == "gymnasium") continue;
    if (const auto kind = names.find(field); kind != names.end()) {
      for (int i = 0; i < static_cast<int>(value.size()); ++i) {
        const char* name = mj_id2name(&model, kind->second, i);
        EXPECT_EQ(name == nullptr ? "" : name, value[static_cast<std::size_t>(i)]) << field;
      }
      continue;
    }
    ASSERT_TRUE(getters.contains(field)) << field;
    const std::vector<double> seen = getters.at(field)(model);
    const std::vector<double> expected = Flatten(value);
    ASSERT_EQ(seen.size(), expected.size()) << field;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      EXPECT_NEAR(seen[i], expected[i], 1e-12 * std::max(1.0, std::abs(expected[i])))
          << field << " " << i;
    }
  }
}

class MujocoTaskModel : public testing::TestWithParam<MujocoTask> {};

TEST_P(MujocoTaskModel, HasEveryRecordedConstantOfTheReference) {
  if (const std::string reason = NotComparable(ReferenceName(GetParam()), kOtherConstants);
      !reason.empty())
    GTEST_SKIP() << reason;
  ExpectConstants(*LoadMujocoTask(GetParam())->model, ReferenceName(GetParam()) + ".model.json");
}

INSTANTIATE_TEST_SUITE_P(All, MujocoTaskModel, testing::ValuesIn(FirstTasks()),
                         [](const auto& task) { return TestName(task.param); });

class GymnasiumModel : public testing::TestWithParam<MujocoTask> {};

TEST_P(GymnasiumModel, HasEveryConstantOfGymnasiums) {
  const MujocoTask& task = GetParam();
  if (const std::string reason = NotComparable(ReferenceName(task), kOtherConstants);
      !reason.empty())
    GTEST_SKIP() << reason;
  const std::string version = task.edited.empty() ? "" : "_v5";
  ExpectConstants(*LoadMujocoTask(task)->model,
                  "gymnasium/" + ReferenceName(task) + version + ".model.json");
}

INSTANTIATE_TEST_SUITE_P(All, GymnasiumModel,
                         testing::ValuesIn(MujocoTasks().begin(), MujocoTasks().end()),
                         [](const auto& task) { return TestName(task.param); });

bool Healthy(std::string_view task, std::vector<double> positions, std::vector<double> velocities) {
  return FindTask(task).healthy(positions, velocities);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(MujocoTaskHealth, HopperNeedsHeightAngleAndBoundedState) {
  EXPECT_TRUE(Healthy("Hopper", {0.71, 0.19, 0, 0, 0}, {0, 0, 0, 99, 0, 0}));
  EXPECT_FALSE(Healthy("Hopper", {0.7, 0.0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(Healthy("Hopper", {1.0, 0.2, 0, 0, 0}, {0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(Healthy("Hopper", {1.0, -0.2, 0, 0, 0}, {0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(Healthy("Hopper", {1.0, 0.0, 0, 0, 0}, {0, 0, 0, -100, 0, 0}));
  EXPECT_FALSE(Healthy("Hopper", {1.0, 0.0, 100, 0, 0}, {0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(Healthy("Hopper", {kNan, 0.0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}));
}

TEST(MujocoTaskHealth, Walker2dNeedsHeightAndAngleInOpenIntervals) {
  EXPECT_TRUE(Healthy("Walker2d", {0.81, 0.99}, {}));
  EXPECT_FALSE(Healthy("Walker2d", {0.8, 0.0}, {}));
  EXPECT_FALSE(Healthy("Walker2d", {2.0, 0.0}, {}));
  EXPECT_FALSE(Healthy("Walker2d", {1.0, 1.0}, {}));
  EXPECT_FALSE(Healthy("Walker2d", {1.0, -1.0}, {}));
}

TEST(MujocoTaskHealth, AntNeedsHeightInClosedIntervalAndFiniteState) {
  EXPECT_TRUE(Healthy("Ant", {0.2, 5.0}, {1e6}));
  EXPECT_TRUE(Healthy("Ant", {1.0, 0.0}, {0.0}));
  EXPECT_FALSE(Healthy("Ant", {0.19, 0.0}, {0.0}));
  EXPECT_FALSE(Healthy("Ant", {1.01, 0.0}, {0.0}));
  EXPECT_FALSE(Healthy("Ant", {0.5, 0.0}, {kNan}));
}

TEST(MujocoTaskHealth, HumanoidNeedsHeightInOpenInterval) {
  EXPECT_TRUE(Healthy("Humanoid", {1.01, 5.0}, {1e6}));
  EXPECT_FALSE(Healthy("Humanoid", {1.0, 0.0}, {0.0}));
  EXPECT_FALSE(Healthy("Humanoid", {2.0, 0.0}, {0.0}));
}

TEST(MujocoTaskHealth, InvertedPendulumNeedsAngleInClosedIntervalAndFiniteState) {
  EXPECT_TRUE(Healthy("InvertedPendulum", {-9.0, 0.2}, {50.0, 0.0}));
  EXPECT_FALSE(Healthy("InvertedPendulum", {0.0, -0.201}, {0.0, 0.0}));
  EXPECT_FALSE(Healthy("InvertedPendulum", {kNan, 0.0}, {0.0, 0.0}));
  EXPECT_FALSE(Healthy("InvertedPendulum", {0.0, 0.0}, {0.0, kNan}));
}

TEST(MujocoTaskHealth, IsAlwaysGivenWhereThereIsNoRule) {
  EXPECT_TRUE(Healthy("HalfCheetah", {kNan, 100.0}, {kNan}));
}

TEST(ContactCost, IsQuadraticUpToTenInHumanoidStandup) {
  const ContactCost& cost = FindTask("HumanoidStandup").contact;
  EXPECT_DOUBLE_EQ(cost(std::vector<double>{1000.0, -2000.0}), 2.5);
  EXPECT_DOUBLE_EQ(cost(std::vector<double>{1e6}), 10.0);
  EXPECT_DOUBLE_EQ(cost({}), 0.0);
}

TEST(ContactCost, ClipsEveryForceToOneInAnt) {
  const ContactCost& cost = FindTask("Ant").contact;
  EXPECT_DOUBLE_EQ(cost(std::vector<double>{0.5, -2000.0, 1e9}), 5e-4 * 2.25);
}

TEST(MujocoTasks, CoverVersionsZeroToFiveOfElevenTasksOnceEach) {
  std::map<std::string_view, std::multiset<int>> versions;
  for (const MujocoTask& task : MujocoTasks()) {
    for (int v = task.first_version; v <= task.last_version; ++v) versions[task.name].insert(v);
  }
  EXPECT_EQ(versions.size(), 11u);
  for (const auto& [name, seen] : versions) {
    EXPECT_EQ(seen, (std::multiset<int>{0, 1, 2, 3, 4, 5})) << name;
  }
}

}  // namespace
}  // namespace lfiw::envs
