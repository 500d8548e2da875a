#include "models/scaler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace lfiw::models {
namespace {

using ::testing::ElementsAre;

// a varying column, one of zeros, one that only rounds, and a varying one far from zero
MatrixF FourColumns() {
  MatrixF rows(4, 4);
  rows << 1, 0, 7.0f, 1001,                    //
      2, 0, std::nextafter(7.0f, 8.0f), 1003,  //
      3, 0, 7.0f, 1005,                        //
      4, 0, 7.0f, 1007;
  return rows;
}

TEST(Scaler, ScalesToZeroMeanAndUnitDeviation) {
  const MatrixF rows = FourColumns();
  const Scaler scaler = Scaler::Fit(rows);
  MatrixF scaled(4, scaler.active_dim());
  scaler.Scale(rows, scaled);
  for (Eigen::Index j = 0; j < scaled.cols(); ++j) {
    EXPECT_NEAR(scaled.col(j).mean(), 0.0, 1e-5);
    EXPECT_NEAR(scaled.col(j).squaredNorm() / 4.0, 1.0, 1e-5);
  }
}

TEST(Scaler, ListsConstantDimensionsAndRoundingAsConstant) {
  const Scaler scaler = Scaler::Fit(FourColumns());
  EXPECT_THAT(scaler.active(), ElementsAre(0, 3));
  EXPECT_THAT(scaler.Constant(), ElementsAre(1, 2));
}

TEST(Scaler, KeepsSmallSignalsThatAreNoRounding) {
  MatrixF rows(3, 1);
  rows << 1e-6f, -1e-6f, 2e-6f;
  EXPECT_EQ(Scaler::Fit(rows).active_dim(), 1);
}

TEST(Scaler, ScaleRowsEqualsScaleOfThoseRows) {
  const MatrixF rows = FourColumns();
  const Scaler scaler = Scaler::Fit(rows);
  MatrixF all(4, 2), some(2, 2);
  scaler.Scale(rows, all);
  scaler.ScaleRows(rows, std::vector<std::int64_t>{3, 1}, some);
  EXPECT_EQ(some.row(0), all.row(3));
  EXPECT_EQ(some.row(1), all.row(1));
}

TEST(Scaler, DropAddsConstantDimensions) {
  Scaler scaler = Scaler::Fit(FourColumns());
  scaler.Drop(std::vector<std::int64_t>{0, 1});
  EXPECT_THAT(scaler.active(), ElementsAre(3));
}

TEST(Scaler, NoDimensionsAreFine) {
  const Scaler scaler = Scaler::Fit(MatrixF(5, 0));
  EXPECT_EQ(scaler.dim(), 0);
}

TEST(Scaler, LoadsWhatItSaved) {
  const Scaler scaler = Scaler::Fit(FourColumns());
  NpzFile file;
  scaler.Save("s", file);
  const Scaler loaded = Scaler::Load(file, "s");
  EXPECT_EQ(loaded.mean(), scaler.mean());
  EXPECT_EQ(loaded.deviation(), scaler.deviation());
  EXPECT_EQ(loaded.active(), scaler.active());
}

TEST(Scaler, LoadRejectsIndicesOutOfRange) {
  NpzFile file;
  Scaler::Fit(FourColumns()).Save("s", file);
  file.Put("s.active", std::vector<std::int64_t>{0, 4});
  EXPECT_THROW(Scaler::Load(file, "s"), DataError);
}

}  // namespace
}  // namespace lfiw::models
