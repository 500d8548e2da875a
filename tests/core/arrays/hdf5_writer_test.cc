#include "core/arrays/hdf5_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/arrays/hdf5.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

NpzArray Doubles(const std::vector<double>& values) {
  return MakeNpzArray<double>("f8", {std::ssize(values)}, values);
}

TEST(Hdf5Writer, ArraysGrowByTheRowsAppended) {
  const TestDir dir;
  Hdf5Writer writer(dir / "a");
  writer.Append("group/x", MakeNpzArray(MatrixF{{1.0f, 2.0f}, {3.0f, 4.0f}}));
  writer.Append("y", Doubles({0.5}));
  writer.Append("group/x", MakeNpzArray(MatrixF(0, 2)));
  writer.Append("group/x", MakeNpzArray(MatrixF{{5.0f, 6.0f}}));
  writer.Close();
  const NpzFile file = ReadHdf5Group(dir / "a", "");
  EXPECT_EQ(file.GetMatrix("group/x"), (MatrixF{{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}}));
  EXPECT_THAT(file.GetDoubles("y"), ElementsAre(0.5));
}

TEST(Hdf5Writer, CompressionMakesARepetitiveArraySmallerAndKeepsItsValues) {
  const TestDir dir;
  const std::vector<double> values(20'000, 0.25);
  for (const auto& [name, compression] :
       {std::pair("plain", Hdf5Compression::kNone), std::pair("packed", Hdf5Compression::kGzip)}) {
    Hdf5Writer writer(dir / name, compression);
    writer.Append("x", Doubles(values));
    writer.Close();
    EXPECT_EQ(ReadHdf5Group(dir / name, "").GetDoubles("x"), values);
  }
  EXPECT_LT(10 * std::filesystem::file_size(dir / "packed"),
            std::filesystem::file_size(dir / "plain"));
}

TEST(Hdf5Writer, AttributesCreateTheGroupsTheyAreOf) {
  const TestDir dir;
  Hdf5Writer writer(dir / "a");
  writer.SetAttribute("", "environment", "Größe");
  writer.SetAttribute("episode_0", "id", -3);
  writer.Put("episode_0/x", Doubles({1.0}));
  writer.Close();
  EXPECT_THAT(OpenHdf5(dir / "a")->attributes(),
              UnorderedElementsAre(Pair("environment", "Größe"), Pair("episode_0@id", "-3")));
}

TEST(Hdf5Writer, WithoutCloseTheFileIsWholeToo) {
  const TestDir dir;
  Hdf5Writer(dir / "a").Append("x", Doubles({1.0, 2.0}));
  EXPECT_THAT(ReadHdf5Group(dir / "a", "").GetDoubles("x"), ElementsAre(1.0, 2.0));
}

TEST(Hdf5Writer, AFileThatCannotBeCreatedIsNamed) {
  const TestDir dir;
  WriteFileAtomically(dir / "file", "x");
  EXPECT_THAT([&] { Hdf5Writer(dir / "file/a"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(dir / "file/a"), HasSubstr("created"))));
}

TEST(Hdf5Writer, WhatCannotBeWrittenNamesTheArray) {
  const TestDir dir;
  int files = 0;
  const auto error = [&](const auto& write) {
    // after a failure the library keeps the file open
    Hdf5Writer writer(dir / std::to_string(files++));
    writer.Append("x", Doubles({1.0}));
    try {
      write(writer);
    } catch (const DataError& thrown) {
      return std::string(thrown.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error([](Hdf5Writer& w) { w.Put("x", Doubles({2.0})); }), HasSubstr("array 'x'"));
  EXPECT_THAT(error([](Hdf5Writer& w) { w.Put("x/y", Doubles({2.0})); }), HasSubstr("array 'x/y'"));
  EXPECT_THAT(error([](Hdf5Writer& w) {
                w.Put("complex", MakeNpzArray<double>("c16", {1}, {0.0, 1.0}));
              }),
              HasSubstr("array 'complex'"));
}

}  // namespace
}  // namespace lfiw::core
