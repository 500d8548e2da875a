#include "tests/experiments/stage_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/omniglot/generated_drawings.h"
#include "experiments/omniglot/omniglot_stages.h"

namespace lfiw::experiments {
namespace {

using ::testing::UnorderedElementsAreArray;

using OmniglotStages = StageTypes<DaganStage, GeneratedStage, RatioStage, ColumnStage>;

TEST(OmniglotStages, DependOnEveryFieldOfTheirKeysAndOnAllElse) {
  OmniglotStages::ExpectKeysAreComplete();
}

TEST(OmniglotStages, AreAllListedHere) {
  EXPECT_THAT(OmniglotStages::Names(),
              UnorderedElementsAreArray(StageNamesBelow("experiments/omniglot")));
}

}  // namespace
}  // namespace lfiw::experiments
