#include "core/images/png.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ImageBatch Ramp(std::int64_t count, std::int64_t channels) {
  ImageBatch images{
      .count = count, .height = 5, .width = 7, .channels = channels, .pixels = {}, .labels = {}};
  for (std::int64_t i = 0; i < count * images.image_size(); ++i) {
    images.pixels.push_back(static_cast<std::uint8_t>(i * 37 % 256));
  }
  return images;
}

TEST(PngTest, GrayAndColorSurviveEncodingAndDecoding) {
  for (const std::int64_t channels : {1, 3}) {
    const ImageBatch in = Ramp(2, channels);
    const ImageBatch out = DecodePng(EncodePng(in, 1), "memory");
    EXPECT_EQ(out.height, 5);
    EXPECT_EQ(out.width, 7);
    EXPECT_EQ(out.channels, channels);
    EXPECT_TRUE(std::ranges::equal(out.pixels, in.Image(1)));
  }
}

TEST(PngTest, TheSameImageGivesTheSameBytes) {
  EXPECT_EQ(EncodePng(Ramp(1, 3), 0), EncodePng(Ramp(1, 3), 0));
}

TEST(PngTest, EveryTruncationAndEveryFlippedByteIsADataErrorOrHarmless) {
  const std::string bytes = EncodePng(Ramp(1, 3), 0);
  const auto try_decode = [](const std::string& content) {
    try {
      DecodePng(content, "memory");
    } catch (const DataError&) {
    }
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    try_decode(bytes.substr(0, i));
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string broken = bytes;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      try_decode(broken);
    }
  }
}

TEST(PngTest, AHugeSizeIsRefusedBeforeAllocating) {
  // the header of a gray image of 2^30 x 2^30 pixels, checksum and all
  const std::string header(
      "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x40\x00\x00\x00\x40\x00\x00\x00\x08\x00\x00\x00\x00"
      "\x7d\xff\xb1\x62",
      33);
  EXPECT_THAT([&] { DecodePng(header, "a.png"); }, ThrowsMessage<DataError>(HasSubstr("a.png")));
}

TEST(PngTest, WhatIsNoPngIsNamed) {
  const TestDir dir;
  WriteFileAtomically(dir / "a.png", "not a PNG");
  EXPECT_THAT([&] { ReadPng(dir / "a.png"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("a.png"), HasSubstr("not a readable PNG"))));
  EXPECT_THROW(ReadPng(dir / "absent.png"), DataError);
}

}  // namespace
}  // namespace lfiw::core
