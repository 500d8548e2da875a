#include "core/arrays/npy_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

std::string TextOf(const std::string& bytes) { return bytes.substr(10); }

TEST(NpyHeaderTest, FormatMatchesNumpysOwnBytes) {
  // numpy.lib.format of a float32 [3] and [3, 4] array
  const std::string vector = FormatNpyHeader({"f4", {3}, false});
  EXPECT_EQ(vector.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(vector.size(), 128u);
  EXPECT_THAT(vector, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } "));
  EXPECT_THAT(FormatNpyHeader({"u1", {3, 4}, false}),
              HasSubstr("{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), } "));
}

TEST(NpyHeaderTest, ParseInvertsFormat) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{}, {0}, {7}, {2, 3}, {1, 2, 3, 4, 5}}) {
    const NpyHeader header = ParseNpyHeader(TextOf(FormatNpyHeader({"f8", shape, true})), "x");
    EXPECT_EQ(header.type, "f8");
    EXPECT_EQ(header.shape, shape);
    EXPECT_TRUE(header.fortran_order);
  }
}

TEST(NpyHeaderTest, ParseAcceptsAnyKeyOrderAndQuotes) {
  const NpyHeader header =
      ParseNpyHeader("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"|b1\"}\n", "x");
  EXPECT_EQ(header.type, "b1");
  EXPECT_THAT(header.shape, ElementsAre(2, 3));
  EXPECT_THAT(ParseNpyHeader("{'descr':'|O','fortran_order':False,'shape':()}", "x").shape,
              IsEmpty());
}

TEST(NpyHeaderTest, MalformedHeadersAreDataErrors) {
  for (const char* text : {
           "",
           "{",
           "{}",
           "{'descr': '<f4'}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)",
           "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (3.5,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (3 4)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} + x",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}",
           "{'descr': 'f4', 'fortran_order': False, 'shape': (3,)}",
           "{'descr': '<f4",
       }) {
    EXPECT_THAT([&] { ParseNpyHeader(text, "file: array 'a'"); },
                ThrowsMessage<DataError>(HasSubstr("file: array 'a': malformed")))
        << text;
  }
}

TEST(NpyHeaderTest, BigEndianAndStructuredTypesAreNamed) {
  EXPECT_THAT([] { ParseNpyHeader("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", "x"); },
              ThrowsMessage<DataError>(HasSubstr("big-endian")));
  EXPECT_THAT([] { ParseNpyHeader("{'descr': [('a', '<f4')], 'shape': ()}", "x"); },
              ThrowsMessage<DataError>(HasSubstr("structured")));
}

TEST(NpyHeaderTest, ByteCountRefusesOverflow) {
  EXPECT_EQ(NpyByteCount({"f8", {2, 3}, false}, "x"), 48);
  EXPECT_EQ(NpyByteCount({"f8", {}, false}, "x"), 8);
  EXPECT_EQ(NpyByteCount({"f8", {0, 1LL << 62, 1LL << 62}, false}, "x"), 0);
  EXPECT_THAT(
      [] {
        NpyByteCount({"f4", {1LL << 31, 1LL << 31}, false}, "x");
      },
      ThrowsMessage<DataError>(HasSubstr("exceeds")));
}

TEST(NpyHeaderTest, ItemSizeKnowsNumpysPlainTypesOnly) {
  EXPECT_EQ(NpyItemSize("f4"), 4);
  EXPECT_EQ(NpyItemSize("i8"), 8);
  EXPECT_EQ(NpyItemSize("b1"), 1);
  EXPECT_EQ(NpyItemSize("S5"), 5);
  EXPECT_EQ(NpyItemSize("U5"), 20);
  for (const char* type : {"", "O", "f", "f3", "f16", "c8", "i-8", "M8[ns]", "U99999999999"}) {
    EXPECT_EQ(NpyItemSize(type), 0) << type;
  }
}

TEST(NpyHeaderTest, PreambleGivesTheWidthOfTheLengthField) {
  EXPECT_EQ(NpyLengthSize(std::string("\x93NUMPY\x01\x00", 8), "x"), 2u);
  EXPECT_EQ(NpyLengthSize(std::string("\x93NUMPY\x03\x00", 8), "x"), 4u);
  EXPECT_THROW(NpyLengthSize(std::string("\x93NUMPY\x04\x00", 8), "x"), DataError);
  EXPECT_THROW(NpyLengthSize("PK\x03\x04....", "x"), DataError);
}

}  // namespace
}  // namespace lfiw::core
