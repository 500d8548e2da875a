#ifndef LFIW_OPE_FITS_FQE_H_
#define LFIW_OPE_FITS_FQE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "models/ensemble_fit.h"
#include "models/fit.h"
#include "models/timed_function.h"
#include "ope/estimator.h"
#include "ope/fits/logged_rows.h"

namespace lfiw::ope {

// Fitted Q evaluation (Le, Voloshin and Yue 2019): Q of the evaluation policy by repeated
// regression of r + g E_{a' ~ pi} Q(s', a') on logged (s, a), with neural networks. Over a finite
// horizon Q depends on the step, which is an input, and the last step has no successor.

struct FqeOptions : EnsembleFitOptions {
  FqeOptions() {
    members = 3;
    network = {.hidden_layers = 2, .width = 256, .activation = Activation::kSilu};
    fit = {.steps = 20'000, .batch = 256, .validate_every = 500, .adam = {}};
    validation_rows = 2000;
  }

  // Parts of the episodes; the values on one part are those of a fit to the others, so that
  // corrections by logged rewards (dr_fqe and its kin) are not of episodes that Q was fitted to.
  // 1: one fit to all, as published.
  std::int64_t folds = 1;
  // Targets are renewed every `target_every` of the gradient steps. Information moves back by one
  // step of the episode per renewal, so a horizon of T wants at least T renewals.
  std::int64_t target_every = 100;
  // Actions of the policy that stand for its expectation: per row and gradient step, and in V.
  std::int64_t target_draws = 4;
  std::int64_t value_draws = 20;

  template <class Visitor>
  void Visit(Visitor& v) {
    VisitMembers(v);
    VisitMemberNetworks(v);
    v.Field("folds", folds,
            "parts of the episodes, the values on each from a fit to the others; 1: one fit to all",
            AtLeast(1));
    v.Field("target_every", target_every, "gradient steps between renewals of the targets",
            AtLeast(1));
    v.Field("target_draws", target_draws, "actions drawn for each target", AtLeast(1));
    v.Field("value_draws", value_draws, "actions drawn for each value of a state", AtLeast(1));
    VisitValidation(v, "most transitions used per validation");
    VisitScaler(v);
  }
};

struct FqeFit {
  TimedFunction q;                  // of rows (s, a) and the step; one step for an infinite horizon
  std::vector<FitSummary> members;  // the loss is the squared error against the moving targets
  // Root mean square of Q(s, a) - (r + g E Q(s', a')) of the whole ensemble on held-out episodes,
  // as a share of the standard deviation of logged returns to go.
  double residual = 0.0;
};

// Fits to the first T steps of all episodes of the log. Episodes that a time limit cut are
// continued by Q, those that terminated are not. Every member is one parallel task; "fqe_<k>.npz"
// are its checkpoints. Throws DataError for a log with fewer than two episodes, ConfigError for an
// infinite horizon without discount below 1, else as Fit.
FqeFit FitFqe(const LoggedProblem& problem, const FqeOptions& options, std::uint64_t seed,
              const FitRun& run = {});

// Q and V on the listed episodes, padded to `columns` steps (T, or for an infinite horizon the
// longest episode). V is the mean of Q over actions drawn from the policy.
ValueArrays FqeValues(const FqeFit& fit, const LoggedProblem& problem,
                      std::span<const std::int64_t> episodes, std::int64_t columns,
                      const FqeOptions& options, std::uint64_t seed);

// Values on all of the listed episodes, and remarks on how far the fit can be trusted.
struct FqeOutcome {
  ValueArrays values;  // as FqeValues
  std::vector<std::string> notes;
};

// Fits by options.folds and evaluates: FitFqe and FqeValues in one. Fewer renewals of the targets
// than the horizon has steps, and the Bellman error on held-out episodes, are among the notes.
// Throws DataError for fewer than two episodes outside a fold, else as FitFqe.
FqeOutcome FitFqeValues(const LoggedProblem& problem, std::span<const std::int64_t> episodes,
                        std::int64_t columns, const FqeOptions& options, std::uint64_t seed,
                        const FitRun& run = {});

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_FQE_H_
