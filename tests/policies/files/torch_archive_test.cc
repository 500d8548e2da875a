#include "policies/files/torch_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "tests/core/test_dir.h"
#include "tests/policies/files/sb3_archive.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class TorchArchiveTest : public testing::Test {
 protected:
  NpzFile Read(const sb3::Entries& entries) const {
    sb3::WriteArchive(dir_ / "a.pth", entries);
    return ReadTorchArchive(ReadFile(dir_ / "a.pth"), "a.pth");
  }

  TestDir dir_;
};

TEST_F(TorchArchiveTest, TensorsAreArraysByName) {
  const NpzFile file = ReadTorchArchive(
      sb3::TorchFile(
          {{"a.weight", MatrixF{{1.0f, 2.0f}, {3.0f, 4.0f}}}, {"a.bias", MatrixF{{5.0f}, {6.0f}}}},
          dir_ / "a.pth"),
      "a.pth");
  EXPECT_EQ(file.GetMatrix("a.weight"), (MatrixF{{1.0f, 2.0f}, {3.0f, 4.0f}}));
  EXPECT_EQ(file.GetVector("a.bias"), (VectorF{{5.0f, 6.0f}}));
  EXPECT_EQ(file.arrays().size(), 2U);
}

TEST_F(TorchArchiveTest, WhatIsNoSuchFileSaysWhy) {
  EXPECT_THAT(
      [&] {
        Read({{"data", "x"}});
      },
      ThrowsMessage<DataError>(HasSubstr("no archive that torch.save wrote")));
  EXPECT_THAT([&] { ReadTorchArchive("old format", "a.pth"); },
              ThrowsMessage<DataError>(HasSubstr("a.pth: no archive")));
  const std::string tensor = sb3::Pickle(sb3::Dict({{"w", sb3::Tensor("0", 2, 0, {2}, {1})}}));
  EXPECT_THAT(
      [&] {
        Read({{"archive/data.pkl", tensor}});
      },
      ThrowsMessage<DataError>(HasSubstr("'archive/data/0': missing")));
  EXPECT_THAT(
      [&] {
        Read({{"archive/data.pkl", tensor}, {"archive/data/0", "1234"}});
      },
      ThrowsMessage<DataError>(HasSubstr("storage 0 of 4 bytes, expected 8")));
  EXPECT_THAT(
      [&] {
        Read({{"a/data.pkl", tensor}, {"a/byteorder", "big"}});
      },
      ThrowsMessage<DataError>(HasSubstr("big-endian")));
  const std::string code =
      sb3::Pickle(sb3::Global("os", "system") + sb3::Tuple({sb3::Text("ls")}) + "R");
  EXPECT_THAT(
      [&] {
        Read({{"archive/data.pkl", code}});
      },
      ThrowsMessage<DataError>(HasSubstr("os.system, which could run code")));
}

}  // namespace
}  // namespace lfiw::policies
