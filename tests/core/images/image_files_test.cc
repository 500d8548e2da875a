#include "core/images/image_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/images/png.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"
#include "tests/shared_data.h"

namespace lfiw::core {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ImageBatch Ramp(std::int64_t count, std::int64_t side, std::int64_t channels) {
  ImageBatch images{.count = count,
                    .height = side,
                    .width = side,
                    .channels = channels,
                    .pixels = {},
                    .labels = {}};
  for (std::int64_t i = 0; i < count * images.image_size(); ++i) {
    images.pixels.push_back(static_cast<std::uint8_t>(i * 37 % 256));
  }
  return images;
}

// Two records whose planes are all red = 1, green = 2, blue = 3, and red = 4.
std::string CifarBytes() {
  std::string bytes;
  for (const char label : {'\x07', '\x00'}) {
    bytes += label;
    for (const char value : {'\x01', '\x02', '\x03'}) {
      bytes += std::string(1024, static_cast<char>(value + (label == 0 ? 3 : 0)));
    }
  }
  return bytes;
}

TEST(ReadImages, CifarPlanesBecomeChannels) {
  const TestDir dir;
  WriteFileAtomically(dir / "a.bin", CifarBytes());
  const ImageFile file = ReadImages(dir / "a.bin");
  EXPECT_EQ(file.format, ImageFormat::kCifar10);
  EXPECT_EQ(file.images.count, 2);
  EXPECT_THAT(file.images.labels, ElementsAre(7, 0));
  EXPECT_THAT(file.images.Image(0).subspan(0, 4), ElementsAre(1, 2, 3, 1));
  EXPECT_THAT(file.images.Image(1).subspan(3069), ElementsAre(4, 5, 6));
}

TEST(ReadImages, ABrokenCifarFileSaysWhatIsWrong) {
  const TestDir dir;
  WriteFileAtomically(dir / "short.bin", CifarBytes().substr(1));
  EXPECT_THAT([&] { ReadImages(dir / "short.bin"); },
              ThrowsMessage<DataError>(HasSubstr("6145 bytes, expected records of 3073")));
  std::string bytes = CifarBytes();
  bytes[3073] = '\x0a';
  WriteFileAtomically(dir / "label.bin", bytes);
  EXPECT_THAT([&] { ReadImages(dir / "label.bin"); },
              ThrowsMessage<DataError>(HasSubstr("record 1 has label 10")));
}

TEST(ReadImages, AFolderOfPngsIsReadInTheOrderOfNames) {
  const TestDir dir;
  const ImageBatch images = Ramp(3, 4, 3);
  WriteFileAtomically(dir / "b.png", EncodePng(images, 1));
  WriteFileAtomically(dir / "a.png", EncodePng(images, 0));
  WriteFileAtomically(dir / "c.png", EncodePng(images, 2));
  WriteFileAtomically(dir / "notes.txt", "no image");
  const ImageFile file = ReadImages(dir.path());
  EXPECT_EQ(file.format, ImageFormat::kPngs);
  EXPECT_EQ(file.images.pixels, images.pixels);
}

TEST(ReadImages, NamesMayBeInUpperCaseAndHiddenFilesAreNoImages) {
  const TestDir dir;
  const ImageBatch images = Ramp(2, 4, 3);
  WriteFileAtomically(dir / "A.PNG", EncodePng(images, 0));
  WriteFileAtomically(dir / "b.png", EncodePng(images, 1));
  WriteFileAtomically(dir / "._b.png", "left by a file system");
  EXPECT_EQ(ReadImages(dir.path()).images.pixels, images.pixels);
}

TEST(ReadImages, PngsOfDifferentSizesAreNamed) {
  const TestDir dir;
  WriteFileAtomically(dir / "a.png", EncodePng(Ramp(1, 4, 3), 0));
  WriteFileAtomically(dir / "b.png", EncodePng(Ramp(1, 5, 3), 0));
  EXPECT_THAT([&] { ReadImages(dir.path()); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("b.png"), HasSubstr("5 x 5"))));
}

TEST(ReadImages, WhatWriteImagesWroteComesBack) {
  const TestDir dir;
  ImageBatch images = Ramp(3, 4, 1);
  images.labels = {2, 1, 0};
  WriteImages(images, dir / "a.npz");
  const ImageFile file = ReadImages(dir / "a.npz");
  EXPECT_EQ(file.format, ImageFormat::kNpz);
  EXPECT_EQ(file.images.pixels, images.pixels);
  EXPECT_EQ(file.images.labels, images.labels);
  EXPECT_EQ(file.images.channels, 1);
}

TEST(ReadImages, AnArrayThatHoldsNoImagesIsDescribed) {
  const TestDir dir;
  NpzFile file;
  file.Put("arr_0", std::vector<double>{1.0});
  file.Write(dir / "a.npz");
  EXPECT_THAT([&] { ReadImages(dir / "a.npz"); },
              ThrowsMessage<DataError>(HasSubstr("type f8 and shape [1], expected uint8")));
}

TEST(ReadImages, TheMemoryLimitIsEnforced) {
  const TestDir dir;
  std::filesystem::create_directory(dir / "pngs");
  for (const char* name : {"pngs/a.png", "pngs/b.png"}) {
    WriteFileAtomically(dir / name, EncodePng(Ramp(1, 4, 3), 0));
  }
  EXPECT_THAT([&] { ReadImages(dir / "pngs", 50); },
              ThrowsMessage<DataError>(HasSubstr("2 images of 48 bytes exceed the limit of 50")));
  WriteFileAtomically(dir / "a.bin", CifarBytes());
  EXPECT_THROW(ReadImages(dir / "a.bin", 1000), DataError);
}

TEST(ReadImages, OtherFilesAreRefused) {
  EXPECT_THAT([] { ReadImages("images.tar"); },
              ThrowsMessage<DataError>(HasSubstr("unknown kind of image file")));
}

TEST(ReadImages, ReadsCifar10AsPublished) {
  const std::string path = SharedData("cifar10/data_batch_1.bin");
  if (path.empty()) GTEST_SKIP() << "CIFAR-10 is not at hand";
  const ImageBatch images = ReadImages(path).images;
  EXPECT_EQ(images.count, 10'000);
  // the first image is a frog; its first pixel is (59, 62, 63)
  EXPECT_EQ(images.labels[0], 6);
  EXPECT_THAT(images.Image(0).subspan(0, 3), ElementsAre(59, 62, 63));
}

}  // namespace
}  // namespace lfiw::core
