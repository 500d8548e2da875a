#ifndef LFIW_OPE_JUDGEMENT_VERDICT_H_
#define LFIW_OPE_JUDGEMENT_VERDICT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/judgement/backtest.h"
#include "ope/judgement/diagnostics.h"
#include "ope/judgement/support.h"

namespace lfiw::ope {

// Whether an estimate should be relied on, in order of severity.
enum class Verdict { kTrust, kCaution, kDoNotUse };
constexpr auto EnumNames(Verdict /*kind*/) {
  return std::to_array<std::string_view>({"trust", "caution", "do not use"});
}

// Limits of each verdict; a value beyond the `caution` limit lowers trust to caution, one beyond
// the `refuse` limit to "do not use".
struct VerdictOptions {
  // Under a tenth of the episodes an estimate is three times as noisy as its size suggests; under a
  // fiftieth, seven times.
  double caution_ess_fraction = 0.1;
  double refuse_ess_fraction = 0.02;
  // A handful of episodes decides the estimate, and its standard error is itself a guess.
  double caution_ess = 20.0;
  double refuse_ess = 5.0;
  // Caution starts at KhatThreshold(n). From 1 on the mean of the weights does not exist.
  double refuse_khat = 1.0;
  // Model states or weights moved to a bound: the estimate partly describes the bound.
  double caution_clamp_rate = 0.01;
  double refuse_clamp_rate = 0.2;
  // Expected calibration error on held-out data: weights are odds of probabilities this far off.
  double caution_ece = 0.05;
  double refuse_ece = 0.2;
  // One step of calibrated weights keeps half of the samples at an AUC of 0.72, a tenth at 0.86;
  // near 1 the classifier sees disjoint sets and its ratio is an artifact of limited training.
  double caution_auc = 0.86;
  double refuse_auc = 0.99;
  // An estimate without weights leaves the model's bias in and out of its interval. Steps that are
  // told apart at an AUC of 0.6 differ enough for 20 of them to decide an episode; at 0.9 the model
  // is plainly another system.
  double caution_model_auc = 0.6;
  double refuse_model_auc = 0.9;
  // Clearly below one half the classifier is wrong about held-out data.
  double lowest_auc = 0.45;
  // Deviation of the mean weight of a step from 1, beyond two standard errors, in nats.
  double caution_log_mean_weight = 0.1;
  double refuse_log_mean_weight = 0.7;
  // Share of the policy's state-action pairs that lie farther from the log than all but 1 % of the
  // log's own do. The model and the classifiers have not been trained there.
  double caution_outside = 0.1;
  double refuse_outside = 0.5;
  // The same within the worst quarter of the episode, where few errors may do all the harm.
  double caution_quarter = 0.25;
  double refuse_quarter = 0.75;
  // What the method is off by on the policy that wrote the log, beyond noise, as a share of a
  // return. It can hardly be better on another policy.
  double caution_back_test = 0.05;
  double refuse_back_test = 0.25;
  // How far logged transitions move the model's value, as a share of it, in a doubly robust
  // estimate: what moves it there is right for the logged states and guessed for the policy's own.
  // Of linear-Gaussian systems that were moved by more than a quarter, half were left with an error
  // of more than a tenth of a return.
  double caution_correction = 0.05;
  double refuse_correction = 0.25;
  // A model that predicts logged states no better than their mean is off by 1. A perfect one may be
  // too where only feedback keeps the system stable, so it takes far more to refuse.
  double caution_open_loop = 1.2;
  double refuse_open_loop = 5.0;
  // The horizon in lengths of the longest logged episode: what happens later, nobody has seen.
  // Slow loops were off by half a return there with no other sign of it.
  double caution_reach = 1.5;
  double refuse_reach = 4.0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("caution_ess_fraction", caution_ess_fraction, "ESS / n below it", Between(0.0, 1.0));
    v.Field("refuse_ess_fraction", refuse_ess_fraction, "ESS / n below it", Between(0.0, 1.0));
    v.Field("caution_ess", caution_ess, "effective episodes below it", AtLeast(0.0));
    v.Field("refuse_ess", refuse_ess, "effective episodes below it", AtLeast(0.0));
    v.Field("refuse_khat", refuse_khat, "k-hat at or above it");
    v.Field("caution_clamp_rate", caution_clamp_rate, "share of clamped values above it",
            Between(0.0, 1.0));
    v.Field("refuse_clamp_rate", refuse_clamp_rate, "share of clamped values above it",
            Between(0.0, 1.0));
    v.Field("caution_ece", caution_ece, "calibration error above it", Between(0.0, 1.0));
    v.Field("refuse_ece", refuse_ece, "calibration error above it", Between(0.0, 1.0));
    v.Field("caution_auc", caution_auc, "AUC above it", Between(0.0, 1.0));
    v.Field("refuse_auc", refuse_auc, "AUC above it", Between(0.0, 1.0));
    v.Field("caution_model_auc", caution_model_auc, "AUC above it, for an estimate without weights",
            Between(0.0, 1.0));
    v.Field("refuse_model_auc", refuse_model_auc, "AUC above it, for an estimate without weights",
            Between(0.0, 1.0));
    v.Field("lowest_auc", lowest_auc, "caution when the AUC is below it", Between(0.0, 1.0));
    v.Field("caution_log_mean_weight", caution_log_mean_weight, "|log mean weight| above it",
            AtLeast(0.0));
    v.Field("refuse_log_mean_weight", refuse_log_mean_weight, "|log mean weight| above it",
            AtLeast(0.0));
    v.Field("caution_outside", caution_outside, "share of pairs far from the log above it",
            Between(0.0, 1.0));
    v.Field("refuse_outside", refuse_outside, "share of pairs far from the log above it",
            Between(0.0, 1.0));
    v.Field("caution_quarter", caution_quarter,
            "share of pairs far from the log in the worst quarter of the steps above it",
            Between(0.0, 1.0));
    v.Field("refuse_quarter", refuse_quarter,
            "share of pairs far from the log in the worst quarter of the steps above it",
            Between(0.0, 1.0));
    v.Field("caution_correction", caution_correction,
            "share that the log moves the model's value by above it", AtLeast(0.0));
    v.Field("refuse_correction", refuse_correction,
            "share that the log moves the model's value by above it", AtLeast(0.0));
    v.Field("caution_back_test", caution_back_test, "share that the back-test is off by above it",
            AtLeast(0.0));
    v.Field("refuse_back_test", refuse_back_test, "share that the back-test is off by above it",
            AtLeast(0.0));
    v.Field("caution_open_loop", caution_open_loop,
            "error of predicted states in deviations of the logged ones above it", AtLeast(0.0));
    v.Field("refuse_open_loop", refuse_open_loop,
            "error of predicted states in deviations of the logged ones above it", AtLeast(0.0));
    v.Field("caution_reach", caution_reach, "horizon in logged episodes' lengths above it",
            AtLeast(0.0));
    v.Field("refuse_reach", refuse_reach, "horizon in logged episodes' lengths above it",
            AtLeast(0.0));
  }
};

// What is known about one estimate; what was not measured is empty and not judged.
struct Evidence {
  std::string missing_value;  // the reason why there is no estimate; empty when there is one
  std::int64_t episodes = 0;  // n of one repetition
  std::optional<double> ess;
  std::optional<double> khat;
  std::optional<double> clip_rate;           // weights raised to beta
  std::optional<double> clamp_rate;          // model states moved into the range of the data
  std::optional<double> ece;                 // of the classifiers, in [0, 1]
  std::optional<double> auc;                 // of the classifiers, in [0, 1]
  std::optional<double> model_auc;           // the same, for an estimate that uses no weights
  std::optional<MeanWeight> mean_weight;     // WorstMeanWeight
  std::optional<ImprovementCheck> improves;  // a violation of proposition 1 calls for caution
  std::optional<SupportCheck> support;
  std::optional<Backtest> back_test;
  std::optional<double> uncorrected;  // the model's own value, beside a value corrected by the log
  // Largest error of the states that the model predicts under logged actions, 1 to T steps ahead,
  // in standard deviations of the logged states; infinite where a prediction diverges.
  std::optional<double> open_loop;
  std::optional<double> reach;          // T / steps of the longest logged episode
  std::optional<double> value;          // of the estimate, to hold against ...
  std::optional<ReturnRange> possible;  // ... what the log's rewards can add up to
};

// Evidence that an estimate of EstimateLfiw carries in itself.
Evidence EvidenceOf(const LfiwEstimate& estimate, std::int64_t episodes);

struct Judgement {
  Verdict verdict = Verdict::kTrust;
  std::vector<std::string> reasons;  // plain sentences, worst first; empty when trusted
};
Judgement Judge(const Evidence& evidence, const VerdictOptions& options);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_VERDICT_H_
