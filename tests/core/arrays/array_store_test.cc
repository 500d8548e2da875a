#include "core/arrays/array_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/arrays/npz_store.h"
#include "core/error.h"
#include "tests/core/logs/log_samples.h"
#include "tests/test_paths.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string kNumpyFile = SourceFile("tests/core/arrays/data/numpy.npz");

TEST(ArrayStore, AWholeArrayAboveTheLimitIsRefused) {
  const auto store = OpenNpzStore(kNumpyFile);
  EXPECT_THAT([&] { store->ReadAll("zeros", 1000); },
              ThrowsMessage<DataError>(HasSubstr("expected at most 1000")));
}

TEST(ArrayStore, RowItemsDoNotOverflow) {
  EXPECT_EQ((ArrayInfo{"f4", {2, 3, 4}}).row_items(), 12);
  EXPECT_EQ((ArrayInfo{"f4", {2}}).row_items(), 1);
  EXPECT_EQ((ArrayInfo{"f4", {}}).rows(), 1);
  EXPECT_EQ((ArrayInfo{"f4", {1, 1LL << 62, 1LL << 62}}).row_items(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ((ArrayInfo{"f4", {1, 1LL << 62, 1LL << 62, 0}}).row_items(), 0);
}

TEST(ArrayStore, NumbersOfEveryTypeConvertAndTextDoesNot) {
  EXPECT_THAT(ToDoubles(MakeNpzArray<std::uint16_t>("f2", {2}, {0x3c00, 0xc100}), "x"),
              ElementsAre(1.0, -2.5));
  EXPECT_THAT(ToDoubles(MakeNpzArray<std::int8_t>("i1", {1}, {-3}), "x"), ElementsAre(-3.0));
  EXPECT_THAT(ToIntegers(MakeNpzArray<std::uint8_t>("b1", {2}, {1, 0}), "x"), ElementsAre(1, 0));
  EXPECT_THAT([] { ToIntegers(MakeNpzArray<std::uint64_t>("u8", {1}, {1ULL << 63}), "x"); },
              ThrowsMessage<DataError>(HasSubstr("64-bit signed")));
  EXPECT_THAT([] { ToIntegers(MakeNpzArray<float>("f4", {1}, {1.0f}), "x"); },
              ThrowsMessage<DataError>(HasSubstr("expected integers")));
  EXPECT_THAT([] { ToDoubles(MakeNpzArray<char>("S1", {1}, {'a'}), "x"); },
              ThrowsMessage<DataError>(HasSubstr("expected numbers")));
}

}  // namespace
}  // namespace lfiw::core
