#include "models/learned_function.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/index_list.h"

namespace lfiw::models {
namespace {

double Probability(double logit) {
  const double tail = std::exp(-std::abs(logit));
  return (logit >= 0.0 ? 1.0 : tail) / (1.0 + tail);
}

FunctionKind ReadKind(const NpzFile& file, const std::string& path) {
  const std::string text = file.GetText("kind");
  const auto& names = EnumNames(FunctionKind{});
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    Throw<DataError>("{}: kind is '{}', expected reward or termination", path, text);
  }
  return static_cast<FunctionKind>(found - names.begin());
}

OutputScale ReadOutput(const NpzFile& file, const std::string& path) {
  const auto values = file.GetDoubles("output");
  if (values.size() != 2 || !std::isfinite(values[0]) || !(values[1] > 0.0)) {
    Throw<DataError>("{}: output is not [mean, deviation > 0]", path);
  }
  return {values[0], values[1]};
}

// Whether some episodes terminate without the state in which they do.
bool LacksEnds(const EpisodeBatch& log) {
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    if (log.terminated[static_cast<std::size_t>(e)] != 0 && !log.EndRecorded(e)) return true;
  }
  return false;
}

}  // namespace

TransitionScaler TransitionScaler::Fit(const TransitionView& data, const ScalerOptions& options) {
  TransitionScaler scaler{data.FitScaler(TransitionPart::kState, options),
                          data.FitScaler(TransitionPart::kAction, options),
                          data.FitScaler(TransitionPart::kChange, options),
                          data.FitScaler(TransitionPart::kNextState, options)};
  // the change of a dimension that never varies is rounding
  scaler.changes.Drop(scaler.next_states.Constant());
  if (LacksEnds(data.log())) {
    // a next state that some steps lack would tell those steps from others
    const std::vector<std::int64_t> all = IndexList(scaler.next_states.dim());
    scaler.changes.Drop(all);
    scaler.next_states.Drop(all);
  }
  return scaler;
}

void TransitionScaler::Scale(ConstMatrixRef states_in, ConstMatrixRef actions_in,
                             ConstMatrixRef next_states_in, MatrixRef inputs) const {
  Eigen::Index column = 0;
  const auto put = [&](const Scaler& scaler, ConstMatrixRef values) {
    scaler.Scale(values, inputs.middleCols(column, scaler.active_dim()));
    column += scaler.active_dim();
  };
  put(states, states_in);
  put(actions, actions_in);
  put(changes, next_states_in - states_in);
  put(next_states, next_states_in);
}

LearnedFunction::LearnedFunction(FunctionKind kind, TransitionScaler scaler, OutputScale output,
                                 std::vector<Mlp> networks,
                                 std::vector<std::vector<std::int64_t>> skipped)
    : kind_(kind), scaler_(std::move(scaler)), output_(output), skipped_(std::move(skipped)) {
  LFIW_ASSERT(kind_ == FunctionKind::kReward || !networks.empty());
  LFIW_ASSERT(skipped_.empty() || skipped_.size() == networks.size());
  for (Mlp& network : networks) {
    LFIW_ASSERT(network.input_dim() == scaler_.input_dim() && network.output_dim() == 1);
    networks_.push_back(std::make_shared<const Mlp>(std::move(network)));
  }
}

void LearnedFunction::Predict(ConstMatrixRef states, ConstMatrixRef actions,
                              ConstMatrixRef next_states, std::span<double> values) const {
  LFIW_ASSERT(states.cols() == obs_dim() && actions.cols() == action_dim());
  LFIW_ASSERT(std::ssize(values) == states.rows());
  if (networks_.empty()) {
    std::ranges::fill(values, output_.mean);
    return;
  }
  // rows at a time, so that scaled copies of long rollouts stay small
  constexpr Eigen::Index kChunkRows = 1000;
  const auto count = static_cast<double>(members());
  MatrixF inputs, outputs;
  VectorD sum;
  for (Eigen::Index begin = 0; begin < states.rows(); begin += kChunkRows) {
    const Eigen::Index rows = std::min(kChunkRows, states.rows() - begin);
    inputs.resize(rows, scaler_.input_dim());
    outputs.resize(rows, 1);
    sum.setZero(rows);
    scaler_.Scale(states.middleRows(begin, rows), actions.middleRows(begin, rows),
                  next_states.middleRows(begin, rows), inputs);
    for (const auto& network : networks_) {
      network->Forward(inputs, outputs);
      for (Eigen::Index i = 0; i < rows; ++i) {
        const double output = outputs(i, 0);
        sum(i) += kind_ == FunctionKind::kReward ? output : Probability(output);
      }
    }
    for (Eigen::Index i = 0; i < rows; ++i) {
      const double mean = sum(i) / count;
      values[static_cast<std::size_t>(begin + i)] =
          kind_ == FunctionKind::kReward ? output_.mean + output_.deviation * mean : mean;
    }
  }
}

std::shared_ptr<const LearnedFunction> LearnedFunction::WithoutSeen(std::int64_t episode) const {
  auto unseen = std::make_shared<LearnedFunction>(*this);
  unseen->networks_.clear();
  unseen->skipped_.clear();
  for (std::size_t k = 0; k < skipped_.size(); ++k) {
    if (std::ranges::find(skipped_[k], episode) != skipped_[k].end()) {
      unseen->networks_.push_back(networks_[k]);
    }
  }
  const std::size_t left = unseen->networks_.size();
  return left == 0 || left == networks_.size() ? nullptr : unseen;
}

void LearnedFunction::Save(const std::string& path) const {
  NpzFile file;
  file.Put("kind", std::string(EnumName(kind_)));
  file.Put("members", std::vector<std::int64_t>{members()});
  file.Put("output", std::vector<double>{output_.mean, output_.deviation});
  scaler_.states.Save("states", file);
  scaler_.actions.Save("actions", file);
  scaler_.changes.Save("changes", file);
  scaler_.next_states.Save("next_states", file);
  for (std::size_t k = 0; k < networks_.size(); ++k) {
    networks_[k]->Save(fmt::format("member{}", k), file);
  }
  for (std::size_t k = 0; k < skipped_.size(); ++k) {
    file.Put(fmt::format("skipped{}", k), skipped_[k]);
  }
  file.Write(path);
}

LearnedFunction LearnedFunction::Load(const std::string& path) {
  const NpzFile file = NpzFile::Read(path);
  const FunctionKind kind = ReadKind(file, path);
  TransitionScaler scaler{Scaler::Load(file, "states"), Scaler::Load(file, "actions"),
                          Scaler::Load(file, "changes"), Scaler::Load(file, "next_states")};
  const std::int64_t obs_dim = scaler.states.dim();
  const std::int64_t fewest = kind == FunctionKind::kReward ? 0 : 1;
  const auto members = file.GetIntegers("members");
  if (members.size() != 1 || members[0] < fewest || scaler.changes.dim() != obs_dim ||
      scaler.next_states.dim() != obs_dim) {
    Throw<DataError>("{}: is not a learned {} (members or dimensions disagree)", path,
                     EnumName(kind));
  }
  std::vector<Mlp> networks;
  std::vector<std::vector<std::int64_t>> skipped;
  for (std::int64_t k = 0; k < members[0]; ++k) {
    if (file.Has("skipped0")) skipped.push_back(file.GetIntegers(fmt::format("skipped{}", k)));
    networks.push_back(Mlp::Load(file, fmt::format("member{}", k)));
    const Mlp& network = networks.back();
    if (network.input_dim() != scaler.input_dim() || network.output_dim() != 1) {
      Throw<DataError>("{}: member {} maps {} to {} values, expected {} to 1", path, k,
                       network.input_dim(), network.output_dim(), scaler.input_dim());
    }
  }
  return LearnedFunction(kind, std::move(scaler), ReadOutput(file, path), std::move(networks),
                         std::move(skipped));
}

}  // namespace lfiw::models
