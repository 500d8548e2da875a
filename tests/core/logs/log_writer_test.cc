#include "core/logs/log_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/arrays/npz.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;

TEST(SaveLog, TheFileHoldsTheFieldsUnderTheirNames) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({2, 1});
  SaveLog(log, dir / "log", {.environment = "Swimmer", .discrete_actions = 4});
  const NpzFile file = NpzFile::Read(dir / "log");
  EXPECT_EQ(file.GetMatrix("observations"), log.observations);
  EXPECT_EQ(file.GetMatrix("actions"), log.actions);
  EXPECT_EQ(file.GetDoubles("rewards"), log.rewards);
  EXPECT_THAT(file.GetIntegers("offsets"), ElementsAre(0, 2, 3));
  EXPECT_EQ(file.GetBytes("terminated"), log.terminated);
  EXPECT_THAT(file.GetIntegers("discrete_actions"), ElementsAre(4));
  EXPECT_EQ(file.GetText("environment"), "Swimmer");
}

TEST(SaveLog, WhatTheLogLacksIsNoArray) {
  const TestDir dir;
  SaveLog(SampleLog({1}), dir / "log");
  EXPECT_EQ(NpzFile::Read(dir / "log").arrays().size(), 5U);
}

}  // namespace
}  // namespace lfiw::core
