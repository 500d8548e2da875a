#include "policies/undefined_policy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace lfiw::policies {
namespace {

std::string Refusal(const std::vector<float>& observation, std::optional<std::int64_t> step) {
  try {
    RejectUndefinedPolicy("policy.npz", "NaN", observation, step);
  } catch (const PolicyError& error) {
    return error.what();
  }
}

TEST(RejectUndefinedPolicy, NamesSourceFaultObservationAndStep) {
  EXPECT_EQ(Refusal({0.5f, -1.0f}, 3),
            "policy.npz: the policy gives NaN at the observation (0.5, -1) of step 3, expected "
            "numbers that define an action; make it defined wherever it may get to");
}

TEST(RejectUndefinedPolicy, QuotesTheFirstNumbersOfWideObservations) {
  const std::string text = Refusal(std::vector<float>(100, 1.0f), {});
  EXPECT_NE(text.find("(1, 1, 1, 1, 1, 1, 1, 1, ...), expected"), std::string::npos) << text;
}

}  // namespace
}  // namespace lfiw::policies
