#ifndef LFIW_MODELS_ROW_FIT_H_
#define LFIW_MODELS_ROW_FIT_H_

#include <cstdint>
#include <functional>

#include "core/layers.h"
#include "core/matrix.h"
#include "models/fit.h"
#include "models/mlp.h"

namespace lfiw::models {

// Rows as a network is fitted to them: its inputs and what its outputs are compared with.
struct FitRows {
  MatrixF inputs;   // [n, input_dim]
  MatrixF targets;  // [n, what the loss reads]
};

// The problem of a network whose gradient step draws rows afresh, and whose validation rows are
// fixed.
class RowFit final : public FitProblem {
 public:
  // Writes the rows of a gradient step, which must follow from its number alone.
  using Draw = std::function<void(std::int64_t step, FitRows& rows)>;
  // Returns the mean loss of outputs [n, output_dim] and writes its gradient with respect to them.
  using Loss =
      std::function<double(ConstMatrixRef outputs, const MatrixF& targets, MatrixF& gradient)>;

  // `validation_loss` is `loss` unless it is given. The network must outlive the problem.
  RowFit(Mlp& network, Draw draw, Loss loss, FitRows validation, Loss validation_loss = {});

  VectorF& parameters() override { return network_.parameters(); }
  double LossGradient(std::int64_t step, VectorF& gradient) override;
  double ValidationLoss() override;
  std::int64_t training_rows() const override { return training_rows_; }
  void set_training_rows(std::int64_t rows) { training_rows_ = rows; }

  const FitRows& validation() const { return validation_; }

 private:
  Mlp& network_;
  Draw draw_;
  Loss loss_, validation_loss_;
  FitRows rows_, validation_;
  std::int64_t training_rows_ = 0;
  MatrixF output_gradient_;
  MatrixF validation_outputs_, validation_scratch_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_ROW_FIT_H_
