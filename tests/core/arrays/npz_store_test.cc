#include "core/arrays/npz_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/index_list.h"
#include "tests/core/test_dir.h"
#include "tests/test_paths.h"

namespace lfiw::core {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string kStoredNumpyFile = SourceFile("tests/core/arrays/data/numpy.npz");

TEST(NpzStore, RowsComeInAnyOrder) {
  const TestDir dir;
  MatrixF values(5000, 3);
  for (Eigen::Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<float>(i);
  NpzFile file;
  file.Put("x", values);
  file.Write(dir / "a");
  const auto store = OpenNpzStore(dir / "a");
  EXPECT_STREQ(store->kind(), "npz");
  for (const std::int64_t first : {0, 4000, 10, 4999, 0}) {
    EXPECT_EQ(ToMatrix(store->ReadRows("x", first, 1), "x"), values.middleRows(first, 1));
  }
  EXPECT_EQ(ToMatrix(store->ReadAll("x"), "x"), values);
}

TEST(NpzStore, FortranOrderAndCompressionAreReadByRows) {
  const auto store = OpenNpzStore(kStoredNumpyFile);
  const ArrayInfo& info = store->Info("fortran");
  const std::vector<std::int64_t> expected = IndexList(std::int64_t{24});
  const auto items = static_cast<std::size_t>(info.row_items());
  for (std::int64_t row = info.rows() - 1; row >= 0; --row) {
    const auto values = ToIntegers(store->ReadRows("fortran", row, 1), "fortran");
    const auto begin = expected.begin() + row * info.row_items();
    EXPECT_EQ(values, std::vector<std::int64_t>(begin, begin + static_cast<std::ptrdiff_t>(items)));
  }
}

TEST(NpzStore, PickledObjectsAreListedButNeverRead) {
  const auto store = OpenNpzStore(kStoredNumpyFile);
  EXPECT_TRUE(store->Has("objects"));
  EXPECT_THAT([&] { store->ReadAll("objects"); },
              ThrowsMessage<DataError>(HasSubstr("never loaded")));
}

}  // namespace
}  // namespace lfiw::core
