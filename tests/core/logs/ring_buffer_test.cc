#include "core/logs/ring_buffer.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/arrays/npz.h"
#include "tests/core/logs/memory_store.h"

namespace lfiw::core {
namespace {

RingState StateOf(const std::map<std::string, std::string>& attributes, std::int64_t written) {
  MemoryStore store(NpzFile(), attributes);
  return ReadRingState(store, 10, written);
}

void ExpectState(const RingState& state, std::int64_t rows, std::int64_t oldest) {
  EXPECT_EQ(state.rows, rows);
  EXPECT_EQ(state.oldest, oldest);
}

TEST(ReadRingState, WithoutAWordTheWrittenRowsCount) { ExpectState(StateOf({}, 8), 8, 0); }

TEST(ReadRingState, ASizeIsTheNumberOfRows) {
  ExpectState(StateOf({{"size", "6"}, {"ptr", "6"}}, 10), 6, 0);
  ExpectState(StateOf({{"_size", "11"}}, 10), 10, 0);
}

TEST(ReadRingState, AFullBufferBeginsWhereItWouldBeWrittenNext) {
  ExpectState(StateOf({{"size", "10"}, {"ptr", "4"}}, 10), 10, 4);
  ExpectState(StateOf({{"pos", "4"}, {"full", "True"}}, 10), 10, 4);
  ExpectState(StateOf({{"pos", "4"}}, 10), 10, 4);  // rows behind it hold data
  ExpectState(StateOf({{"pos", "0"}, {"full", "1"}}, 10), 10, 0);
}

TEST(ReadRingState, ABufferThatIsNotFullEndsWhereItWouldBeWrittenNext) {
  ExpectState(StateOf({{"pos", "4"}, {"full", "False"}}, 10), 4, 0);
  ExpectState(StateOf({{"pos", "4"}}, 4), 4, 0);
}

TEST(ReadRingState, WhatIsNoRowOfTheFileIsNotUsed) {
  ExpectState(StateOf({{"pos", "40"}}, 10), 10, 0);
  ExpectState(StateOf({{"pos", "-3"}, {"size", "left"}}, 9), 9, 0);
}

TEST(ReadRingState, NumbersMayBeArraysOfOneValue) {
  NpzFile file;
  file.Put("ptr", std::vector<std::int64_t>{3});
  file.Put("size", std::vector<std::int64_t>{10});
  MemoryStore store(file);
  ExpectState(ReadRingState(store, 10, 10), 10, 3);
}

}  // namespace
}  // namespace lfiw::core
