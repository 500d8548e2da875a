#include "envs/mujoco_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace lfiw::envs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CompileMjcf, GivesAModelThatFallsFreely) {
  const auto model = CompileMjcf("ball", R"(
    <mujoco>
      <option timestep="0.01" integrator="RK4"/>
      <worldbody>
        <body><freejoint/><geom type="sphere" size="0.1"/></body>
      </worldbody>
    </mujoco>)");
  const MjDataPtr data = MakeMjData(*model);
  for (int i = 0; i < 100; ++i) mj_step(model.get(), data.get());
  EXPECT_NEAR(data->qpos[2], -0.5 * 9.81, 1e-9);
}

TEST(CompileMjcf, NamesModelAndFaultInItsError) {
  EXPECT_THAT(
      [] { return CompileMjcf("broken", "<mujoco><worldbody><boddy/></worldbody></mujoco>"); },
      ThrowsMessage<ConfigError>(testing::AllOf(HasSubstr("broken"), HasSubstr("boddy"))));
}

}  // namespace
}  // namespace lfiw::envs
