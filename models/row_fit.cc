#include "models/row_fit.h"

#include <utility>

namespace lfiw::models {

RowFit::RowFit(Mlp& network, Draw draw, Loss loss, FitRows validation, Loss validation_loss)
    : network_(network),
      draw_(std::move(draw)),
      loss_(std::move(loss)),
      validation_loss_(validation_loss ? std::move(validation_loss) : loss_),
      validation_(std::move(validation)),
      validation_outputs_(validation_.inputs.rows(), network.output_dim()),
      validation_scratch_(validation_.inputs.rows(), network.output_dim()) {}

double RowFit::LossGradient(std::int64_t step, VectorF& gradient) {
  draw_(step, rows_);
  output_gradient_.resize(rows_.inputs.rows(), network_.output_dim());
  const double loss =
      loss_(network_.ForwardTraining(rows_.inputs), rows_.targets, output_gradient_);
  network_.Backward(output_gradient_, gradient);
  return loss;
}

double RowFit::ValidationLoss() {
  network_.Forward(validation_.inputs, validation_outputs_);
  return validation_loss_(validation_outputs_, validation_.targets, validation_scratch_);
}

}  // namespace lfiw::models
