#include "models/timed_function.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/arrays/npz.h"
#include "core/error.h"

namespace lfiw::models {

TimedFunction::TimedFunction(Scaler scaler, std::vector<double> centers, std::vector<double> widths,
                             std::vector<Mlp> networks)
    : scaler_(std::move(scaler)),
      centers_(std::move(centers)),
      widths_(std::move(widths)),
      networks_(std::move(networks)) {
  LFIW_ASSERT(!centers_.empty() && centers_.size() == widths_.size() && !networks_.empty());
  for (const Mlp& network : networks_) {
    LFIW_ASSERT(network.input_dim() == input_dim() && network.output_dim() == 1);
  }
}

void TimedFunction::Inputs(const Scaler& scaler, std::int64_t horizon, ConstMatrixRef states,
                           std::span<const std::int64_t> steps, MatrixRef inputs) {
  scaler.Scale(states, inputs.leftCols(scaler.active_dim()));
  const double scale = 2.0 / static_cast<double>(horizon);
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    const auto step = static_cast<double>(steps[static_cast<std::size_t>(i)]);
    inputs(i, inputs.cols() - 1) = static_cast<float>(scale * step - 1.0);
  }
}

void TimedFunction::Predict(ConstMatrixRef states, std::span<const std::int64_t> at,
                            std::span<double> values) const {
  LFIW_ASSERT(states.cols() == obs_dim() && std::ssize(at) == states.rows());
  LFIW_ASSERT(std::ssize(values) == states.rows());
  // rows at a time, so that scaled copies of long rollouts stay small
  constexpr Eigen::Index kChunkRows = 1000;
  const auto count = static_cast<double>(networks_.size());
  MatrixF inputs, outputs;
  VectorD sum;
  for (Eigen::Index begin = 0; begin < states.rows(); begin += kChunkRows) {
    const Eigen::Index rows = std::min(kChunkRows, states.rows() - begin);
    const auto chunk = at.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(rows));
    inputs.resize(rows, input_dim());
    outputs.resize(rows, 1);
    sum.setZero(rows);
    Inputs(scaler_, steps(), states.middleRows(begin, rows), chunk, inputs);
    for (const Mlp& network : networks_) {
      network.Forward(inputs, outputs);
      sum += outputs.col(0).cast<double>();
    }
    for (Eigen::Index i = 0; i < rows; ++i) {
      const auto t = static_cast<std::size_t>(chunk[static_cast<std::size_t>(i)]);
      LFIW_ASSERT(t < centers_.size());
      values[static_cast<std::size_t>(begin + i)] = centers_[t] + widths_[t] * sum(i) / count;
    }
  }
}

void TimedFunction::Save(const std::string& path) const {
  NpzFile file;
  file.Put("members", std::vector<std::int64_t>{std::ssize(networks_)});
  file.Put("centers", centers_);
  file.Put("widths", widths_);
  scaler_.Save("states", file);
  for (std::size_t k = 0; k < networks_.size(); ++k) {
    networks_[k].Save(fmt::format("member{}", k), file);
  }
  file.Write(path);
}

TimedFunction TimedFunction::Load(const std::string& path) {
  const NpzFile file = NpzFile::Read(path);
  const auto members = file.GetIntegers("members");
  std::vector<double> centers = file.GetDoubles("centers");
  std::vector<double> widths = file.GetDoubles("widths");
  Scaler scaler = Scaler::Load(file, "states");
  if (members.size() != 1 || members[0] < 1 || centers.empty() || centers.size() != widths.size()) {
    Throw<DataError>("{}: is not a function of state and step (members or steps disagree)", path);
  }
  std::vector<Mlp> networks;
  for (std::int64_t k = 0; k < members[0]; ++k) {
    networks.push_back(Mlp::Load(file, fmt::format("member{}", k)));
    const Mlp& network = networks.back();
    if (network.input_dim() != InputDim(scaler) || network.output_dim() != 1) {
      Throw<DataError>("{}: member {} maps {} to {} values, expected {} to 1", path, k,
                       network.input_dim(), network.output_dim(), InputDim(scaler));
    }
  }
  return TimedFunction(std::move(scaler), std::move(centers), std::move(widths),
                       std::move(networks));
}

}  // namespace lfiw::models
