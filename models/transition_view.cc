#include "models/transition_view.h"

#include <algorithm>

#include "core/error.h"

namespace lfiw::models {

TransitionView::TransitionView(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                               TransitionRows which)
    : log_(&log) {
  const auto rows_of = [&](std::int64_t e) {
    const bool all =
        which == TransitionRows::kAllSteps ||
        (which == TransitionRows::kEnds && log.terminated[static_cast<std::size_t>(e)]);
    return all ? log.Length(e) : log.Outcomes(e);
  };
  std::int64_t count = 0;
  for (const std::int64_t e : episodes) count += rows_of(e);
  rows_.reserve(static_cast<std::size_t>(count));
  for (const std::int64_t e : episodes) {
    const std::int64_t first = log.offsets[static_cast<std::size_t>(e)];
    for (std::int64_t t = 0; t < rows_of(e); ++t) {
      rows_.push_back({.state = log.ObservationRow(e, t), .step = first + t});
    }
  }
}

std::int64_t TransitionView::Dim(TransitionPart part) const {
  if (part == TransitionPart::kAction) return log_->action_dim();
  return part == TransitionPart::kAux ? log_->aux_dim() : log_->obs_dim();
}

void TransitionView::Read(TransitionPart part, std::int64_t i, VectorF& values) const {
  const Row& row = rows_[static_cast<std::size_t>(i)];
  const MatrixF& observations = log_->observations;
  switch (part) {
    case TransitionPart::kState:
      values = observations.row(row.state).transpose();
      break;
    case TransitionPart::kAction:
      values = log_->actions.row(row.step).transpose();
      break;
    case TransitionPart::kNextState:
      values = observations.row(row.state + 1).transpose();
      break;
    case TransitionPart::kChange:
      values = (observations.row(row.state + 1) - observations.row(row.state)).transpose();
      break;
    case TransitionPart::kAux:
      if (log_->aux_dim() > 0) values = log_->aux.row(row.step).transpose();
      break;
  }
}

void TransitionView::Resize(std::int64_t count, Transitions& out) const {
  out.states.resize(count, log_->obs_dim());
  out.actions.resize(count, log_->action_dim());
  out.next_states.resize(count, log_->obs_dim());
  out.aux.resize(count, log_->aux_dim());
}

void TransitionView::Copy(const Row& row, Eigen::Index to, Transitions& out) const {
  out.states.row(to) = log_->observations.row(row.state);
  out.actions.row(to) = log_->actions.row(row.step);
  out.next_states.row(to) = log_->observations.row(row.state + 1);
  if (log_->aux_dim() > 0) out.aux.row(to) = log_->aux.row(row.step);
}

void TransitionView::Gather(std::span<const std::int64_t> rows, Transitions& out) const {
  Resize(std::ssize(rows), out);
  Eigen::Index to = 0;
  for (const std::int64_t i : rows) Copy(rows_[static_cast<std::size_t>(i)], to++, out);
}

void TransitionView::GatherBlock(std::int64_t begin, std::int64_t count, Transitions& out) const {
  Resize(count, out);
  for (std::int64_t i = 0; i < count; ++i) {
    Copy(rows_[static_cast<std::size_t>(begin + i)], i, out);
  }
}

Scaler TransitionView::FitScaler(TransitionPart part, const ScalerOptions& options) const {
  const auto read = [&](std::int64_t i, VectorF& values) { Read(part, i, values); };
  return Scaler::Fit(size(), Dim(part), read, options);
}

void ForEachBlock(const TransitionView& view,
                  const std::function<void(std::int64_t, const Transitions&)>& visit,
                  std::int64_t block_rows) {
  Transitions block;
  for (std::int64_t begin = 0; begin < view.size(); begin += block_rows) {
    view.GatherBlock(begin, std::min(block_rows, view.size() - begin), block);
    visit(begin, block);
  }
}

}  // namespace lfiw::models
