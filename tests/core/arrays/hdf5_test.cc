#include "core/arrays/hdf5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/arrays/hdf5_writer.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

NpzFile Sample() {
  NpzFile file;
  file.Put("matrix", MatrixF{{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}});
  file.Put("group/doubles", std::vector<double>{0.1, 1e300});
  file.Put("group/flags", MakeNpzArray<std::uint8_t>("b1", {3}, {1, 0, 1}));
  file.Put("group/bytes", std::vector<std::uint8_t>{0, 255});
  file.Put("group/deep/integers", std::vector<std::int64_t>{-1, 1LL << 40});
  file.Put("scalar", MakeNpzArray<double>("f8", {}, {2.5}));
  file.Put("text", MakeNpzArray<char>("S4", {}, {'t', 'a', 'n', 'h'}));
  return file;
}

TEST(Hdf5, EveryTypeSurvivesWritingAndReading) {
  const TestDir dir;
  const NpzFile in = Sample();
  WriteHdf5(in, dir / "a");
  const NpzFile out = ReadHdf5Group(dir / "a", "");
  ASSERT_EQ(out.arrays().size(), in.arrays().size());
  for (const auto& [name, array] : in.arrays()) {
    EXPECT_EQ(out.arrays().at(name).type, array.type) << name;
    EXPECT_EQ(out.arrays().at(name).shape, array.shape) << name;
    EXPECT_EQ(out.arrays().at(name).bytes, array.bytes) << name;
  }
  EXPECT_EQ(out.GetText("text"), "tanh");
}

TEST(Hdf5, TheSameArraysGiveTheSameBytes) {
  const TestDir dir;
  WriteHdf5(Sample(), dir / "a");
  WriteHdf5(Sample(), dir / "b");
  EXPECT_EQ(ReadFile(dir / "a"), ReadFile(dir / "b"));
}

TEST(Hdf5, AGroupIsReadWithNamesRelativeToIt) {
  const TestDir dir;
  WriteHdf5(Sample(), dir / "a");
  const NpzFile group = ReadHdf5Group(dir / "a", "group");
  EXPECT_EQ(group.arrays().size(), 4U);
  EXPECT_THAT(group.GetIntegers("deep/integers"), ElementsAre(-1, 1LL << 40));
  EXPECT_THAT([&] { ReadHdf5Group(dir / "a", "grou"); },
              ThrowsMessage<DataError>(HasSubstr("no dataset below 'grou'")));
  EXPECT_THAT([&] { ReadHdf5Group(dir / "a", "group", 10); },
              ThrowsMessage<DataError>(HasSubstr("expected at most")));
}

TEST(Hdf5, RowsComeInAnyOrderFromPlainAndCompressedChunks) {
  const TestDir dir;
  MatrixF values(20'000, 5);
  for (Eigen::Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<float>(i);
  NpzFile file;
  file.Put("x", values);
  for (const Hdf5Compression compression : {Hdf5Compression::kNone, Hdf5Compression::kGzip}) {
    WriteHdf5(file, dir / "a", {}, compression);
    const auto store = OpenHdf5(dir / "a");
    for (const std::int64_t first : {0, 19'000, 3, 13'107}) {
      const MatrixF rows = ToMatrix(store->ReadRows("x", first, 1000), "x");
      EXPECT_EQ(rows, values.middleRows(first, 1000));
    }
    EXPECT_EQ(store->ReadRows("x", 5, 0).bytes.size(), 0U);
  }
}

TEST(Hdf5, AttributesOfRootAndGroupsAreText) {
  const TestDir dir;
  {
    Hdf5Writer writer(dir / "a");
    writer.SetAttribute("", "total_steps", 7);
    writer.SetAttribute("episode_0", "id", "Größe");
    writer.Close();
  }
  const auto store = OpenHdf5(dir / "a");
  EXPECT_EQ(store->attributes().at("total_steps"), "7");
  EXPECT_EQ(store->attributes().at("episode_0@id"), "Größe");
}

TEST(Hdf5, FilesThatAreNoHdf5AreOneLine) {
  const TestDir dir;
  EXPECT_THAT([&] { OpenHdf5(dir / "absent"); },
              ThrowsMessage<DataError>(HasSubstr("No such file or directory")));
  WriteFileAtomically(dir / "a", "not HDF5");
  EXPECT_THAT([&] { OpenHdf5(dir / "a"); }, ThrowsMessage<DataError>(HasSubstr(dir / "a")));
  WriteHdf5(FlatArrays(SampleLog({30, 20})), dir / "b", {}, Hdf5Compression::kNone);
  const std::string whole = ReadFile(dir / "b");
  WriteFileAtomically(dir / "b", whole.substr(0, whole.size() / 2));
  EXPECT_THAT([&] { OpenHdf5(dir / "b"); },
              ThrowsMessage<DataError>(HasSubstr("the file is cut off: copy or write it again")));
}

// Whatever the library does with a broken file (error, crash, endless loop), this process goes on.
TEST(Hdf5, TruncatedAndFlippedFilesAreDataErrorsOrHarmless) {
  const TestDir dir;
  WriteHdf5(FlatArrays(SampleLog({3, 2})), dir / "a", {}, Hdf5Compression::kGzip);
  const std::string bytes = ReadFile(dir / "a");
  Stream stream(1, "broken files");
  for (int i = 0; i < 100; ++i) {
    std::string broken = bytes;
    if (i % 4 == 0) broken.resize(stream.Below(bytes.size()));
    for (int k = 0; k < 4 && !broken.empty(); ++k) {
      broken[stream.Below(broken.size())] = static_cast<char>(stream.Below(256));
    }
    std::ofstream(dir / "b", std::ios::binary) << broken;
    try {
      ReadHdf5Group(dir / "b", "");
    } catch (const DataError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(Hdf5, MoreMemoryThanTheChildMayHaveIsADataError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  const TestDir dir;
  {
    Hdf5Writer writer(dir / "a");
    writer.Append("x", MakeNpzArray<float>("f4", {1 << 24}, std::vector<float>(1 << 24)));
    writer.Close();
  }
  const auto store = OpenHdf5(dir / "a", {.memory_bytes = 32 << 20});
  EXPECT_THAT([&] { store->ReadRows("x", 0, 1 << 24); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("'x'"), HasSubstr("memory"))));
}

TEST(Hdf5, SeveralFilesAreReadAtOnce) {
  const TestDir dir;
  NpzFile one, two;
  one.Put("x", std::vector<double>{1.0});
  two.Put("x", std::vector<double>{2.0});
  WriteHdf5(one, dir / "a");
  WriteHdf5(two, dir / "b");
  const auto a = OpenHdf5(dir / "a");
  const auto b = OpenHdf5(dir / "b");
  EXPECT_THAT(ToDoubles(a->ReadAll("x"), "x"), ElementsAre(1.0));
  EXPECT_THAT(ToDoubles(b->ReadAll("x"), "x"), ElementsAre(2.0));
}

}  // namespace
}  // namespace lfiw::core
