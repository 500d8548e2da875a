#include "policies/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/policies/fake_env.h"
#include "tests/policies/fake_policy.h"

namespace lfiw::policies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CheckFits, AcceptsThePolicyOfTheEnvironment) {
  EXPECT_NO_THROW(CheckFits(ProportionalPolicy(), PointFactory().spec()));
}

TEST(CheckFits, NamesBothSides) {
  EnvSpec spec = PointFactory().spec();
  spec.obs_dim = 8;
  try {
    CheckFits(ProportionalPolicy(), spec);
    FAIL() << "no error";
  } catch (const PolicyError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("3 observations"), HasSubstr("Point"),
                                    HasSubstr("8 observations")));
  }
}

}  // namespace
}  // namespace lfiw::policies
