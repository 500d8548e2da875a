#include "ope/judgement/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace lfiw::ope {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using Values = std::vector<double>;

Array<double, 2> Matrix(std::initializer_list<double> values) {
  const auto m = static_cast<std::int64_t>(std::lround(std::sqrt(values.size())));
  Array<double, 2> out({m, m});
  std::copy(values.begin(), values.end(), out.flat().begin());
  return out;
}

double Form(const Array<double, 2>& a, const Values& x) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) sum += x[i] * a(i, j) * x[j];
  }
  return sum;
}

TEST(SlopeChoice, TakesTheLeastVariableCandidateWhoseBiasDoesNotShow) {
  EXPECT_EQ(SlopeChoice(Values{0.0, 0.5, 0.4, 3.0}, Values{2.0, 1.0, 0.5, 0.1}), 2);
  EXPECT_EQ(SlopeChoice(Values{0.0, 0.5, 0.4, 0.6}, Values{2.0, 1.0, 0.5, 0.1}), 3);
  EXPECT_EQ(SlopeChoice(Values{7.0}, Values{1.0}), 0);
}

TEST(SlopeChoice, StopsAtTheFirstThatDisagreesEvenIfLaterOnesAgreeAgain) {
  EXPECT_EQ(SlopeChoice(Values{0.0, 9.0, 0.0}, Values{1.0, 0.5, 0.1}), 0);
}

TEST(SlopeChoice, NeedsAllIntervalsToMeetNotJustNeighbors) {
  // each meets the one before, the third not the first
  EXPECT_EQ(SlopeChoice(Values{0.0, 1.5, 2.9}, Values{1.0, 1.0, 0.9}), 1);
}

TEST(DifferenceChoice, HoldsDifferencesAgainstTheirOwnErrors) {
  // two candidates whose common noise is large and whose difference is nearly certain
  Array<double, 2> influences({3, 4});
  const std::vector<double> noise = {-10.0, 10.0, -10.0, 10.0}, own = {0.2, 0.2, -0.2, -0.2};
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto k = static_cast<std::size_t>(i);
    influences(0, i) = noise[k];
    influences(1, i) = noise[k] + own[k];
    influences(2, i) = noise[k] - own[k];
  }
  const double error = std::sqrt(4.0 * 0.04 / 3.0 / 4.0);  // of the first two
  EXPECT_EQ(DifferenceChoice(Values{5.0, 5.0 + 1.9 * error, 5.0}, influences, 2.0), 2);
  EXPECT_EQ(DifferenceChoice(Values{5.0, 5.0 + 2.1 * error, 5.0}, influences, 2.0), 0);
  // the third agrees with the second, but not with the first
  EXPECT_EQ(DifferenceChoice(Values{5.0, 5.0 + 1.9 * error, 5.0 + 2.5 * error}, influences, 2.0),
            1);
}

TEST(MinimizeOnSimplex, GivesInverseVariancesToIndependentErrors) {
  EXPECT_THAT(MinimizeOnSimplex(Matrix({1, 0, 0, 0, 2, 0, 0, 0, 4})),
              ElementsAre(DoubleNear(4.0 / 7, 1e-12), DoubleNear(2.0 / 7, 1e-12),
                          DoubleNear(1.0 / 7, 1e-12)));
}

TEST(MinimizeOnSimplex, LeavesOutWhatOnlyAddsError) {
  // perfectly correlated, the second three times as large
  EXPECT_THAT(MinimizeOnSimplex(Matrix({1, 3, 3, 9})), ElementsAre(1.0, 0.0));
}

TEST(MinimizeOnSimplex, SharesEquallyBetweenCopies) {
  EXPECT_THAT(MinimizeOnSimplex(Matrix({1, 1, 1, 1})), ElementsAre(testing::_, testing::_));
  EXPECT_NEAR(Form(Matrix({1, 1, 1, 1}), MinimizeOnSimplex(Matrix({1, 1, 1, 1}))), 1.0, 1e-12);
}

TEST(MinimizeOnSimplex, LeavesNoDirectionThatFallsOnLargeSingularForms) {
  // partial sums of a few columns, as MAGIC has them: nearly collinear, of any rank and scale
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Stream stream(seed, "singular forms");
    const std::int64_t m = 50, rank = 1 + static_cast<std::int64_t>(seed % 20);
    const double size = std::pow(10.0, static_cast<double>(seed % 7) - 3.0);
    Array<double, 2> root({m, rank}), form({m, m});
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t k = 0; k < rank; ++k) {
        root(i, k) = (i == 0 ? 1.0 : root(i - 1, k)) + size * stream.Normal();
      }
    }
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < m; ++j) {
        for (std::int64_t k = 0; k < rank; ++k) form(i, j) += root(i, k) * root(j, k);
      }
    }
    const Values x = MinimizeOnSimplex(form);
    double scale = 0.0, total = 0.0;
    for (std::int64_t i = 0; i < m; ++i) {
      scale = std::max(scale, form(i, i));
      total += x[static_cast<std::size_t>(i)];
      EXPECT_GE(x[static_cast<std::size_t>(i)], 0.0);
    }
    EXPECT_NEAR(total, 1.0, 1e-12);
    const double level = Form(form, x);
    for (std::int64_t i = 0; i < m; ++i) {
      double gradient = 0.0;
      for (std::int64_t j = 0; j < m; ++j) gradient += form(i, j) * x[static_cast<std::size_t>(j)];
      EXPECT_GE(gradient, level - 1e-8 * scale) << seed << " " << i;
    }
  }
}

TEST(MinimizeOnSimplex, IsNoWorseThanAFineGridOnRandomForms) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Stream stream(seed, "forms");
    Array<double, 2> root({3, 3}), form({3, 3});
    for (double& x : root.flat()) x = stream.Normal();
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 3; ++k) form(i, j) += root(i, k) * root(j, k);
      }
    }
    const double found = Form(form, MinimizeOnSimplex(form));
    double best = found;
    for (double a = 0.0; a <= 1.0; a += 0.02) {
      for (double b = 0.0; a + b <= 1.0; b += 0.02) {
        best = std::min(best, Form(form, {a, b, 1.0 - a - b}));
      }
    }
    EXPECT_LE(found, best + 1e-10) << seed;
  }
}

TEST(BlendWeights, PreferTheEstimateThatTheBootstrapMovesLeast) {
  Array<double, 2> replicates({4, 2});
  const Values values = {5.0, 7.0};
  const Values first = {1, -1, 1, -1}, second = {2, 2, -2, -2};
  for (std::int64_t b = 0; b < 4; ++b) {
    replicates(b, 0) = values[0] + first[static_cast<std::size_t>(b)];
    replicates(b, 1) = values[1] + second[static_cast<std::size_t>(b)];
  }
  EXPECT_THAT(BlendWeights(values, replicates),
              ElementsAre(DoubleNear(0.8, 1e-12), DoubleNear(0.2, 1e-12)));
}

}  // namespace
}  // namespace lfiw::ope
