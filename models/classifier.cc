#include "models/classifier.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"

namespace lfiw::models {

void TripleScaler::Scale(ConstMatrixRef states_in, ConstMatrixRef actions_in,
                         ConstMatrixRef next_states_in, ConstMatrixRef aux_in,
                         MatrixRef inputs) const {
  Eigen::Index column = 0;
  const auto put = [&](const Scaler& scaler, ConstMatrixRef values) {
    scaler.Scale(values, inputs.middleCols(column, scaler.active_dim()));
    column += scaler.active_dim();
  };
  put(states, states_in);
  put(actions, actions_in);
  if (input_delta) {
    put(outcomes, next_states_in - states_in);
  } else {
    put(outcomes, next_states_in);
  }
  put(aux, aux_in);
}

RatioClassifier::RatioClassifier(TripleScaler scaler, Mlp network, double generated_per_real)
    : scaler_(std::move(scaler)),
      network_(std::move(network)),
      generated_per_real_(generated_per_real) {
  LFIW_ASSERT(network_.input_dim() == scaler_.input_dim() && network_.output_dim() == 1);
  LFIW_ASSERT(generated_per_real_ > 0.0);
}

void RatioClassifier::LogRatios(ConstMatrixRef states, ConstMatrixRef actions,
                                ConstMatrixRef next_states, ConstMatrixRef aux,
                                std::span<double> log_ratios) const {
  LFIW_ASSERT(std::ssize(log_ratios) == states.rows());
  // rows at a time, so that scaled copies of long rollouts stay small
  constexpr Eigen::Index kChunkRows = 1000;
  const double log_gamma = std::log(generated_per_real_);
  MatrixF inputs, logits;
  for (Eigen::Index begin = 0; begin < states.rows(); begin += kChunkRows) {
    const Eigen::Index rows = std::min(kChunkRows, states.rows() - begin);
    inputs.resize(rows, scaler_.input_dim());
    logits.resize(rows, 1);
    scaler_.Scale(states.middleRows(begin, rows), actions.middleRows(begin, rows),
                  next_states.middleRows(begin, rows), aux.middleRows(begin, rows), inputs);
    network_.Forward(inputs, logits);
    for (Eigen::Index i = 0; i < rows; ++i) {
      log_ratios[static_cast<std::size_t>(begin + i)] =
          static_cast<double>(logits(i, 0)) + log_gamma;
    }
  }
}

void RatioClassifier::Save(const std::string& path) const {
  NpzFile file;
  scaler_.states.Save("states", file);
  scaler_.actions.Save("actions", file);
  scaler_.outcomes.Save("outcomes", file);
  scaler_.aux.Save("aux", file);
  file.Put("input_delta",
           std::vector<std::uint8_t>{scaler_.input_delta ? std::uint8_t{1} : std::uint8_t{0}});
  file.Put("generated_per_real", std::vector<double>{generated_per_real_});
  network_.Save("network", file);
  file.Write(path);
}

RatioClassifier RatioClassifier::Load(const std::string& path) {
  const NpzFile file = NpzFile::Read(path);
  const auto delta = file.GetBytes("input_delta");
  const auto ratio = file.GetDoubles("generated_per_real");
  if (delta.size() != 1 || ratio.size() != 1 || !(ratio[0] > 0.0) || !std::isfinite(ratio[0])) {
    Throw<DataError>("{}: is not a ratio classifier (input_delta or generated_per_real)", path);
  }
  TripleScaler scaler{Scaler::Load(file, "states"), Scaler::Load(file, "actions"),
                      Scaler::Load(file, "outcomes"), Scaler::Load(file, "aux"), delta[0] != 0};
  Mlp network = Mlp::Load(file, "network");
  if (scaler.outcomes.dim() != scaler.states.dim() || network.input_dim() != scaler.input_dim() ||
      network.output_dim() != 1) {
    Throw<DataError>("{}: network maps {} to {} values, expected {} to 1", path,
                     network.input_dim(), network.output_dim(), scaler.input_dim());
  }
  return RatioClassifier(std::move(scaler), std::move(network), ratio[0]);
}

}  // namespace lfiw::models
