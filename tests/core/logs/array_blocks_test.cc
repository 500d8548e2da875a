#include "core/logs/array_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "tests/core/logs/memory_store.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(ArrayBlocks, RowsAcrossSeveralBlocksAreThoseOfTheArray) {
  // 24 MB, three blocks
  const std::int64_t rows = 3'000'000;
  NpzFile file;
  file.Put("x", IndexList(rows));
  MemoryStore store(std::move(file));
  const std::vector<std::int64_t> read = ReadIntegers(store, "x", 7, rows - 9);
  EXPECT_EQ(read, IndexList(std::int64_t{7}, rows - 2));
}

TEST(ArrayBlocks, FlagsAreZeroOrOneAndAnythingElseNamesItsRow) {
  NpzFile file;
  file.Put("done", std::vector<double>{1.0, 0.0, 2.0});
  MemoryStore store(std::move(file));
  EXPECT_THAT(ReadFlags(store, "done", 0, 2), ElementsAre(1, 0));
  EXPECT_THAT([&] { ReadFlags(store, "done", 1, 2); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("'done'"), HasSubstr("row 2"))));
}

TEST(SameRow, ToleratesRoundingAndNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const MatrixF x{{1.0f, 1000.0f}, {nan, 1000.0f}, {1.0f, 1001.0f}};
  const MatrixF y{{1.00001f, 1000.01f}};
  EXPECT_TRUE(SameRow(x, 0, y, 0));
  EXPECT_TRUE(SameRow(x, 1, y, 0));
  EXPECT_FALSE(SameRow(x, 2, y, 0));
}

LogInfo DimsOf(const std::vector<std::int64_t>& actions, const std::string& stated) {
  NpzFile file;
  file.Put("a", actions);
  MemoryStore store(std::move(file), {{"discrete_actions", stated}});
  LogInfo info;
  FillDims(store, {.format = "test", .action = "a"}, 4, 1, info);
  return info;
}

TEST(FillDims, WholeNumberActionsAreDiscreteUpToTheLargest) {
  const LogInfo info = DimsOf({0, 2, 1}, "");
  EXPECT_EQ(info.obs_dim, 4);
  EXPECT_EQ(info.action_dim, 3);
  EXPECT_EQ(info.discrete_actions, 3);
  EXPECT_THAT(info.notes, Contains(HasSubstr("3 discrete ones")));
}

TEST(FillDims, TheFileMayStateMoreActionsThanOccur) {
  EXPECT_EQ(DimsOf({0, 2, 1}, "5").discrete_actions, 5);
  EXPECT_EQ(DimsOf({0, 2, 1}, "2").discrete_actions, 3);
  EXPECT_EQ(DimsOf({0, 2, 1}, "many").discrete_actions, 3);
}

TEST(FillDims, NegativeOrHugeActionsAreRefused) {
  EXPECT_THAT([] { DimsOf({0, -1}, ""); }, ThrowsMessage<DataError>(HasSubstr("action -1")));
  EXPECT_THAT([] { DimsOf({1 << 20}, ""); }, ThrowsMessage<DataError>(HasSubstr("1048576")));
}

TEST(FillDims, FloatingPointActionsStayContinuous) {
  NpzFile file;
  file.Put("a", std::vector<double>{0.0, 1.0});
  MemoryStore store(std::move(file));
  LogInfo info;
  FillDims(store, {.format = "test", .action = "a"}, 2, 1, info);
  EXPECT_EQ(info.discrete_actions, 0);
  EXPECT_THAT(info.notes, IsEmpty());
}

}  // namespace
}  // namespace lfiw::core
