#include "core/arrays/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/test_paths.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using namespace std::string_literals;

std::string Fixture(const std::string& name) {
  return ReadFile(SourceFile("tests/core/arrays/data/" + name));
}

// What refuses a pickle says.
std::string ErrorOf(const std::string& bytes) {
  try {
    ParsePickle(bytes, "a.pkl");
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

class PickleOfNumpyTest : public testing::TestWithParam<const char*> {};

TEST_P(PickleOfNumpyTest, ArraysTextsAndNumbersAreWhatPythonWrote) {
  const NpzFile file = ArraysOfDict(ParsePickle(Fixture(GetParam()), "a.pkl"), "a.pkl");
  const MatrixF expected{{0.0f, 1.0f, 2.0f}, {3.0f, 4.0f, 5.0f}};
  EXPECT_EQ(file.GetMatrix("matrix"), expected);
  EXPECT_EQ(file.GetMatrix("fortran"), expected);
  EXPECT_EQ(file.GetMatrix("shared"), expected);
  EXPECT_THAT(file.GetDoubles("doubles"), ElementsAre(0.5, -1e300));
  EXPECT_THAT(file.GetIntegers("integers"), ElementsAre(1, -2));
  EXPECT_THAT(file.GetIntegers("integer"), ElementsAre(-70000));
  EXPECT_THAT(file.GetDoubles("number"), ElementsAre(2.5));
  EXPECT_THAT(file.GetFloats("scalar"), ElementsAre(1.5f));
  EXPECT_EQ(file.GetText("text"), "Größe");
}

TEST_P(PickleOfNumpyTest, EveryTruncationAndEveryFlippedByteIsADataErrorOrHarmless) {
  const std::string bytes = Fixture(GetParam());
  const auto try_read = [](const std::string& content) {
    try {
      ArraysOfDict(ParsePickle(content, "a.pkl"), "a.pkl");
    } catch (const DataError&) {
    }
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    try_read(bytes.substr(0, i));
    for (const char flip : {'\x01', '\x10', '\x80', '\xff'}) {
      std::string broken = bytes;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      try_read(broken);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, PickleOfNumpyTest,
                         testing::Values("numpy1_protocol2.pkl", "numpy1_protocol4.pkl",
                                         "numpy2_protocol5.pkl"));

TEST(PickleTest, EveryOtherFunctionOrClassIsRefusedByName) {
  EXPECT_THAT(ErrorOf("\x80\x02"
                      "cposix\nsystem\nX\x02\0\0\0lsR."s),
              AllOf(HasSubstr("a.pkl: byte "), HasSubstr("posix.system"), HasSubstr("run code")));
  EXPECT_THAT(ErrorOf("\x80\x04\x8c\x08"
                      "builtins\x8c\x04"
                      "eval\x93."s),
              HasSubstr("builtins.eval"));
  // the names of allowed functions must not be reachable as something else
  EXPECT_THAT(ErrorOf("\x80\x02"
                      "cnumpy.core.multiarray\n_reconstruct\n."s),
              HasSubstr("where a value is expected"));
}

TEST(PickleTest, OpcodesThatPlainDataDoesNotNeedAreRefused) {
  // PERSID, INST, NEWOBJ, EXT1
  EXPECT_THAT(ErrorOf("\x80\x02"
                      "Pid\n."s),
              HasSubstr("opcode 0x50"));
  EXPECT_THAT(ErrorOf("\x80\x02(iposix\nsystem\n."s), HasSubstr("opcode 0x69"));
  EXPECT_THAT(ErrorOf("\x80\x02))\x81."s), HasSubstr("opcode 0x81"));
  EXPECT_THAT(ErrorOf("\x80\x02\x82\x01."s), HasSubstr("opcode 0x82"));
}

TEST(PickleTest, SizesAreCheckedBeforeAllocation) {
  EXPECT_THAT(ErrorOf("\x80\x02"
                      "B\xff\xff\xff\x7f"
                      "abc."s),
              AllOf(HasSubstr("2147483647 bytes are wanted"), HasSubstr("are left")));
  EXPECT_THAT(ErrorOf("\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff."s), HasSubstr("are wanted"));
}

TEST(PickleTest, ReferencesCannotMultiplyTheContent) {
  // each list holds the one before twice: 2^60 values of 0
  std::string bytes = "\x80\x04]K\0a\x94"s;
  for (int i = 0; i < 60; ++i) {
    const char memo = static_cast<char>(i);
    bytes += "](h"s + memo + "h"s + memo + "e\x94"s;
  }
  EXPECT_THAT(ErrorOf(bytes + "."), HasSubstr("multiply"));
}

TEST(PickleTest, NestingAndCyclesEnd) {
  std::string deep = "\x80\x04"s;
  for (int i = 0; i < 1000; ++i) deep += "]";
  for (int i = 0; i < 999; ++i) deep += "a";
  EXPECT_THAT(ErrorOf(deep + "."), HasSubstr("nested"));
  // a list that holds itself
  EXPECT_THAT(ErrorOf("\x80\x04]\x94h\0a."s), AnyOf(HasSubstr("nested"), HasSubstr("multiply")));
}

TEST(PickleTest, UseOfWhatIsNotThereIsRefused) {
  EXPECT_THAT(ErrorOf("\x80\x04."s), HasSubstr("not there"));
  EXPECT_THAT(ErrorOf("\x80\x04h\x05."s), HasSubstr("memo 5"));
  EXPECT_THAT(ErrorOf("\x80\x04t."s), HasSubstr("no beginning"));
  EXPECT_THAT(ErrorOf("\x80\x04}(K\0u."s), HasSubstr("without a value"));
  EXPECT_THAT(ErrorOf("\x80\x04K\0K\x01"
                      "a."s),
              HasSubstr("no list or dictionary"));
  EXPECT_THAT(ErrorOf("\x80\x01."s), HasSubstr("protocol 1"));
}

TEST(PickleTest, ADictionaryOfOtherValuesHasNoArrays) {
  EXPECT_THAT([] { ArraysOfDict(ParsePickle("\x80\x04]."s, "a.pkl"), "a.pkl"); },
              ThrowsMessage<DataError>(HasSubstr("no dictionary")));
  EXPECT_THAT([] { ArraysOfDict(ParsePickle("\x80\x04}K\x01K\x02s."s, "a.pkl"), "a.pkl"); },
              ThrowsMessage<DataError>(HasSubstr("is no text")));
  EXPECT_THAT([] { ArraysOfDict(ParsePickle("\x80\x04}\x8c\x01xNs."s, "a.pkl"), "a.pkl"); },
              ThrowsMessage<DataError>(HasSubstr("'x' is no array")));
}

}  // namespace
}  // namespace lfiw::core
