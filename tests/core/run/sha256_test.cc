#include "core/run/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Sha256Test, MatchesThePublishedExamples) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256Test, AFileOfManyBlocksHashesAsItsBytes) {
  const TestDir dir;
  const std::string bytes(1'000'001, 'a');
  WriteFileAtomically(dir / "f", bytes);
  EXPECT_EQ(Sha256HexOfFile(dir / "f"), Sha256Hex(bytes));
}

TEST(Sha256Test, UnreadableFilesAreNamed) {
  const TestDir dir;
  EXPECT_THAT([&] { Sha256HexOfFile(dir / "no"); },
              ThrowsMessage<DataError>(HasSubstr(dir / "no")));
  EXPECT_THROW(Sha256HexOfFile(dir.path()), DataError);
}

}  // namespace
}  // namespace lfiw::core
