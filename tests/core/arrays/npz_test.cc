#include "core/arrays/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "core/arrays/npy_header.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"
#include "tests/test_paths.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

const std::string kNumpyFile = SourceFile("tests/core/arrays/data/numpy.npz");

// Writes an archive with one stored entry of any content.
void WriteZip(const std::string& path, const std::string& name, const std::string& content) {
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  zip_source_t* source = zip_source_buffer(zip, content.data(), content.size(), 0);
  const zip_int64_t index = zip_file_add(zip, name.c_str(), source, 0);
  ASSERT_GE(index, 0);
  zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  ASSERT_EQ(zip_close(zip), 0);
}

NpzFile Sample() {
  NpzFile file;
  file.Put("matrix", MatrixF{{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  file.Put("vector", VectorF{{1.5f, -2.5f}});
  file.Put("doubles", std::vector<double>{0.1, 1e300});
  file.Put("floats", std::vector<float>{0.25f});
  file.Put("integers", std::vector<std::int64_t>{-1, 1LL << 40});
  file.Put("bytes", std::vector<std::uint8_t>{0, 255});
  file.Put("text", std::string("Größe"));
  file.Put("empty", MatrixF(0, 3));
  return file;
}

TEST(NpzTest, EveryTypeSurvivesWritingAndReading) {
  const TestDir dir;
  const NpzFile in = Sample();
  in.Write(dir / "a.npz");
  const NpzFile out = NpzFile::Read(dir / "a.npz");
  EXPECT_THAT(out.arrays(), SizeIs(8));
  EXPECT_EQ(out.GetMatrix("matrix"), in.GetMatrix("matrix"));
  EXPECT_EQ(out.GetMatrix("matrix")(0, 2), 3.0f);
  EXPECT_EQ(out.GetVector("vector")(1), -2.5f);
  EXPECT_THAT(out.GetDoubles("doubles"), ElementsAre(0.1, 1e300));
  EXPECT_THAT(out.GetFloats("floats"), ElementsAre(0.25f));
  EXPECT_THAT(out.GetIntegers("integers"), ElementsAre(-1, 1LL << 40));
  EXPECT_THAT(out.GetBytes("bytes"), ElementsAre(0, 255));
  EXPECT_EQ(out.GetText("text"), "Größe");
  EXPECT_EQ(out.GetMatrix("empty").cols(), 3);
  EXPECT_EQ(dir.Count(), 1);
}

TEST(NpzTest, TheSameArraysGiveTheSameBytes) {
  const TestDir dir;
  Sample().Write(dir / "a.npz");
  Sample().Write(dir / "b.npz");
  EXPECT_EQ(ReadFile(dir / "a.npz"), ReadFile(dir / "b.npz"));
}

TEST(NpzTest, ReadsWhatNumpyWroteCompressed) {
  const NpzFile file = NpzFile::Read(kNumpyFile);
  EXPECT_EQ(file.GetMatrix("matrix"), (MatrixF{{0.0f, 1.0f, 2.0f}, {3.0f, 4.0f, 5.0f}}));
  EXPECT_THAT(file.GetBytes("flags"), ElementsAre(1, 0));
  EXPECT_THAT(file.GetIntegers("flags"), ElementsAre(1, 0));
  EXPECT_EQ(file.GetText("name"), "Größe");
  EXPECT_EQ(file.GetText("raw"), "abc");
  EXPECT_THAT(file.GetDoubles("scalar"), ElementsAre(2.5));
  EXPECT_THAT(file.GetFloats("zeros"), AllOf(SizeIs(10'000), Each(0.0f)));
}

TEST(NpzTest, FortranOrderBecomesRowMajor) {
  std::vector<std::int64_t> expected(24);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(NpzFile::Read(kNumpyFile).GetIntegers("fortran"), expected);
}

TEST(NpzTest, PickledObjectsAreListedButNeverRead) {
  const NpzFile file = NpzFile::Read(kNumpyFile);
  EXPECT_THAT([&] { file.GetDoubles("objects"); },
              ThrowsMessage<DataError>(HasSubstr("array 'objects' has type O and shape [1]")));
}

TEST(NpzTest, WrongNameTypeAndRankNameFileAndArray) {
  const TestDir dir;
  const std::string path = dir / "a.npz";
  Sample().Write(path);
  const NpzFile file = NpzFile::Read(path);
  EXPECT_THAT([&] { file.GetMatrix("absent"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(path), HasSubstr("'absent' is missing"),
                                             HasSubstr("integers, matrix"))));
  EXPECT_THAT([&] { file.GetMatrix("vector"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("'vector'"), HasSubstr("shape [2]"),
                                             HasSubstr("expected a matrix"))));
  EXPECT_THAT([&] { file.GetVector("integers"); },
              ThrowsMessage<DataError>(HasSubstr("expected type f4 or f8")));
  EXPECT_THROW(file.GetIntegers("doubles"), DataError);
  EXPECT_THROW(file.GetBytes("doubles"), DataError);
  EXPECT_THROW(file.GetText("matrix"), DataError);
}

TEST(NpzTest, EveryTruncationAndEveryFlippedByteIsADataErrorOrHarmless) {
  const TestDir dir;
  NpzFile small;
  small.Put("a", std::vector<double>{1.0, 2.0});
  small.Write(dir / "a.npz");
  const std::string bytes = ReadFile(dir / "a.npz");
  const auto try_read = [&](const std::string& content) {
    std::ofstream(dir / "b.npz", std::ios::binary) << content;
    try {
      NpzFile::Read(dir / "b.npz");
    } catch (const DataError&) {
    }
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    try_read(bytes.substr(0, i));
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string broken = bytes;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      try_read(broken);
    }
  }
}

TEST(NpzTest, DamagedDataFailsItsChecksum) {
  const TestDir dir;
  NpzFile file;
  file.Put("a", std::vector<double>{1.0, 2.0});
  file.Write(dir / "a.npz");
  std::string bytes = ReadFile(dir / "a.npz");
  bytes[bytes.find(std::string("\x00\x00\xf0\x3f", 4))] = '\x01';
  WriteFileAtomically(dir / "a.npz", bytes);
  EXPECT_THAT([&] { NpzFile::Read(dir / "a.npz"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("array 'a'"), HasSubstr("CRC"))));
}

TEST(NpzTest, AShapeLargerThanTheFileIsRefusedBeforeAllocating) {
  const TestDir dir;
  const std::string path = dir / "a.npz";
  WriteZip(path, "a.npy", FormatNpyHeader({"f8", {1LL << 40}, false}) + "12345678");
  EXPECT_THAT([&] { NpzFile::Read(path); },
              ThrowsMessage<DataError>(HasSubstr("needs 8796093022208 bytes, the file holds 8")));
}

TEST(NpzTest, TheMemoryLimitIsEnforced) {
  EXPECT_THAT([] { NpzFile::Read(kNumpyFile, 10'000); },
              ThrowsMessage<DataError>(HasSubstr("exceed the limit of 10000 bytes")));
}

TEST(NpzTest, FilesThatAreNoArrayArchivesAreNamed) {
  const TestDir dir;
  const std::string path = dir / "a.npz";
  EXPECT_THAT([&] { NpzFile::Read(path); },
              ThrowsMessage<DataError>(HasSubstr("No such file or directory")));
  WriteFileAtomically(path, "");
  EXPECT_THAT([&] { NpzFile::Read(path); }, ThrowsMessage<DataError>(HasSubstr("is empty")));
  WriteFileAtomically(path, "not a zip archive");
  EXPECT_THAT([&] { NpzFile::Read(path); },
              ThrowsMessage<DataError>(HasSubstr("Not a zip archive")));
  Sample().Write(path);
  const std::string whole = ReadFile(path);
  WriteFileAtomically(path, whole.substr(0, whole.size() / 2));
  EXPECT_THAT([&] { NpzFile::Read(path); }, ThrowsMessage<DataError>(HasSubstr("it is cut off")));
  WriteZip(path, "readme.txt", "x");
  EXPECT_THAT([&] { NpzFile::Read(path); },
              ThrowsMessage<DataError>(HasSubstr("'readme.txt' is not a .npy array")));
  WriteZip(path, "two\nlines.npy", "x");
  EXPECT_THAT([&] { NpzFile::Read(path); },
              ThrowsMessage<DataError>(HasSubstr("name of entry 0 holds a control character")));
  WriteZip(path, "a.npy", "short");
  EXPECT_THAT([&] { NpzFile::Read(path); },
              ThrowsMessage<DataError>(HasSubstr("3 bytes are missing")));
}

TEST(NpzTest, UnwritableTargetIsADataErrorThatLeavesNothing) {
  const TestDir dir;
  EXPECT_THAT([&] { Sample().Write(dir / "no/a.npz"); },
              ThrowsMessage<DataError>(HasSubstr(dir / "no/a.npz")));
  EXPECT_EQ(dir.Count(), 0);
}

}  // namespace
}  // namespace lfiw::core
