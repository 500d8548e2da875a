#include "models/torch_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/version.h>

namespace lfiw::models {
namespace {

TEST(TorchVersion, IsThreeNumbersOfTheLibraryThatIsLinked) {
  EXPECT_THAT(TorchVersion(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_THAT(TorchVersion(), testing::StartsWith(std::to_string(TORCH_VERSION_MAJOR) + "." +
                                                  std::to_string(TORCH_VERSION_MINOR) + "."));
}

}  // namespace
}  // namespace lfiw::models
