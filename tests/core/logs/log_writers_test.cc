#include "core/logs/log_writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ActionIndices, ArePlacesOfTheOnes) {
  EXPECT_THAT(ActionIndices(MatrixF{{0.0f, 1.0f, 0.0f}, {1.0f, 0.0f, 0.0f}}, "log"),
              ElementsAre(1, 0));
}

TEST(ActionIndices, ARowWithoutAOneNamesThePath) {
  for (const MatrixF& rows : {MatrixF{{0.0f, 0.5f}}, MatrixF(1, 0)}) {
    EXPECT_THAT([&] { ActionIndices(rows, "log"); },
                ThrowsMessage<DataError>(HasSubstr("cannot write log: an action that is no")));
  }
}

TEST(CheckedStream, BytesMayBePutBeforeThoseThatWereWritten) {
  const TestDir dir;
  CheckedStream stream(dir / "a");
  stream.Write("....body");
  stream.WriteAt(0, "head");
  stream.Close();
  EXPECT_EQ(ReadFile(dir / "a"), "headbody");
}

TEST(CheckedStream, EveryFailureNamesThePathAndTheReason) {
  const TestDir dir;
  EXPECT_THAT([&] { CheckedStream(dir / "none/a"); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr(dir / "none/a"), HasSubstr("No such file or directory"))));
  // what is buffered meets the full disk when the file is closed
  CheckedStream full("/dev/full");
  full.Write("a");
  EXPECT_THAT([&] { full.Close(); },
              ThrowsMessage<DataError>(HasSubstr("/dev/full: No space left on device")));
  CheckedStream large("/dev/full");
  EXPECT_THROW(large.Write(std::string(1 << 20, 'a')), DataError);
}

}  // namespace
}  // namespace lfiw::core
