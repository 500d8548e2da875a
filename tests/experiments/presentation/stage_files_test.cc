#include "experiments/presentation/stage_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(StageFiles, JsonReadsBackAsItWasWritten) {
  const TestDir dir;
  const nlohmann::json value = {{"numbers", {1, 2.5, nullptr}}, {"text", "\u00e9"}};
  WriteJson(value, dir / "a.json");
  EXPECT_EQ(ReadJson(dir / "a.json"), value);
  // atomically: nothing else is left beside it
  EXPECT_EQ(dir.Count(), 1);
}

TEST(StageFiles, WhatIsNoJsonIsRefusedByItsPath) {
  const TestDir dir;
  for (const char* text : {"", "{", "{\"a\": 1,}", "[1] 2"}) {
    WriteFileAtomically(dir / "a.json", text);
    EXPECT_THAT([&] { ReadJson(dir / "a.json"); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("a.json"), HasSubstr("not valid JSON"))))
        << text;
  }
  EXPECT_THAT([&] { ReadJson(dir / "none.json"); },
              ThrowsMessage<DataError>(HasSubstr("none.json")));
}

}  // namespace
}  // namespace lfiw::experiments
