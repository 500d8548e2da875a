#include "core/arrays/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

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

// An instance of a class that has a state; nested in its state, an array's type and a class alone.
const std::string kObjectPickle =
    "\x80\x02"
    "cgym.spaces\nBox\n)\x81}(X\x01\x00\x00\x00nK\x05X\x01\x00\x00\x00t"
    "cnumpy\ndtype\n(X\x02\x00\x00\x00"
    "f4K\x00K\x01tRX\x01\x00\x00\x00"
    "fcos\nsystem\nub."s;

TEST(PickleTest, ObjectsAreReadByNameAndStateWhereThatIsAskedFor) {
  EXPECT_THAT(ErrorOf(kObjectPickle), HasSubstr("gym.spaces.Box"));
  const PickleValue value = ParsePickle(kObjectPickle, "a.pkl", {.objects = true, .storage = {}});
  EXPECT_EQ(std::get<PickleValue::Object>(value.value).type, "gym.spaces.Box");
  EXPECT_EQ(std::get<std::int64_t>(FindKey(value, "n")->value), 5);
  EXPECT_EQ(std::get<PickleValue::Object>(FindKey(value, "f")->value).type, "os.system");
  EXPECT_EQ(FindKey(value, "missing"), nullptr);
  EXPECT_EQ(FindKey(*FindKey(value, "n"), "n"), nullptr);
}

TEST(PickleTest, ACallOfAnotherFunctionIsAnObjectToo) {
  const PickleValue value = ParsePickle(
      "\x80\x02"
      "cos\nsystem\n(X\x02\x00\x00\x00lstR."s,
      "a.pkl", {.objects = true, .storage = {}});
  const auto& object = std::get<PickleValue::Object>(value.value);
  EXPECT_EQ(object.type, "os.system");
  EXPECT_EQ(std::get<std::string>(object.arguments.at(0).value), "ls");
  EXPECT_TRUE(object.state.empty());
}

TEST(PickleTest, EveryTruncationAndEveryFlippedByteOfObjectsIsADataErrorOrHarmless) {
  const auto try_read = [](const std::string& content) {
    try {
      ParsePickle(content, "a.pkl", {.objects = true, .storage = {}});
    } catch (const DataError&) {
    }
  };
  for (std::size_t i = 0; i < kObjectPickle.size(); ++i) {
    try_read(kObjectPickle.substr(0, i));
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string broken = kObjectPickle;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      try_read(broken);
    }
  }
}

// A tensor of storage "0" of six floats, 0 to 5, with offset, shape and strides of one byte each.
std::string TensorPickle(const std::string& offset, const std::string& shape,
                         const std::string& strides) {
  const auto numbers = [](const std::string& digits) {
    std::string out(1, '(');
    for (const char digit : digits) {
      out += 'K';
      out += static_cast<char>(digit - '0');
    }
    out += 't';
    return out;
  };
  std::string pickle =
      "\x80\x02}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storage"s;
  pickle += "ctorch\nFloatStorage\nX\x01\x00\x00\x00"s;
  pickle += "0X\x03\x00\x00\x00"s;
  pickle += "cpuK\x06tQK"s;
  pickle += static_cast<char>(offset[0] - '0');
  pickle += numbers(shape);
  pickle += numbers(strides);
  pickle += "\x89"s;
  pickle += "ccollections\nOrderedDict\n)RtRs."s;
  return pickle;
}

MatrixF ReadTensor(const std::string& pickle) {
  const auto storage = [](const std::string& key, std::int64_t size) {
    EXPECT_EQ(key, "0");
    const std::vector<float> values{0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f};
    std::string bytes(static_cast<std::size_t>(size), '\0');
    std::memcpy(bytes.data(), values.data(), std::min(bytes.size(), 4 * values.size()));
    return bytes;
  };
  const PickleOptions options{.objects = false, .storage = storage};
  return ArraysOfDict(ParsePickle(pickle, "a.pkl", options), "a.pkl").GetMatrix("w");
}

TEST(PickleTest, TensorsOfPyTorchAreArraysWhateverTheirStrides) {
  EXPECT_EQ(ReadTensor(TensorPickle("0", "23", "31")),
            (MatrixF{{0.0f, 1.0f, 2.0f}, {3.0f, 4.0f, 5.0f}}));
  EXPECT_EQ(ReadTensor(TensorPickle("0", "32", "13")),
            (MatrixF{{0.0f, 3.0f}, {1.0f, 4.0f}, {2.0f, 5.0f}}));
  EXPECT_EQ(ReadTensor(TensorPickle("4", "12", "11")), (MatrixF{{4.0f, 5.0f}}));
  EXPECT_EQ(ReadTensor(TensorPickle("0", "03", "31")).size(), 0);
  EXPECT_THAT(ErrorOf(TensorPickle("0", "23", "31")), HasSubstr("torch._utils"));
}

TEST(PickleTest, ATensorBeyondItsStorageIsRefused) {
  const auto read = [](const std::string& offset, const std::string& shape,
                       const std::string& strides) {
    return [=] { ReadTensor(TensorPickle(offset, shape, strides)); };
  };
  EXPECT_THAT(read("1", "23", "31"), ThrowsMessage<DataError>(HasSubstr("beyond its storage")));
  EXPECT_THAT(read("0", "23", "91"), ThrowsMessage<DataError>(HasSubstr("beyond its storage")));
  EXPECT_THAT(read("0", "66", "00"), ThrowsMessage<DataError>(HasSubstr("beyond its storage")));
  EXPECT_THAT(read("0", "23", "3"), ThrowsMessage<DataError>(HasSubstr("1 strides")));
}

}  // namespace
}  // namespace lfiw::core
