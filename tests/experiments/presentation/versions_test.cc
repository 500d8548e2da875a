#include "experiments/presentation/versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lfiw::experiments {
namespace {

using ::testing::Each;
using ::testing::Key;
using ::testing::MatchesRegex;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(LibraryVersions, AreOfTheLibrariesThatComputeResults) {
  EXPECT_THAT(LibraryVersions(),
              UnorderedElementsAre(Key("Eigen"), Key("LibTorch"), Key("MuJoCo"), Key("oneTBB")));
  EXPECT_THAT(LibraryVersions(), Each(Pair(testing::_, MatchesRegex("[0-9]+\\.[0-9]+.*"))));
}

}  // namespace
}  // namespace lfiw::experiments
