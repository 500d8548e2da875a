#include "policies/files/policy_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const NormalizerNames kNames = {"mean", "var", "clip", "eps"};

NpzFile FileOf(const std::vector<double>& variance) {
  NpzFile file;
  file.Put("mean", std::vector<double>{1.0, 2.0});
  file.Put("var", variance);
  return file;
}

TEST(PolicyArraysTest, ANormalizerWithoutClipAndEpsilonHasTheDefaults) {
  const ObservationNormalizer normalizer = GetNormalizer(FileOf({4.0, 0.0}), kNames, 2, "a");
  EXPECT_EQ(normalizer.clip(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(normalizer.epsilon(), 1e-8);
  const float observation[] = {5.0f, 3.0f};
  float normalized[2];
  normalizer.Apply(observation, normalized);
  EXPECT_NEAR(normalized[0], 2.0, 1e-6);
  EXPECT_NEAR(normalized[1], 1e4, 1e-2);
}

TEST(PolicyArraysTest, WrongNormalizersAreNamed) {
  EXPECT_THAT([] { GetNormalizer(FileOf({1.0}), kNames, 2, "a"); },
              ThrowsMessage<PolicyError>(HasSubstr("a: var has 1 values, expected 2")));
  EXPECT_THAT(
      [] {
        GetNormalizer(FileOf({1.0, -2.0}), kNames, 2, "a");
      },
      ThrowsMessage<PolicyError>(HasSubstr("var holds -2")));
  NpzFile zero = FileOf({1.0, 0.0});
  zero.Put("eps", std::vector<double>{0.0});
  EXPECT_THAT([&] { GetNormalizer(zero, kNames, 2, "a"); },
              ThrowsMessage<PolicyError>(HasSubstr("a positive sum")));
}

TEST(PolicyArraysTest, LogDeviationsOutsideFloatAreRefused) {
  NpzFile file;
  file.Put("log_std", std::vector<double>{0.0, 41.0});
  EXPECT_THAT([&] { GetLogStd(file, "log_std", 2, "a"); },
              ThrowsMessage<PolicyError>(AllOf(HasSubstr("log_std holds 41"), HasSubstr("40]"))));
}

}  // namespace
}  // namespace lfiw::policies
