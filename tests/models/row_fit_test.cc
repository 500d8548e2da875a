#include "models/row_fit.h"

#include <gtest/gtest.h>

#include "models/losses.h"

namespace lfiw::models {
namespace {

// A linear function of one input, fitted to targets 3 x on inputs step + 1 and step + 2.
class RowFitTest : public testing::Test {
 protected:
  static void Draw(std::int64_t step, FitRows& rows) {
    const auto x = static_cast<float>(step + 1);
    rows.inputs = MatrixF{{x}, {x + 1.0f}};
    rows.targets = 3.0f * rows.inputs;
  }

  Mlp network_{1, 1, {.hidden_layers = 0}, Stream(1, "weights")};
  FitRows validation_{.inputs = MatrixF{{2.0f}}, .targets = MatrixF{{6.0f}}};
};

TEST_F(RowFitTest, GivesLossAndGradientOfTheRowsOfTheStep) {
  RowFit problem(network_, Draw, SquaredError, validation_);
  problem.parameters() << 1.0f, 0.0f;  // y = x
  VectorF gradient(2);
  // rows 3 and 4: errors -6 and -8
  EXPECT_DOUBLE_EQ(problem.LossGradient(2, gradient), 50.0);
  EXPECT_FLOAT_EQ(gradient(0), -6.0f * 3.0f - 8.0f * 4.0f);
  EXPECT_FLOAT_EQ(gradient(1), -14.0f);
}

TEST_F(RowFitTest, ValidatesOnItsFixedRows) {
  RowFit problem(network_, Draw, SquaredError, validation_);
  problem.parameters() << 1.0f, 0.0f;
  EXPECT_DOUBLE_EQ(problem.ValidationLoss(), 16.0);
  VectorF gradient(2);
  problem.LossGradient(5, gradient);
  EXPECT_DOUBLE_EQ(problem.ValidationLoss(), 16.0);
}

TEST_F(RowFitTest, MayValidateByAnotherLoss) {
  const auto constant = [](ConstMatrixRef /*outputs*/, const MatrixF& /*targets*/,
                           MatrixF& /*gradient*/) { return 7.0; };
  RowFit problem(network_, Draw, SquaredError, validation_, constant);
  EXPECT_EQ(problem.ValidationLoss(), 7.0);
}

}  // namespace
}  // namespace lfiw::models
