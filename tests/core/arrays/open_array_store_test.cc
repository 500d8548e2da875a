#include "core/arrays/open_array_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/arrays/hdf5_writer.h"
#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(OpenArrayStore, TheKindFollowsFromTheContentWhateverTheName) {
  const TestDir dir;
  NpzFile file;
  file.Put("x", std::vector<double>{1.0, 2.0});
  file.Write(dir / "a.hdf5");
  Hdf5Writer writer(dir / "b.npz");
  writer.Put("x", file.arrays().at("x"));
  writer.Close();
  EXPECT_TRUE(LooksLikeZip(dir / "a.hdf5"));
  EXPECT_TRUE(LooksLikeHdf5(dir / "b.npz"));
  EXPECT_STREQ(OpenArrayStore(dir / "a.hdf5")->kind(), "npz");
  EXPECT_STREQ(OpenArrayStore(dir / "b.npz")->kind(), "HDF5");
}

TEST(OpenArrayStore, AnythingElseIsADataErrorThatNamesTheFile) {
  const TestDir dir;
  WriteFileAtomically(dir / "text", "P");
  EXPECT_FALSE(LooksLikeZip(dir / "text"));
  EXPECT_FALSE(LooksLikeHdf5(dir / "text"));
  EXPECT_FALSE(LooksLikeZip(dir / "absent"));
  EXPECT_THAT([&] { OpenArrayStore(dir / "text"); },
              ThrowsMessage<DataError>(HasSubstr(dir / "text")));
}

}  // namespace
}  // namespace lfiw::core
