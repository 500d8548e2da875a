#ifndef LFIW_OPE_FIT_H_
#define LFIW_OPE_FIT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/config/any_options.h"
#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/run/stage.h"
#include "envs/env.h"
#include "models/fit.h"
#include "ope/estimator.h"
#include "ope/estimators/action_ratios.h"
#include "ope/rollouts/model_rollout.h"
#include "policies/policy.h"

namespace lfiw::ope {

// A fit makes what estimators need beside the logged rewards: values, ratios, weights, rollouts.
// Fits are registered beside estimators: an estimator says in `needs` which arrays it reads, a fit
// says in `provides` which it makes, and nothing else knows of either. From a fit's entry follow
// its section in the configuration of a run, its stage in the cache, and whose time it counts to.

// Log-densities of all logged actions, [steps of the log], under both policies.
struct ActionDensities {
  std::vector<double> evaluation, behavior;
  ActionKind kind = ActionKind::kContinuous;
  std::string source;  // names the log in messages
};

// A dynamics model that is fitted to the log, and the rules of its task. All references outlive the
// fit.
struct FittedDynamics {
  const TransitionModel& dynamics;
  const TaskRules& rules;
  const ClampRange& range;
  // Rolls the evaluation policy out from first states; only for fits that are not kept.
  std::function<ModelRollouts()> roll_out = nullptr;
  // Rolls the logged and the evaluated policy out in every model of the family that this one is of,
  // as FittedArrays::model_family; only for fits that are not kept.
  std::function<FittedArrays()> family = nullptr;
};

// What a fit to a log is a function of, beside its options. All references outlive it.
struct FitSources {
  const EpisodeBatch& log;                 // fits use all of it
  std::span<const std::int64_t> episodes;  // [n], those that the arrays are of
  const Policy& policy;                    // evaluated
  const EnvSpec& spec;
  Estimand estimand;
  std::int64_t columns = 0;  // T of the arrays
  std::uint64_t seed = 0;
  const ActionDensities* densities = nullptr;  // for fits that read them
  const FittedDynamics* dynamics = nullptr;    // for fits that read it
  const Policy* behavior = nullptr;            // that wrote the log; null where it is not known
  FitRun run = {};
};

struct TabularSource;         // ope/fits/tabular_fits.h
struct LinearGaussianSource;  // ope/fits/linear_gaussian_fits.h

// What a fit to a log reads beside the log and the evaluation policy.
// The behavior policy is read where it is known.
enum class FitReads { kActionDensities, kDynamics, kBehavior };

// Whether a run keeps what a fit makes of a log as a stage of its cache. What costs nothing, or is
// kept in another way, is made anew.
enum class FitStorage { kKept, kMadeAnew };

// How much work a fit is, for its progress.
struct FitWork {
  std::int64_t total = 1;
  std::string unit = "fits";
};

// One member of the family. It has any of the functions on_*: how it is made of a log and a policy,
// of the arrays of rewards and other fits alone, or in closed form of the log of a tabular or a
// linear-Gaussian system. Where it has none for a system, or a function says so in
// FittedArrays::missing, the estimators that need it refuse.
struct FitMethod {
  std::string name;                   // of its section in `fits`: letters, digits and _
  std::string summary;                // one line: what it is
  std::vector<std::string> provides;  // names as in Estimator::needs
  AnyOptions options = {};            // empty: it has none
  std::set<FitReads> reads = {};
  FitStorage storage = FitStorage::kKept;
  int version = 1;            // raised when what on_log writes changes
  Layer layer = Layer::kOpe;  // the folders whose code on_log runs: this one and all below it
  std::function<FitWork(const AnyOptions&, const Estimand&)> work = nullptr;

  std::function<FittedArrays(const FitSources&, const AnyOptions&)> on_log = nullptr;
  // Runs after all others; reads of the inputs what `needs` names, and the rewards.
  std::function<FittedArrays(const EstimatorInputs&, const Estimand&, const AnyOptions&)>
      on_arrays = nullptr;
  std::vector<std::string> needs = {};
  std::function<FittedArrays(const TabularSource&, const AnyOptions&)> on_tabular = nullptr;
  std::function<FittedArrays(const LinearGaussianSource&, const AnyOptions&)> on_linear_gaussian =
      nullptr;

  bool Reads(FitReads what) const { return reads.contains(what); }
  // Returns whether it provides any of `needed`.
  bool Serves(const std::set<std::string>& needed) const;
};

// Returns that nothing of a fit can be had, and why.
FittedArrays NotFitted(const FitMethod& fit, const std::string& reason);

// Fits by name, in the order added, each with the options that a run uses. As a field of a
// configuration it is a map with a section for every fit that has options.
class FitRegistry {
 public:
  // Throws ConfigError when the name or something that it provides is taken, or a name is not made
  // of letters, digits and _.
  void Add(FitMethod fit);
  // Throws ConfigError that names the known ones.
  const FitMethod& Find(const std::string& name) const;
  std::span<const FitMethod> all() const { return fits_; }

  // The options of the named fit, which are a T.
  template <class T>
  T& Options(const std::string& name) {
    return const_cast<FitMethod&>(Find(name)).options.template As<T>();
  }

  // Everything that some fit provides.
  std::set<std::string> Provided() const;
  // `needs` and what the fits that serve them need themselves.
  std::set<std::string> WithNeedsOfFits(std::set<std::string> needs) const;

  void ReadNode(const ConfigNode& node, const std::string& path,
                internal::ConfigProblems& problems);
  ConfigNode WriteNode() const;

 private:
  std::vector<FitMethod> fits_;
};

// All fits of this library.
FitRegistry StandardFits();

// Time that went into arrays that estimators with one of these needs read; empty: all of them. None
// where a fit comes from a cache that does not know it.
struct FitTime {
  std::set<std::string> needs;
  std::optional<double> seconds;
};

// What estimators read of one log, and how long it took.
struct FittedInputs {
  EstimatorInputs arrays;
  std::vector<FitTime> times;
};

struct FitOutcome {
  FittedArrays arrays;
  std::optional<double> seconds;
};

// Calls make() and measures its time.
FitOutcome Timed(const std::function<FittedArrays()>& make);

// Adds to `out`, which holds the rewards, what the fits that serve `needs` provide: those with
// on_arrays from the arrays, all others from make(fit), which returns none where a fit has no
// function for the source.
void AddFits(const FitRegistry& fits, const std::set<std::string>& needs, const Estimand& estimand,
             const std::function<std::optional<FitOutcome>(const FitMethod&)>& make,
             FittedInputs& out);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FIT_H_
