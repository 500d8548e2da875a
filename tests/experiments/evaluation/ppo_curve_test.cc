#include "experiments/evaluation/ppo_curve.h"

#include <gtest/gtest.h>

#include <vector>

namespace lfiw::experiments {
namespace {

TEST(PpoCurveColumns, HaveALineForEachUpdate) {
  PpoPoint point;
  point.steps = 2048;
  point.mean_return = 1.5;
  point.mean_length = 100.0;
  point.policy_loss = -0.25;
  point.value_loss = 3.0;
  point.entropy = 0.5;
  point.approx_kl = 0.125;
  point.clip_fraction = 0.0625;
  EXPECT_EQ(PpoCurveColumns().Format(std::vector<PpoPoint>{point}),
            "steps,mean_return,mean_length,policy_loss,value_loss,entropy,approx_kl,clip_fraction\n"
            "2048,1.5,100,-0.25,3,0.5,0.125,0.0625\n");
}

}  // namespace
}  // namespace lfiw::experiments
