#ifndef LFIW_MODELS_TRANSITION_VIEW_H_
#define LFIW_MODELS_TRANSITION_VIEW_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/matrix.h"
#include "models/scaler.h"

namespace lfiw::models {

// What a transition (s, a, s', aux) consists of, and the change s' - s.
enum class TransitionPart { kState, kAction, kNextState, kChange, kAux };

// Which steps are rows of a view.
enum class TransitionRows {
  kOutcomes,  // those whose next observation is recorded
  kEnds,      // also the last steps of terminated episodes where it is not: their next states,
              // changes and aux mean nothing
  kAllSteps,  // also the last steps of cut episodes where it is not
};

// The steps of some episodes as rows (s, a, s', aux) that stay in the log: the view holds 16 bytes
// per row and copies what is asked for. The log must outlive it. Thread safe.
class TransitionView {
 public:
  // The rows are the steps of the listed episodes, in the order given (an episode may occur
  // repeatedly, as in a bootstrap).
  TransitionView(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                 TransitionRows which = TransitionRows::kOutcomes);

  const EpisodeBatch& log() const { return *log_; }
  std::int64_t size() const { return std::ssize(rows_); }
  // Returns the step of the log that row i is: its place in log().actions and log().rewards.
  std::int64_t Step(std::int64_t i) const { return rows_[static_cast<std::size_t>(i)].step; }
  // Returns the number of values of a part.
  std::int64_t Dim(TransitionPart part) const;

  // Writes a part of row i, [Dim(part)].
  void Read(TransitionPart part, std::int64_t i, VectorF& values) const;
  // Copies the listed rows to `out`, which is resized to them.
  void Gather(std::span<const std::int64_t> rows, Transitions& out) const;
  // Copies rows [begin, begin + count) to `out`, which is resized to them.
  void GatherBlock(std::int64_t begin, std::int64_t count, Transitions& out) const;

  // Measures the scale of a part over all rows, of which there must be some.
  Scaler FitScaler(TransitionPart part, const ScalerOptions& options) const;

 private:
  struct Row {
    std::int64_t state;  // of log.observations; the next state is the next row
    std::int64_t step;   // of log.actions and log.aux
  };
  void Resize(std::int64_t count, Transitions& out) const;
  void Copy(const Row& row, Eigen::Index to, Transitions& out) const;

  const EpisodeBatch* log_;
  std::vector<Row> rows_;
};

// A multiple of the rows that networks are given at once, so that what they say of a row in a block
// is the same to the bit as for all rows together.
inline constexpr std::int64_t kBlockRows = 4000;

// Passes the rows of the view in order, in blocks of which the last may be shorter:
// visit(begin, block) sees rows [begin, begin + block.size()). One block is kept at a time.
void ForEachBlock(const TransitionView& view,
                  const std::function<void(std::int64_t begin, const Transitions& block)>& visit,
                  std::int64_t block_rows = kBlockRows);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TRANSITION_VIEW_H_
