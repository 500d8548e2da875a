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

// The limits of one measured quantity. A value beyond `caution` lowers trust to caution, a value
// beyond `refuse` to "do not use". Which side "beyond" is depends on the quantity: small effective
// sample sizes are bad, large errors are.
struct Threshold {
  double caution = 0.0;
  double refuse = 0.0;
  Limits allowed = AtLeast(0.0);  // the values that either limit may take

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("caution", caution, "Beyond this limit the verdict is at best caution.", allowed);
    v.Field("refuse", refuse, "Beyond this limit the verdict is do not use.", allowed);
  }
};

// The limits that estimates are judged by. Those that theory does not give were set on the
// calibration of the verdict (experiments/configs/verdict_calibration.yaml, seed 100), which
// evaluates random linear-Gaussian systems of known value: of its planted failures 95 % are to be
// refused, of its good cases 90 % trusted.
struct VerdictOptions {
  // The effective sample size as a share of the episodes. Below a tenth an estimate is three times
  // as noisy as the number of episodes suggests, below a fiftieth seven times.
  Threshold ess_fraction = {0.1, 0.02, Between(0.0, 1.0)};
  // The effective sample size in episodes. Below these a handful of episodes decides the estimate,
  // and its standard error is itself a guess.
  Threshold ess = {20.0, 5.0};
  // The Pareto shape of the largest weights. Up to 0.7 their mean settles at a useful rate; from 1
  // on the distribution has no mean. With few episodes caution starts at the lower KhatThreshold.
  Threshold khat = {0.7, 1.0, {}};
  // The share of weights that were raised to their lower bound. Beyond these the estimate partly
  // describes the bound.
  Threshold clip_rate = {0.01, 0.2, Between(0.0, 1.0)};
  // The share of the model's states that were moved into the range of the data. Beyond these the
  // estimate partly describes the edge of the data.
  Threshold clamp_rate = {0.01, 0.2, Between(0.0, 1.0)};
  // The expected calibration error of the classifiers on held-out data, a probability. The weights
  // are odds of probabilities that are this far off.
  Threshold ece = {0.05, 0.2, Between(0.0, 1.0)};
  // The area under the ROC curve of the classifiers on held-out data. One step of calibrated
  // weights keeps half of the samples at an AUC of 0.72 and a tenth at 0.86; near 1 the classifier
  // sees disjoint sets, and its ratio is an artifact of limited training.
  Threshold auc = {0.86, 0.99, Between(0.0, 1.0)};
  // The same AUC where the estimate uses no weights, which leaves the model's bias in the estimate
  // and out of its interval. Steps that are told apart at an AUC of 0.6 differ enough for 20 of
  // them to decide an episode; at 0.9 the model is plainly another system.
  Threshold model_auc = {0.6, 0.9, Between(0.0, 1.0)};
  // The lower limits of the AUC. Clearly below one half the classifier is wrong about held-out
  // data, which its weights show in other measures; that alone never refuses an estimate.
  Threshold lowest_auc = {0.45, 0.0, Between(0.0, 1.0)};
  // How far the log of a step's mean weight is from 0 beyond two standard errors, in nats. Exact
  // weights have mean 1; these are means off by a tenth and by a factor of two.
  Threshold log_mean_weight = {0.1, 0.7};
  // The share of the policy's state-action pairs that lie farther from the log than all but 1 % of
  // the log's own do. The model and the classifiers have not been trained there.
  Threshold outside = {0.1, 0.5, Between(0.0, 1.0)};
  // The same share in the worst quarter of the episode, where few errors may do all the harm.
  Threshold quarter = {0.25, 0.75, Between(0.0, 1.0)};
  // What the method is off by on the policy that wrote the log, beyond two standard errors, as a
  // share of a return. It can hardly be better on another policy.
  Threshold back_test = {0.05, 0.25};
  // How far logged transitions move the model's value in a doubly robust estimate, as a share of
  // it. What moves it there is right for the logged states and guessed for the policy's own. Of the
  // calibration's systems that were moved by more than a quarter, half were left with an error of
  // more than a tenth of a return.
  Threshold correction = {0.05, 0.25};
  // What an estimate may still be off by where the log cannot tell, as a share of it: the deviation
  // of the members' values, and of a corrected estimate what of it the correction has not seen.
  Threshold disagreement = {0.125, 0.5};
  // The largest error of the states that the model predicts under logged actions, in standard
  // deviations of the logged states. A model that predicts no better than their mean is off by 1. A
  // perfect one may be too where only feedback keeps the system stable, so it takes far more to
  // refuse.
  Threshold open_loop = {1.2, 5.0};
  // The horizon in steps that enough logged episodes run. What happens later, nobody has seen: slow
  // loops of the calibration were off by half a return there with no other sign of it.
  Threshold reach = {1.5, 4.0};
  // How far the value lies beyond all logged returns, as a share of a return. Rewards and ends that
  // are learned apart can add up to what no episode has earned, and the log's own policy, whose
  // value lies among its returns, does not show it.
  Threshold unseen = {0.05, 0.5};
  // The share of the squared deviations that one episode makes up. Of normal values it is about
  // 2 ln(n) / n; where it is above one half, the mean is that episode's more than all others'.
  Threshold influence = {0.5, 0.9, Between(0.0, 1.0)};

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("ess_fraction", ess_fraction,
            "The effective sample size of the weights, as a share of the episodes, is beyond these "
            "limits when it is smaller: the estimate is then noisier than the number of episodes "
            "suggests.");
    v.Field("ess", ess,
            "The effective sample size of the weights, in episodes, is beyond these limits when it "
            "is smaller: a handful of episodes then decides the estimate.");
    v.Field("khat", khat,
            "The Pareto shape k-hat of the largest weights is beyond these limits from them on: "
            "the mean of the weights then settles too slowly, or does not exist. With few episodes "
            "caution starts earlier.");
    v.Field("clip_rate", clip_rate,
            "The share of the weights that were raised to their lower bound is beyond these limits "
            "when it is larger: the estimate then partly describes the bound.");
    v.Field("clamp_rate", clamp_rate,
            "The share of the model's states that were moved into the range of the data is beyond "
            "these limits when it is larger: the estimate then partly describes the edge of the "
            "data.");
    v.Field("ece", ece,
            "The classifiers' expected calibration error on held-out data, a probability, is "
            "beyond these limits when it is larger: the weights are odds of probabilities that are "
            "this far off.");
    v.Field("auc", auc,
            "The classifiers' AUC on held-out data is beyond these limits, for an estimate with "
            "weights, when it is larger: one step of weights then keeps few samples.");
    v.Field("model_auc", model_auc,
            "The classifiers' AUC on held-out data is beyond these limits, for an estimate without "
            "weights, when it is larger: the model's bias is then neither corrected nor part of "
            "the interval.");
    v.Field("lowest_auc", lowest_auc,
            "The classifiers' AUC on held-out data is beyond these limits when it is smaller: "
            "clearly below one half they are wrong about data that they have not seen.");
    v.Field("log_mean_weight", log_mean_weight,
            "The log of a step's mean weight, in nats, is beyond these limits when it is farther "
            "from 0, its noise taken off: exact weights have a mean of 1.");
    v.Field("outside", outside,
            "The share of the policy's states and actions that are far from all logged ones is "
            "beyond these limits when it is larger: the model has not been trained there.");
    v.Field("quarter", quarter,
            "The same share in the worst quarter of the episode is beyond these limits when it is "
            "larger: few errors there may do all the harm.");
    v.Field("correction", correction,
            "The share of the model's value that logged transitions move it by is beyond these "
            "limits when it is larger: the error that is left on the policy's own states is "
            "unknown.");
    v.Field("back_test", back_test,
            "The error of the same method on the policy that wrote the log, its noise taken off, "
            "as a share of a return, is beyond these limits when it is larger: another policy can "
            "hardly do better.");
    v.Field(
        "disagreement", disagreement,
        "What the members of the model disagree about where the log cannot tell, as a share of "
        "the estimate or of the spread of the logged returns, is beyond these limits when it is "
        "larger.");
    v.Field("open_loop", open_loop,
            "The largest error of states predicted under logged actions, in standard deviations of "
            "the logged states, is beyond these limits when it is larger: 1 is no better than "
            "their mean.");
    v.Field("reach", reach,
            "The horizon, in steps that enough logged episodes run, is beyond these limits when it "
            "is longer: what happens later, nobody has seen.");
    v.Field("unseen", unseen,
            "How far the value lies beyond all logged returns, as a share of a return, is beyond "
            "these limits when it is larger: no logged episode earned as much, or as little.");
    v.Field("influence", influence,
            "The share of the squared deviations of returns, or of the estimate's terms, that one "
            "episode makes up is beyond these limits when it is larger: that episode alone then "
            "decides the estimate.");
  }
};

// What is known about one estimate. What was not measured is empty and is not judged.
struct Evidence {
  std::string missing_value;  // the reason why there is no estimate; empty when there is one
  // What an audit of the log found: faults that make estimates wrong, and what may do so. Empty
  // where there is nothing to say.
  std::string log_error;
  std::string log_warning;
  std::int64_t episodes = 0;  // n of one repetition
  std::optional<double> ess;
  std::optional<double> khat;
  std::optional<double> clip_rate;           // share of the weights that were raised to beta
  std::optional<double> clamp_rate;          // share of model states moved into the data's range
  std::optional<double> ece;                 // of the classifiers, in [0, 1]
  std::optional<double> auc;                 // of the classifiers, in [0, 1]
  std::optional<double> model_auc;           // the AUC where the estimate uses no weights
  std::optional<MeanWeight> mean_weight;     // WorstMeanWeight
  std::optional<ImprovementCheck> improves;  // a violation of proposition 1 calls for caution
  std::optional<SupportCheck> support;
  std::optional<Backtest> back_test;
  std::optional<double> uncorrected;  // the model's own value, beside a value corrected by the log
  // Standard deviation of what an estimate may be off by where the log cannot tell.
  std::optional<double> disagreement;
  // Standard deviation of the logged returns, for shares of a value near 0.
  std::optional<double> spread;
  // Largest error of the states that the model predicts under logged actions, 1 to T steps ahead,
  // in standard deviations of the logged states; infinite where a prediction diverges.
  std::optional<double> open_loop;
  std::optional<double> reach;  // T / the steps that enough logged episodes run
  // LargestInfluence of the episodes: of their RecordedReturns and, where there are such, of their
  // terms of the estimate; the larger one.
  std::optional<double> influence;
  std::optional<double> width;          // of the interval
  std::optional<double> value;          // the estimate, to hold against ...
  std::optional<ReturnRange> possible;  // ... what the log's rewards can add up to
  // ... and the returns that were seen (LoggedRange).
  std::optional<ReturnRange> seen;

  // Names each field once, for files that keep evidence: v.Field(name, field).
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("missing_value", missing_value);
    v.Field("log_error", log_error);
    v.Field("log_warning", log_warning);
    v.Field("episodes", episodes);
    v.Field("ess", ess);
    v.Field("khat", khat);
    v.Field("clip_rate", clip_rate);
    v.Field("clamp_rate", clamp_rate);
    v.Field("ece", ece);
    v.Field("auc", auc);
    v.Field("model_auc", model_auc);
    v.Field("mean_weight", mean_weight);
    v.Field("improves", improves);
    v.Field("support", support);
    v.Field("back_test", back_test);
    v.Field("uncorrected", uncorrected);
    v.Field("disagreement", disagreement);
    v.Field("spread", spread);
    v.Field("open_loop", open_loop);
    v.Field("reach", reach);
    v.Field("influence", influence);
    v.Field("width", width);
    v.Field("value", value);
    v.Field("possible", possible);
    v.Field("seen", seen);
  }
};

// Gathers the evidence that an estimate of EstimateLfiw carries in itself.
Evidence EvidenceOf(const LfiwEstimate& estimate, std::int64_t episodes);

struct Judgement {
  Verdict verdict = Verdict::kTrust;
  std::vector<std::string> reasons;  // plain sentences, worst first; empty when trusted
};

// Holds every piece of evidence against its limits. The verdict is the worst of all; each reason
// states what was measured and the limit that it passed.
Judgement Judge(const Evidence& evidence, const VerdictOptions& options);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_VERDICT_H_
