#include "models/dynamics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/index_list.h"
#include "models/losses.h"

namespace lfiw::models {
namespace {

// The rows of each member, ascending.
std::vector<std::vector<std::int64_t>> GroupRows(std::span<const std::int64_t> member,
                                                 std::int64_t members) {
  std::vector<std::vector<std::int64_t>> groups(static_cast<std::size_t>(members));
  for (std::size_t i = 0; i < member.size(); ++i) {
    LFIW_ASSERT(member[i] >= 0 && member[i] < members);
    groups[static_cast<std::size_t>(member[i])].push_back(static_cast<std::int64_t>(i));
  }
  return groups;
}

// log of the volume by which scaling shrinks outcomes
double LogScale(const DynamicsScalers& scalers) {
  double sum = 0.0;
  for (const Scaler* scaler : {&scalers.changes, &scalers.aux}) {
    for (const std::int64_t j : scaler->active()) sum += std::log(scaler->deviation()(j));
  }
  return sum;
}

std::string Indexed(const std::string& name, std::size_t index) {
  return fmt::format("{}{}", name, index);
}

}  // namespace

void DynamicsScalers::ScaleInputs(ConstMatrixRef all_states, ConstMatrixRef all_actions,
                                  std::span<const std::int64_t> rows, MatrixRef inputs) const {
  states.ScaleRows(all_states, rows, inputs.leftCols(states.active_dim()));
  actions.ScaleRows(all_actions, rows, inputs.rightCols(actions.active_dim()));
}

void DynamicsScalers::ScaleOutcomes(ConstMatrixRef all_states, ConstMatrixRef all_next_states,
                                    ConstMatrixRef all_aux, std::span<const std::int64_t> rows,
                                    MatrixRef targets) const {
  Eigen::Index i = 0;
  for (const std::int64_t row : rows) {
    Eigen::Index column = 0;
    for (const std::int64_t j : changes.active()) {
      const float change = all_next_states(row, j) - all_states(row, j);
      targets(i, column++) = (change - changes.mean()(j)) / changes.deviation()(j);
    }
    ++i;
  }
  aux.ScaleRows(all_aux, rows, targets.rightCols(aux.active_dim()));
}

DynamicsEnsemble::DynamicsEnsemble(DynamicsKind kind, DynamicsScalers scalers,
                                   std::vector<Mlp> networks,
                                   std::vector<std::vector<std::int64_t>> skipped, MatrixF noise)
    : kind_(kind),
      scalers_(std::move(scalers)),
      networks_(std::move(networks)),
      skipped_(std::move(skipped)),
      noise_(std::move(noise)) {
  LFIW_ASSERT(!networks_.empty());
  LFIW_ASSERT(skipped_.empty() || skipped_.size() == networks_.size());
  LFIW_ASSERT(noise_.size() == 0 ||
              (kind_ == DynamicsKind::kDeterministic && noise_.rows() == outcome_dim() &&
               noise_.cols() == noise_.rows()));
  const std::int64_t outputs = outcome_dim() * (kind_ == DynamicsKind::kGaussian ? 2 : 1);
  for (const Mlp& network : networks_) {
    LFIW_ASSERT(network.input_dim() == scalers_.input_dim());
    LFIW_ASSERT(network.output_dim() == outputs);
  }
}

std::int64_t DynamicsEnsemble::noise_dim() const {
  const bool any = kind_ == DynamicsKind::kGaussian || noise_.size() > 0;
  return any && noise_scale_ > 0.0f ? outcome_dim() : 0;
}

void DynamicsEnsemble::ScaleNoise(float factor) {
  LFIW_ASSERT(factor >= 0.0f);
  noise_scale_ *= factor;
}

std::vector<std::int64_t> DynamicsEnsemble::MembersFor(std::int64_t episode) const {
  std::vector<std::int64_t> skipping;
  for (std::size_t k = 0; k < skipped_.size(); ++k) {
    if (std::find(skipped_[k].begin(), skipped_[k].end(), episode) != skipped_[k].end()) {
      skipping.push_back(static_cast<std::int64_t>(k));
    }
  }
  return skipping.empty() ? IndexList(members()) : skipping;
}

DynamicsEnsemble::Prediction DynamicsEnsemble::Predict(std::int64_t member, ConstMatrixRef states,
                                                       ConstMatrixRef actions,
                                                       std::span<const std::int64_t> rows) const {
  const Mlp& network = networks_[static_cast<std::size_t>(member)];
  const auto count = static_cast<Eigen::Index>(rows.size());
  MatrixF inputs(count, scalers_.input_dim());
  scalers_.ScaleInputs(states, actions, rows, inputs);
  MatrixF outputs(count, network.output_dim());
  network.Forward(inputs, outputs);
  if (kind_ == DynamicsKind::kDeterministic) return {std::move(outputs), MatrixF(count, 0)};
  Prediction prediction{outputs.leftCols(outcome_dim()), MatrixF(count, outcome_dim())};
  SoftClampLogVariance(outputs.rightCols(outcome_dim()), prediction.log_variances);
  return prediction;
}

void DynamicsEnsemble::WriteOutcomes(const MatrixF& outcomes, ConstMatrixRef states,
                                     std::span<const std::int64_t> rows, MatrixRef next_states,
                                     MatrixRef aux) const {
  const auto write = [](const Scaler& scaler, const auto& scaled, auto&& values) {
    // constant dimensions take their mean, the others the prediction
    values = scaler.mean().transpose();
    Eigen::Index column = 0;
    for (const std::int64_t j : scaler.active()) {
      values(j) += scaler.deviation()(j) * scaled(column++);
    }
  };
  Eigen::Index i = 0;
  for (const std::int64_t row : rows) {
    write(scalers_.changes, outcomes.row(i), next_states.row(row));
    next_states.row(row) += states.row(row);
    write(scalers_.aux, outcomes.row(i).tail(scalers_.aux.active_dim()), aux.row(row));
    ++i;
  }
}

void DynamicsEnsemble::AddNoise(ConstMatrixRef noise, std::span<const std::int64_t> rows,
                                Prediction& p) const {
  Eigen::Index i = 0;
  for (const std::int64_t row : rows) {
    if (kind_ == DynamicsKind::kGaussian) {
      p.means.row(i).array() +=
          noise_scale_ * (0.5f * p.log_variances.row(i).array()).exp() * noise.row(row).array();
    } else {
      p.means.row(i).noalias() += noise_scale_ * (noise.row(row) * noise_.transpose());
    }
    ++i;
  }
}

void DynamicsEnsemble::Draw(ConstMatrixRef states, ConstMatrixRef actions,
                            std::span<const std::int64_t> member, ConstMatrixRef noise,
                            MatrixRef next_states, MatrixRef aux) const {
  const auto groups = GroupRows(member, members());
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (groups[k].empty()) continue;
    Prediction p = Predict(static_cast<std::int64_t>(k), states, actions, groups[k]);
    if (noise.cols() > 0) AddNoise(noise, groups[k], p);
    WriteOutcomes(p.means, states, groups[k], next_states, aux);
  }
}

void DynamicsEnsemble::Sample(ConstMatrixRef states, ConstMatrixRef actions,
                              std::span<const std::int64_t> member, ConstMatrixRef noise,
                              MatrixRef next_states, MatrixRef aux) const {
  LFIW_ASSERT(noise.cols() == noise_dim());
  Draw(states, actions, member, noise, next_states, aux);
}

void DynamicsEnsemble::Mean(ConstMatrixRef states, ConstMatrixRef actions,
                            std::span<const std::int64_t> member, MatrixRef next_states,
                            MatrixRef aux) const {
  Draw(states, actions, member, MatrixF(states.rows(), 0), next_states, aux);
}

void DynamicsEnsemble::LogDensity(ConstMatrixRef states, ConstMatrixRef actions,
                                  ConstMatrixRef next_states, ConstMatrixRef aux,
                                  std::span<const std::int64_t> member,
                                  std::span<double> log_density) const {
  if (kind_ != DynamicsKind::kGaussian) {
    Throw<ConfigError>("dynamics.kind: deterministic dynamics have no density, expected gaussian");
  }
  const double constant =
      -0.5 * static_cast<double>(outcome_dim()) * std::log(2.0 * std::numbers::pi) -
      LogScale(scalers_);
  const auto groups = GroupRows(member, members());
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (groups[k].empty()) continue;
    const Prediction p = Predict(static_cast<std::int64_t>(k), states, actions, groups[k]);
    MatrixF targets(p.means.rows(), outcome_dim());
    scalers_.ScaleOutcomes(states, next_states, aux, groups[k], targets);
    Eigen::Index i = 0;
    for (const std::int64_t row : groups[k]) {
      const auto log_variance = p.log_variances.row(i).cast<double>().array();
      const auto error = (targets.row(i) - p.means.row(i)).cast<double>().array();
      log_density[static_cast<std::size_t>(row)] =
          constant - 0.5 * (error.square() * (-log_variance).exp() + log_variance).sum();
      ++i;
    }
  }
}

void DynamicsEnsemble::MixtureLogDensity(ConstMatrixRef states, ConstMatrixRef actions,
                                         ConstMatrixRef next_states, ConstMatrixRef aux,
                                         std::span<double> log_density) const {
  const auto n = static_cast<std::size_t>(states.rows());
  std::vector<double> part(n), largest(n, -std::numeric_limits<double>::infinity()), sum(n, 0.0);
  for (std::int64_t k = 0; k < members(); ++k) {
    LogDensity(states, actions, next_states, aux, std::vector<std::int64_t>(n, k), part);
    for (std::size_t i = 0; i < n; ++i) {
      // running log-sum-exp
      const double top = std::max(largest[i], part[i]);
      if (std::isinf(top)) continue;
      sum[i] = sum[i] * std::exp(largest[i] - top) + std::exp(part[i] - top);
      largest[i] = top;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    log_density[i] = largest[i] + std::log(sum[i] / static_cast<double>(members()));
  }
}

void DynamicsEnsemble::Save(const std::string& path) const {
  NpzFile file;
  file.Put("kind", std::string(EnumName(kind_)));
  file.Put("members", std::vector<std::int64_t>{members()});
  scalers_.states.Save("states", file);
  scalers_.actions.Save("actions", file);
  scalers_.changes.Save("changes", file);
  scalers_.aux.Save("aux", file);
  for (std::size_t k = 0; k < networks_.size(); ++k) {
    networks_[k].Save(Indexed("member", k), file);
  }
  for (std::size_t k = 0; k < skipped_.size(); ++k) file.Put(Indexed("skipped", k), skipped_[k]);
  if (noise_.size() > 0) file.Put("noise", noise_);
  file.Put("noise_scale", std::vector<double>{static_cast<double>(noise_scale_)});
  file.Write(path);
}

DynamicsEnsemble DynamicsEnsemble::Load(const std::string& path) {
  const NpzFile file = NpzFile::Read(path);
  const std::string kind = file.GetText("kind");
  const auto& names = EnumNames(DynamicsKind{});
  const auto found = std::find(names.begin(), names.end(), kind);
  if (found == names.end()) {
    Throw<DataError>("{}: kind is '{}', expected gaussian or deterministic", path, kind);
  }
  DynamicsScalers scalers{Scaler::Load(file, "states"), Scaler::Load(file, "actions"),
                          Scaler::Load(file, "changes"), Scaler::Load(file, "aux")};
  const std::int64_t heads = found == names.begin() ? 2 : 1;
  const auto members = file.GetIntegers("members");
  if (members.size() != 1 || members[0] < 1 || scalers.changes.dim() != scalers.states.dim()) {
    Throw<DataError>("{}: is not a dynamics ensemble (members or dimensions disagree)", path);
  }
  std::vector<Mlp> networks;
  std::vector<std::vector<std::int64_t>> skipped;
  for (std::size_t k = 0; k < static_cast<std::size_t>(members[0]); ++k) {
    networks.push_back(Mlp::Load(file, Indexed("member", k)));
    const Mlp& network = networks.back();
    if (network.input_dim() != scalers.input_dim() ||
        network.output_dim() != heads * scalers.outcome_dim()) {
      Throw<DataError>("{}: member {} maps {} to {} values, expected {} to {}", path, k,
                       network.input_dim(), network.output_dim(), scalers.input_dim(),
                       heads * scalers.outcome_dim());
    }
    if (file.Has("skipped0")) skipped.push_back(file.GetIntegers(Indexed("skipped", k)));
  }
  MatrixF noise;
  if (file.Has("noise")) noise = file.GetMatrix("noise");
  if (noise.size() > 0 && (heads == 2 || noise.rows() != scalers.outcome_dim() ||
                           noise.cols() != scalers.outcome_dim())) {
    Throw<DataError>("{}: the noise is [{}, {}], expected {} values of deterministic networks",
                     path, noise.rows(), noise.cols(), scalers.outcome_dim());
  }
  DynamicsEnsemble ensemble(static_cast<DynamicsKind>(found - names.begin()), std::move(scalers),
                            std::move(networks), std::move(skipped), std::move(noise));
  const auto scale = file.Has("noise_scale") ? file.GetDoubles("noise_scale") : std::vector{1.0};
  if (scale.size() != 1 || !(scale[0] >= 0.0)) {
    Throw<DataError>("{}: noise_scale is not one number of at least 0", path);
  }
  ensemble.ScaleNoise(static_cast<float>(scale[0]));
  return ensemble;
}

}  // namespace lfiw::models
