#ifndef LFIW_MODELS_ENSEMBLE_FIT_H_
#define LFIW_MODELS_ENSEMBLE_FIT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/parallel.h"
#include "models/fit.h"
#include "models/mlp.h"
#include "models/scaler.h"

namespace lfiw::models {

// What every fit of a network to logged rows is told. Options of a fit derive from it, give its
// fields their own defaults and visit them in the order of their files.
struct NetworkFitOptions {
  MlpOptions network;
  FitOptions fit;
  double validation_share = 0.1;        // of the episodes, by episode
  std::int64_t validation_rows = 5000;  // more do not change which step is best
  ScalerOptions scaler;

 protected:
  template <class Visitor>
  void VisitNetwork(Visitor& v, std::string_view network_doc, std::string_view fit_doc) {
    v.Field("network", network, network_doc);
    v.Field("fit", fit, fit_doc);
  }
  template <class Visitor>
  void VisitValidation(Visitor& v, std::string_view rows_doc) {
    v.Field("validation_share", validation_share, "share of the episodes held out for validation",
            Between(0.0, 0.9));
    v.Field("validation_rows", validation_rows, rows_doc, AtLeast(1));
  }
  template <class Visitor>
  void VisitScaler(Visitor& v, std::string_view doc = "what counts as a constant dimension") {
    v.Field("scaler", scaler, doc);
  }
};

// The same of several networks that differ by their random streams.
struct EnsembleFitOptions : NetworkFitOptions {
  std::int64_t members = 1;

 protected:
  template <class Visitor>
  void VisitMembers(Visitor& v, std::string_view doc = "networks of the ensemble") {
    v.Field("members", members, doc, AtLeast(1));
  }
  template <class Visitor>
  void VisitMemberNetworks(Visitor& v) {
    VisitNetwork(v, "network of each member", "training of each member");
  }
};

// Returns `members` fresh networks; the weights of number k are from Stream(seed, purpose, {k}).
std::vector<Mlp> MakeNetworks(std::int64_t members, std::int64_t input_dim, std::int64_t output_dim,
                              const MlpOptions& options, std::uint64_t seed,
                              const std::string& purpose);

// What the fits of an ensemble have in common.
struct EnsembleJob {
  std::string name;      // for messages, before the member's number: "dynamics member"
  std::string identity;  // as FitJob::identity
  std::string file;      // before "_<k>.npz" in the names of checkpoints
  KeptParameters kept = KeptParameters::kBestValidation;

  // Returns the job of one member.
  FitJob Of(const FitRun& run, std::int64_t member) const;
};

// Fits every member as one parallel task. make(k) returns the FitProblem of member k and
// done(k, problem) sees it when it is fitted. Throws as Fit, for the lowest member that fails.
template <class Make, class Done>
std::vector<FitSummary> FitEnsemble(std::int64_t members, const FitOptions& options,
                                    const EnsembleJob& job, const FitRun& run, const Make& make,
                                    const Done& done) {
  std::vector<FitSummary> summaries(static_cast<std::size_t>(members));
  ParallelFor(members, [&](std::int64_t k) {
    auto problem = make(k);
    summaries[static_cast<std::size_t>(k)] = Fit(problem, options, job.Of(run, k));
    done(k, problem);
  });
  return summaries;
}

// The same where nothing is left to do after a fit.
template <class Make>
std::vector<FitSummary> FitEnsemble(std::int64_t members, const FitOptions& options,
                                    const EnsembleJob& job, const FitRun& run, const Make& make) {
  return FitEnsemble(members, options, job, run, make,
                     [](std::int64_t /*k*/, const FitProblem& /*problem*/) {});
}

}  // namespace lfiw::models

#endif  // LFIW_MODELS_ENSEMBLE_FIT_H_
