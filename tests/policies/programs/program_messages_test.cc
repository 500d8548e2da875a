#include "policies/programs/program_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

TEST(ProgramMessagesTest, TheFirstLineSaysSizesAndWhatIsAnswered) {
  const ProgramHello hello = ParseProgramHello(
      "lfiw-policy 1 obs_dim=17 action_dim=6 noise_dim=6 discrete=0 density=1 answer_seconds=2.5");
  EXPECT_EQ(hello.obs_dim, 17);
  EXPECT_EQ(hello.action_dim, 6);
  EXPECT_EQ(hello.noise_dim, 6);
  EXPECT_FALSE(hello.discrete);
  EXPECT_TRUE(hello.density);
  EXPECT_EQ(hello.answer_seconds, 2.5);
}

TEST(ProgramMessagesTest, SizesAreEnoughAndTheExampleIsValid) {
  const ProgramHello hello = ParseProgramHello("lfiw-policy 1  action_dim=2 obs_dim=3\r");
  EXPECT_EQ(hello.noise_dim, 0);
  EXPECT_EQ(hello.answer_seconds, 60.0);
  EXPECT_EQ(ParseProgramHello(ProgramHelloTemplate()).obs_dim, 17);
}

TEST(ProgramMessagesTest, EveryFaultOfTheFirstLineIsNamed) {
  const auto error = [](const std::string& line) { return [line] { ParseProgramHello(line); }; };
  EXPECT_THAT(error("Loading weights..."),
              ThrowsMessage<DataError>(AllOf(StartsWith("'Loading weights...' where a line such"),
                                             HasSubstr(ProgramHelloTemplate()))));
  EXPECT_THAT(error("lfiw-policy 12 obs_dim=3"), ThrowsMessage<DataError>(HasSubstr("where")));
  EXPECT_THAT(error("lfiw-policy 1 obs_dim=3"),
              ThrowsMessage<DataError>(HasSubstr("without action_dim")));
  EXPECT_THAT(error("lfiw-policy 1 obs_dim=x action_dim=2"),
              ThrowsMessage<DataError>(HasSubstr("obs_dim is 'x', expected a number from 1")));
  EXPECT_THAT(error("lfiw-policy 1 obs_dim=99999999999 action_dim=2"),
              ThrowsMessage<DataError>(HasSubstr("obs_dim is '99999999999'")));
  EXPECT_THAT(error("lfiw-policy 1 obs_dim=3 action_dim=2 density=2"),
              ThrowsMessage<DataError>(HasSubstr("density is '2'")));
  EXPECT_THAT(error("lfiw-policy 1 obs_dim=3 action_dim=2 seed=4"),
              ThrowsMessage<DataError>(HasSubstr("'seed' is not known")));
  EXPECT_THAT(error("lfiw-policy 1 obs_dim=3 action_dim=2 density"),
              ThrowsMessage<DataError>(HasSubstr("expected key=value")));
  EXPECT_THAT(error("lfiw-policy 1 obs_dim=3 action_dim=2 density=1"),
              ThrowsMessage<DataError>(HasSubstr("a policy without noise has no density")));
}

TEST(ProgramMessagesTest, ARequestIsALineAndBlocksOfNumpy) {
  ProgramRequest request("sample");
  const MatrixF values{{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}};
  request.AddRows(values.rightCols(2));
  const std::vector<std::int64_t> steps{7, 8};
  request.AddIndices(steps);
  request.AddRows(MatrixF(2, 0));

  std::string_view bytes = request.bytes();
  EXPECT_THAT(std::string(bytes), StartsWith("sample\n\x93NUMPY"));
  bytes.remove_prefix(7);
  const auto block = [&](const std::string& type, std::vector<std::int64_t> shape, const void* data,
                         std::size_t size) {
    ASSERT_EQ(NpyLengthSize(bytes.substr(0, kNpyPreambleSize), "block"), 2U);
    const std::size_t length =
        static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
    const NpyHeader header = ParseNpyHeader(bytes.substr(10, length), "block");
    EXPECT_EQ(header.type, type);
    EXPECT_EQ(header.shape, shape);
    EXPECT_EQ(bytes.substr(10 + length, size),
              std::string_view(static_cast<const char*>(data), size));
    bytes.remove_prefix(10 + length + size);
  };
  const MatrixF dense = values.rightCols(2);
  block("f4", {2, 2}, dense.data(), 16);
  block("i8", {2}, steps.data(), 16);
  block("f4", {2, 0}, "", 0);
  EXPECT_TRUE(bytes.empty());
}

TEST(ProgramMessagesTest, AnAnswerHasTheShapeAndTypeThatWasAskedFor) {
  EXPECT_EQ(CheckAnswer({"f4", {4, 2}, false}, AnswerType::kFloats, {4, 2}), 32);
  EXPECT_EQ(CheckAnswer({"f8", {4}, false}, AnswerType::kFloats, {4}), 32);
  EXPECT_EQ(CheckAnswer({"u1", {4}, false}, AnswerType::kIntegers, {4}), 4);
  EXPECT_THAT(
      [] {
        CheckAnswer({"f4", {2, 4}, false}, AnswerType::kFloats, {4, 2});
      },
      ThrowsMessage<DataError>(HasSubstr("shape [2, 4] and type f4, expected [4, 2] of f4 or f8")));
  EXPECT_THROW(CheckAnswer({"f2", {4}, false}, AnswerType::kFloats, {4}), DataError);
  EXPECT_THROW(CheckAnswer({"i8", {4}, false}, AnswerType::kFloats, {4}), DataError);
  EXPECT_THROW(CheckAnswer({"f8", {4}, false}, AnswerType::kIntegers, {4}), DataError);
  EXPECT_THROW(CheckAnswer({"O", {4}, false}, AnswerType::kIntegers, {4}), DataError);
}

}  // namespace
}  // namespace lfiw::policies
