#ifndef LFIW_MODELS_FIT_H_
#define LFIW_MODELS_FIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "core/run/progress.h"
#include "models/adam.h"

namespace lfiw::models {

// Fewer gradient steps teach a network nothing, however small its log.
inline constexpr std::int64_t kFewestSteps = 3000;

struct FitOptions {
  std::int64_t steps = 100'000;        // gradient steps (the paper's, for dynamics)
  std::int64_t batch = 128;            // rows of one step (the paper's, for dynamics)
  std::int64_t validate_every = 1000;  // steps; the parameters of the best validation are kept
  // In the last steps, a share `cooldown` of all, the learning rate falls to 0 along half a cosine.
  // `patience` steps without a better validation end a fit early: it goes back to its best
  // parameters and cools down from there, for a share of the steps that led to them.
  std::int64_t patience = 0;  // 0: all steps are made
  double cooldown = 0.0;      // 0: the rate stays as it is; 1: it falls from the first step on
  double passes = 0.0;        // most passes over the training rows; 0: all steps are made
  AdamOptions adam;

  // Returns these options with the steps that `rows` training rows are worth: as many as make
  // `passes` over them, no fewer than kFewestSteps and no more than `steps`. With 0 passes or rows
  // the steps stay as they are.
  FitOptions For(std::int64_t rows) const;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("steps", steps, "gradient steps", AtLeast(1));
    v.Field("batch", batch, "rows per gradient step", AtLeast(1));
    v.Field("validate_every", validate_every, "steps between validations", AtLeast(1));
    v.Field("patience", patience,
            "steps without a better validation after which a fit cools down and ends, 0 to make "
            "all steps",
            AtLeast(0));
    v.Field("cooldown", cooldown,
            "share of the steps, at the end, in which the learning rate falls to 0 along half a "
            "cosine",
            Between(0.0, 1.0));
    v.Field("passes", passes,
            "most passes over the training rows, which lower the steps of a small log; 0: all "
            "steps are made",
            AtLeast(0.0));
    v.Field("adam", adam, "optimizer");
  }
};

// What Fit trains. A step's batch and noise must follow from its number alone (a Stream named by
// it), so that a fit can resume from any step.
class FitProblem {
 public:
  virtual ~FitProblem() = default;
  virtual VectorF& parameters() = 0;
  // The mean loss of the batch of `step` (0-based); writes its gradient [parameters].
  virtual double LossGradient(std::int64_t step, VectorF& gradient) = 0;
  // The mean loss of a fixed held-out set.
  virtual double ValidationLoss() = 0;
  // The training rows that batches are drawn from, for FitOptions::passes; 0 where there is no such
  // number.
  virtual std::int64_t training_rows() const { return 0; }
};

// One entry per validation.
struct FitHistory {
  std::vector<std::int64_t> steps;      // gradient steps done
  std::vector<double> train_loss;       // mean over the steps since the entry before
  std::vector<double> validation_loss;  // at that step
  bool operator==(const FitHistory&) const = default;
};

struct FitSummary {
  std::int64_t best_step = 0;
  double best_validation_loss = 0.0;
  FitHistory history;
};

// How fits are watched and resumed; none of it changes the result.
struct FitRun {
  std::string folder;  // an existing folder for their checkpoints; empty: none are written
  double checkpoint_seconds = 60.0;  // most work that a kill can lose
  Progress* progress = nullptr;      // advances by gradient steps; may be null
};

// Which parameters a fit leaves behind. kLast is for problems whose loss moves with them: they have
// no best validation, and no patience.
enum class KeptParameters { kBestValidation, kLast };

// One fit among those of a run.
struct FitJob {
  std::string name;        // for messages: "dynamics member 3"
  std::string identity;    // what else a checkpoint must agree on: seed, sizes, options
  std::string checkpoint;  // path of an .npz file; empty for none
  double checkpoint_seconds = 60.0;
  Progress* progress = nullptr;
  KeptParameters kept = KeptParameters::kBestValidation;

  // A job of `run` whose checkpoint is `file` in the run's folder.
  static FitJob Of(const FitRun& run, std::string name, std::string identity,
                   const std::string& file);
};

// Minimizes a problem with Adam and leaves the job's kept parameters in it; validates every
// `validate_every` steps and at the end, which `patience` may bring forward. A checkpoint found at
// `job.checkpoint` is resumed (also that of a finished fit, at no cost) and gives the same bytes as
// an undisturbed fit; the owner of its folder removes it. Throws NumericError that names job and
// step when a loss is not finite, DataError when the checkpoint belongs to another fit, and
// Interrupted (after writing a checkpoint).
FitSummary Fit(FitProblem& problem, const FitOptions& options, const FitJob& job);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_FIT_H_
