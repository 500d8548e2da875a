#include "core/logs/episode_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/logs/array_blocks.h"
#include "tests/core/logs/memory_store.h"

namespace lfiw::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::FieldsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<Span> All(EpisodeSource& source) {
  std::vector<Span> spans;
  while (const std::optional<Span> span = source.Next()) spans.push_back(*span);
  return spans;
}

NpzFile Steps(std::size_t count) {
  NpzFile file;
  file.Put("r", std::vector<double>(count));
  return file;
}

TEST(FlagSource, TerminalsAndTimeoutsEndEpisodesAndTheRestIsTruncated) {
  NpzFile file = Steps(6);
  file.Put("terminal", std::vector<std::int64_t>{0, 1, 0, 1, 0, 0});
  file.Put("timeout", std::vector<std::int64_t>{0, 0, 1, 1, 0, 0});
  MemoryStore store(std::move(file));
  const LogKeys keys{.reward = "r", .terminal = "terminal", .timeout = "timeout"};
  LogCounts counts;
  EXPECT_THAT(All(*MakeFlagSource(store, keys, 1000, counts)),
              ElementsAre(FieldsAre(0, 2, true, false), FieldsAre(2, 1, false, false),
                          FieldsAre(3, 1, true, false), FieldsAre(4, 2, false, false)));
  EXPECT_EQ(counts.both_flags, 1);
}

TEST(FlagSource, WithoutTimeoutsEpisodesAreCutAndCounted) {
  NpzFile file = Steps(7);
  file.Put("terminal", std::vector<std::int64_t>{0, 0, 0, 1, 0, 0, 0});
  MemoryStore store(std::move(file));
  const LogKeys keys{.reward = "r", .terminal = "terminal"};
  LogCounts counts;
  EXPECT_THAT(All(*MakeFlagSource(store, keys, 3, counts)),
              ElementsAre(FieldsAre(0, 3, false, false), FieldsAre(3, 1, true, false),
                          FieldsAre(4, 3, false, false)));
  // the end of the file is no cut
  EXPECT_EQ(counts.cut_episodes, 1);
}

std::vector<Span> FromOffsets(const std::vector<std::int64_t>& offsets,
                              const std::vector<std::int64_t>& ended, LogInfo& info,
                              const std::string& format, bool ends_unknown) {
  NpzFile file = Steps(6);
  file.Put("offsets", offsets);
  if (!ended.empty()) file.Put("ended", ended);
  MemoryStore store(std::move(file));
  return All(*MakeOffsetSource(store,
                               {.format = format,
                                .reward = "r",
                                .terminal = ended.empty() ? "" : "ended",
                                .offsets = "offsets",
                                .ends_unknown = ends_unknown},
                               info));
}

TEST(OffsetSource, BothEndsMayBeLeftOutAndFlagsMayBePerStepOrPerEpisode) {
  LogInfo info;
  const auto expected = ElementsAre(FieldsAre(0, 2, true, false), FieldsAre(2, 4, false, false));
  EXPECT_THAT(FromOffsets({0, 2, 6}, {1, 0}, info, "mapped", false), expected);
  EXPECT_THAT(FromOffsets({2}, {1, 0}, info, "mapped", false), expected);
  EXPECT_THAT(FromOffsets({2}, {0, 1, 0, 0, 0, 0}, info, "mapped", false), expected);
}

TEST(OffsetSource, WithoutFlagsANoteSaysThatAllEpisodesCountAsCut) {
  LogInfo info;
  EXPECT_THAT(FromOffsets({3}, {}, info, "mapped", false),
              ElementsAre(FieldsAre(0, 3, false, false), FieldsAre(3, 3, false, false)));
  EXPECT_THAT(info.notes, Contains(std::string(kNoTerminals)));
}

TEST(OffsetSource, WhereEndsAreUnknownTheLongestLengthIsALimit) {
  LogInfo info;
  EXPECT_THAT(FromOffsets({1, 3, 4}, {1, 1, 1, 1}, info, "imitation", true),
              ElementsAre(FieldsAre(0, 1, true, false), FieldsAre(1, 2, false, false),
                          FieldsAre(3, 1, true, false), FieldsAre(4, 2, false, false)));
  EXPECT_THAT(info.notes, Contains(HasSubstr("2 episodes of the longest length (2)")));
}

TEST(OffsetSource, OffsetsThatFallOrPassTheEndAreNamed) {
  LogInfo info;
  EXPECT_THAT(
      [&] {
        FromOffsets({4, 2}, {}, info, "mapped", false);
      },
      ThrowsMessage<DataError>(HasSubstr("offsets[2] is 2, expected more than 4")));
  EXPECT_THAT(
      [&] {
        FromOffsets({2, 9}, {}, info, "mapped", false);
      },
      ThrowsMessage<DataError>(HasSubstr("offsets[2] is 9")));
  EXPECT_THAT(
      [&] {
        FromOffsets({2, 6}, {}, info, "npz", false);
      },
      ThrowsMessage<DataError>(HasSubstr("offsets[0] is 2, expected 0")));
}

std::vector<Span> Spans(NpzFile file, const LogKeys& keys) {
  MemoryStore store(std::move(file));
  LogCounts counts;
  return All(*MakeFlagSource(store, keys, 1000, counts));
}

TEST(FlagSource, FlagsOfAllEndsAreToldApartByTheOthers) {
  NpzFile file = Steps(6);
  file.Put("end", std::vector<std::int64_t>{0, 1, 0, 1, 0, 1});
  file.Put("terminal", std::vector<std::int64_t>{0, 1, 0, 0, 0, 1});
  file.Put("timeout", std::vector<std::int64_t>{0, 0, 0, 1, 0, 0});
  file.Put("mask", std::vector<std::int64_t>{1, 0, 1, 1, 1, 0});
  const auto expected = ElementsAre(FieldsAre(0, 2, true, false), FieldsAre(2, 2, false, false),
                                    FieldsAre(4, 2, true, false));
  EXPECT_THAT(Spans(file, {.reward = "r", .terminal = "terminal", .end = "end"}), expected);
  EXPECT_THAT(Spans(file, {.reward = "r", .timeout = "timeout", .end = "end"}), expected);
  EXPECT_THAT(Spans(file, {.reward = "r", .end = "end", .mask = "mask"}), expected);
  EXPECT_THAT(Spans(file, {.reward = "r", .timeout = "timeout", .mask = "mask"}), expected);
}

TEST(FlagSource, AnotherEpisodeIdStartsAnEpisode) {
  NpzFile file = Steps(5);
  file.Put("id", std::vector<std::int64_t>{7, 7, 8, 8, 8});
  file.Put("terminal", std::vector<std::int64_t>{0, 1, 0, 0, 0});
  EXPECT_THAT(Spans(file, {.reward = "r", .terminal = "terminal", .episode_id = "id"}),
              ElementsAre(FieldsAre(0, 2, true, false), FieldsAre(2, 3, false, false)));
}

}  // namespace
}  // namespace lfiw::core
