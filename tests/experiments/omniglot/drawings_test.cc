#include "experiments/omniglot/drawings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/images/png.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"
#include "tests/shared_data.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kScan = 105;
constexpr std::int64_t kPacked = 1379;

std::vector<std::byte> Bytes(std::int64_t count, const std::function<int(std::int64_t)>& value) {
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(value(i)));
  return bytes;
}

// Packed scans of random ink, [classes, drawings, 1379].
NpzArray RandomBits(std::int64_t classes, std::int64_t drawings) {
  Stream stream(3, "ink");
  return {
      "u1", {classes, drawings, kPacked}, Bytes(classes * drawings * kPacked, [&](std::int64_t) {
        return int(stream.Below(256));
      })};
}

bool Ink(const NpzArray& bits, std::int64_t drawing, std::int64_t pixel) {
  const auto byte = bits.bytes[static_cast<std::size_t>(drawing * kPacked + pixel / 8)];
  return (std::to_integer<int>(byte) & 128 >> pixel % 8) != 0;
}

// Texts of five bytes.
NpzArray Texts(const std::string& padded) {
  return {"S5", {std::ssize(padded) / 5}, Bytes(std::ssize(padded), [&](std::int64_t i) {
            return padded[std::size_t(i)];
          })};
}

class DrawingsTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, NpzArray array, const std::string& file = "a.npz") {
    NpzFile npz;
    npz.Put(name, std::move(array));
    npz.Write(dir_ / file);
    return dir_ / file;
  }

  // One drawing as the published files are: black ink on white.
  void WritePng(const std::string& path, const NpzArray& bits, std::int64_t drawing) {
    ImageBatch image{
        .count = 1, .height = kScan, .width = kScan, .channels = 1, .pixels = {}, .labels = {}};
    for (std::int64_t p = 0; p < kScan * kScan; ++p) {
      image.pixels.push_back(Ink(bits, drawing, p) ? 0 : 255);
    }
    CreateDirectories(std::filesystem::path(path).parent_path().string());
    WriteFileAtomically(path, EncodePng(image, 0));
  }

  TestDir dir_;
};

TEST_F(DrawingsTest, BitsImagesAndTheTreeOfFilesGiveTheSameDrawings) {
  const NpzArray bits = RandomBits(3, 2);
  const Drawings from_bits = ReadDrawings({Write("bits", bits, "bits.npz")});
  ASSERT_EQ(from_bits.images.count, 6);
  EXPECT_EQ(from_bits.images.height, kDrawingSide);
  EXPECT_EQ(from_bits.images.labels, (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2}));

  const NpzArray scans{"u1", {3, 2, kScan, kScan}, Bytes(6 * kScan * kScan, [&](std::int64_t i) {
                         return Ink(bits, i / (kScan * kScan), i % (kScan * kScan)) ? 255 : 0;
                       })};
  const Drawings from_images = ReadDrawings({Write("images", scans, "images.npz")});
  EXPECT_EQ(from_images.images.pixels, from_bits.images.pixels);

  // the number in the files' names puts classes in order, not the alphabet's name
  const char* folders[] = {"Zulu/character01/0004_", "Alpha/character01/0005_",
                           "Alpha/character02/0011_"};
  for (std::int64_t i = 0; i < 6; ++i) {
    WritePng(dir_ / "tree" + "/" + folders[i / 2] + (i % 2 == 0 ? "02" : "11") + ".png", bits, i);
  }
  const Drawings from_tree = ReadDrawings({dir_ / "tree"});
  EXPECT_EQ(from_tree.images.pixels, from_bits.images.pixels);
  EXPECT_EQ(from_tree.images.labels, from_bits.images.labels);
  EXPECT_EQ(from_tree.per_class, 2);
  EXPECT_THAT(from_tree.names,
              ElementsAre("Zulu character01", "Alpha character01", "Alpha character02"));
}

TEST_F(DrawingsTest, ThePublishedScansAverageToThePublishedSmallDrawings) {
  const std::string scans = SharedData("omniglot/omniglot_105_bits.npz");
  const std::string small = SharedData("omniglot/omniglot_28_u8.npz");
  if (scans.empty() || small.empty()) GTEST_SKIP() << "Omniglot is not at hand";
  const Drawings a = ReadDrawings({scans}), b = ReadDrawings({small});
  EXPECT_EQ(a.images.count, 1623 * 20);
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.names.front(), "Arcadian character01");
  EXPECT_TRUE(a.images.pixels == b.images.pixels);
}

TEST_F(DrawingsTest, SeveralPathsArePutTogetherInTheirOrder) {
  const NpzArray bits = RandomBits(2, 3);
  const std::string path = Write("bits", bits);
  const Drawings once = ReadDrawings({path}), twice = ReadDrawings({path, path});
  EXPECT_EQ(twice.classes(), 4);
  EXPECT_EQ(twice.images.count, 12);
  EXPECT_EQ(twice.images.labels.back(), 3);
  EXPECT_TRUE(std::equal(once.images.pixels.begin(), once.images.pixels.end(),
                         twice.images.pixels.begin() + std::ssize(once.images.pixels)));
}

TEST_F(DrawingsTest, ClassesAreNamedByTheFileElseNumbered) {
  NpzFile file;
  file.Put("bits", RandomBits(2, 1));
  file.Put("alphabet", Texts(std::string("GreekTamil")));
  file.Put("character", Texts(std::string("c01\0\0c2\0\0\0", 10)));
  file.Write(dir_ / "named.npz");
  EXPECT_THAT(ReadDrawings({dir_ / "named.npz"}).names, ElementsAre("Greek c01", "Tamil c2"));
  EXPECT_THAT(ReadDrawings({Write("bits", RandomBits(2, 1))}).names,
              ElementsAre("class 0", "class 1"));
}

TEST_F(DrawingsTest, ArraysOfOtherShapesAreErrorsThatSayWhatWasExpected) {
  const auto zeros = [](std::int64_t count) {
    return Bytes(count, [](std::int64_t) { return 0; });
  };
  const auto expect = [&](const std::string& path, const char* words) {
    EXPECT_THAT([&] { ReadDrawings({path}); },
                ThrowsMessage<DataError>(AllOf(HasSubstr(path), HasSubstr(words))));
  };
  expect(Write("images", {"u1", {2, 20, 8, 8}, zeros(2 * 20 * 64)}), "shape [2, 20, 8, 8]");
  expect(Write("images", {"u1", {1, 1, 30, 28}, zeros(840)}), "uint8 [classes, drawings, side");
  expect(Write("images", {"f4", {1, 1, 28, 28}, zeros(784 * 4)}), "type f4");
  expect(Write("images", {"u1", {0, 20, 28, 28}, {}}), "shape [0, 20, 28, 28]");
  expect(Write("bits", {"u1", {1, 2, 11025}, zeros(2 * 11025)}), "expected uint8 [classes");
  expect(Write("pixels", {"u1", {1, 1, 28, 28}, zeros(784)}), "holds neither");
}

TEST_F(DrawingsTest, NamesOfAnotherNumberAreAnError) {
  NpzFile file;
  file.Put("bits", RandomBits(2, 1));
  file.Put("alphabet", Texts("Greek"));
  file.Write(dir_ / "named.npz");
  EXPECT_THAT([&] { ReadDrawings({dir_ / "named.npz"}); },
              ThrowsMessage<DataError>(HasSubstr("alphabet has type S5 and shape [1]")));
}

TEST_F(DrawingsTest, PathsWithUnequalNumbersOfDrawingsAreAnError) {
  EXPECT_THAT(
      [&] {
        ReadDrawings(
            {Write("bits", RandomBits(1, 2), "a.npz"), Write("bits", RandomBits(1, 3), "b.npz")});
      },
      ThrowsMessage<DataError>(HasSubstr("3 drawings of a class, the paths before it 2")));
}

TEST_F(DrawingsTest, WithoutPathsItSaysWhatToGive) {
  EXPECT_THAT([] { ReadDrawings({}); }, ThrowsMessage<ConfigError>(HasSubstr("data=[PATH")));
}

TEST_F(DrawingsTest, AMissingFileIsNamed) {
  EXPECT_THAT([&] { ReadDrawings({dir_ / "missing.npz"}); },
              ThrowsMessage<DataError>(HasSubstr("missing.npz")));
}

TEST_F(DrawingsTest, BrokenTreesAreErrorsThatNameTheFile) {
  const NpzArray bits = RandomBits(1, 1);
  const auto expect = [&](const std::string& tree, const char* words) {
    EXPECT_THAT([&] { ReadDrawings({dir_ / tree}); }, ThrowsMessage<DataError>(HasSubstr(words)));
  };
  CreateDirectories(dir_ / "empty");
  expect("empty", "no drawings here");
  WritePng(dir_ / "misnamed/A/c1/drawing.png", bits, 0);
  expect("misnamed", "drawing.png: expected a name such as 0709_01.png");
  WritePng(dir_ / "twice/A/c1/0001_01.png", bits, 0);
  WritePng(dir_ / "twice/A/c2/0001_02.png", bits, 0);
  expect("twice", "of class 1 is there twice");
  WritePng(dir_ / "unequal/A/c1/0001_01.png", bits, 0);
  WritePng(dir_ / "unequal/A/c2/0002_01.png", bits, 0);
  WritePng(dir_ / "unequal/A/c2/0002_02.png", bits, 0);
  expect("unequal", "has 2 drawings, those before it 1");
  CreateDirectories(dir_ / "broken/A/c1");
  WriteFileAtomically(dir_ / "broken/A/c1/0001_01.png", "not a png");
  expect("broken", "0001_01.png: not a readable PNG file");
  CreateDirectories(dir_ / "small/A/c1");
  const ImageBatch tiny{
      .count = 1, .height = 2, .width = 2, .channels = 1, .pixels = {0, 0, 0, 0}, .labels = {}};
  WriteFileAtomically(dir_ / "small/A/c1/0001_01.png", EncodePng(tiny, 0));
  expect("small", "has 2 x 2 pixels of 1 channels");
}

}  // namespace
}  // namespace lfiw::experiments
