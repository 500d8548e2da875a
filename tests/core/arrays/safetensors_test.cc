#include "core/arrays/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string File(const std::string& header, const std::string& data) {
  std::string out;
  for (int k = 0; k < 8; ++k) out += static_cast<char>(header.size() >> (8 * k) & 0xFFU);
  return out + header + data;
}

std::string Floats(const std::vector<float>& values) {
  std::string bytes(4 * values.size(), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(Safetensors, TensorsAreArraysByName) {
  const std::string bytes = File(
      R"({"__metadata__": {"format": "pt"}, "b": {"dtype": "F32", "shape": [2, 1],)"
      R"( "data_offsets": [0, 8]}, "h": {"dtype": "BF16", "shape": [2], "data_offsets": [8, 12]},)"
      R"( "e": {"dtype": "F32", "shape": [0, 9], "data_offsets": [12, 12]}})",
      Floats({1.5f, -2.0f}) + std::string("\x80\x3f\x00\xc0", 4));
  EXPECT_TRUE(LooksLikeSafetensors(bytes));
  const NpzFile file = ReadSafetensors(bytes, "a.safetensors");
  EXPECT_EQ(file.GetMatrix("b"), (MatrixF{{1.5f}, {-2.0f}}));
  EXPECT_THAT(file.GetFloats("h"), ElementsAre(1.0f, -2.0f));
  EXPECT_THAT(file.arrays().at("e").shape, ElementsAre(0, 9));
  EXPECT_EQ(file.GetText("__metadata__.format"), "pt");
}

TEST(Safetensors, BrokenFilesSayWhatIsWrong) {
  const auto with = [](const std::string& entry) {
    return File("{\"w\": " + entry + "}", Floats({1.0f, 2.0f}));
  };
  const auto fails = [](const std::string& bytes, const std::string& text) {
    EXPECT_THAT([&] { ReadSafetensors(bytes, "a"); }, ThrowsMessage<DataError>(HasSubstr(text)))
        << bytes;
  };
  const std::string good = with(R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(ReadSafetensors(good.substr(0, size), "a"), DataError) << size;
  }
  fails(with(R"({"dtype": "F8", "shape": [2], "data_offsets": [0, 8]})"), "type \"F8\"");
  fails(with(R"({"dtype": "F32", "shape": [3], "data_offsets": [0, 8]})"), "bytes 0 to 8");
  fails(with(R"({"dtype": "F32", "shape": [2], "data_offsets": [4, 12]})"), "bytes 4 to 12");
  fails(with(R"({"dtype": "F32", "shape": [-1], "data_offsets": [0, 8]})"), "whole number");
  fails(
      with(R"({"dtype": "F32", "shape": [1099511627776, 1099511627776], "data_offsets": [0, 8]})"),
      "bytes 0 to 8");
  fails(with(R"([1, 2])"), "expected dtype");
  fails(File("{\"w\": ", ""), "not an object");
}

}  // namespace
}  // namespace lfiw::core
