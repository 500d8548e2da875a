#include "experiments/omniglot/omniglot_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/experiments/omniglot/toy_drawings.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;

TEST(ColumnStage, InputsAreThoseThatTheColumnUses) {
  const SplitDrawings drawings = ToySplit(4);
  const HashedDrawings real{drawings, "train", "validation", "test"};
  GeneratedDrawings generated;
  generated.hash = "generated";
  const RatioArtifact ratios{.fit = {}, .hash = "ratios"};
  EXPECT_THAT((ColumnStage::Inputs{real, nullptr, nullptr}.Hashes()),
              ElementsAre("train", "validation", "test"));
  EXPECT_THAT((ColumnStage::Inputs{real, &generated, &ratios}.Hashes()),
              ElementsAre("train", "validation", "test", "generated", "ratios"));
}

TEST(HashedDrawings, ChangeWithThePartThatChanges) {
  SplitDrawings drawings = ToySplit(4);
  const HashedDrawings before = HashedDrawings::Of(drawings);
  std::swap(drawings.test.rows.front(), drawings.test.rows.back());
  const HashedDrawings after = HashedDrawings::Of(drawings);
  EXPECT_EQ(after.train, before.train);
  EXPECT_EQ(after.validation, before.validation);
  EXPECT_NE(after.test, before.test);
}

}  // namespace
}  // namespace lfiw::experiments
