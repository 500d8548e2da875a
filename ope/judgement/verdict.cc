#include "ope/judgement/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ope/judgement/psis.h"

namespace lfiw::ope {
namespace {

struct Finding {
  Verdict verdict;
  std::string reason;
};
using Findings = std::vector<Finding>;

Verdict Above(double value, double caution, double refuse) {
  return value > refuse    ? Verdict::kDoNotUse
         : value > caution ? Verdict::kCaution
                           : Verdict::kTrust;
}

Verdict Worse(Verdict a, Verdict b) { return std::max(a, b); }

void JudgeWeights(const Evidence& evidence, const VerdictOptions& options, Findings& findings) {
  if (evidence.ess) {
    const double fraction = *evidence.ess / static_cast<double>(evidence.episodes);
    const Verdict verdict =
        Worse(Above(-fraction, -options.caution_ess_fraction, -options.refuse_ess_fraction),
              Above(-*evidence.ess, -options.caution_ess, -options.refuse_ess));
    findings.push_back({verdict, fmt::format("the weights leave {:.1f} effective of {} episodes",
                                             *evidence.ess, evidence.episodes)});
  }
  if (evidence.khat) {
    const double threshold = KhatThreshold(evidence.episodes);
    const Verdict verdict = *evidence.khat >= options.refuse_khat ? Verdict::kDoNotUse
                            : *evidence.khat >= threshold         ? Verdict::kCaution
                                                                  : Verdict::kTrust;
    findings.push_back(
        {verdict,
         fmt::format("the tail of the weights is heavy: k-hat {:.2f}, reliable below {:.2f}",
                     *evidence.khat, threshold)});
  }
  if (evidence.clip_rate) {
    findings.push_back(
        {Above(*evidence.clip_rate, options.caution_clamp_rate, options.refuse_clamp_rate),
         fmt::format("{:.1f} % of the weights were raised to their lower bound",
                     100.0 * *evidence.clip_rate)});
  }
  if (evidence.mean_weight) {
    const MeanWeight& step = *evidence.mean_weight;
    const double deviation = std::abs(step.log_mean) - 2.0 * step.log_stderr.value_or(0.0);
    findings.push_back(
        {Above(deviation, options.caution_log_mean_weight, options.refuse_log_mean_weight),
         fmt::format("the mean weight of step {} is e^{:.2f}, not 1: the classifiers extrapolate",
                     step.step, step.log_mean)});
  }
}

void JudgeClassifiers(const Evidence& evidence, const VerdictOptions& options, Findings& findings) {
  if (evidence.ece) {
    findings.push_back(
        {Above(*evidence.ece, options.caution_ece, options.refuse_ece),
         fmt::format("the classifiers are miscalibrated: expected error {:.3f}", *evidence.ece)});
  }
  if (evidence.auc && *evidence.auc < options.lowest_auc) {
    findings.push_back(
        {Verdict::kCaution,
         fmt::format("the classifiers are worse than chance on held-out data: AUC {:.2f}",
                     *evidence.auc)});
  } else if (evidence.auc) {
    findings.push_back({Above(*evidence.auc, options.caution_auc, options.refuse_auc),
                        fmt::format("the classifiers tell model from data too easily: AUC {:.3f}",
                                    *evidence.auc)});
  }
  if (evidence.model_auc) {
    findings.push_back(
        {Above(*evidence.model_auc, options.caution_model_auc, options.refuse_model_auc),
         fmt::format("the classifiers tell model from data (AUC {:.2f}), and without weights the "
                     "resulting bias is neither corrected nor part of the interval",
                     *evidence.model_auc)});
  }
  if (evidence.improves) {
    const ImprovementCheck& check = *evidence.improves;
    const double noise = 2.0 * check.standard_error.value_or(0.0);
    const bool violated = !check.reason.empty() || check.margin < -noise;
    findings.push_back(
        {violated ? Verdict::kCaution : Verdict::kTrust,
         check.reason.empty()
             ? fmt::format("on held-out data the weights make the model worse by {:.2f} nats",
                           -check.margin)
             : "whether the weights improve the model is unknown: " + check.reason});
  }
}

// What lies beyond the log, whatever the weights say.
void JudgeReach(const Evidence& evidence, const VerdictOptions& options, Findings& findings) {
  if (evidence.support) {
    findings.push_back(
        {Above(evidence.support->outside, options.caution_outside, options.refuse_outside),
         fmt::format("{:.0f} % of the policy's states and actions are far from all logged ones",
                     100.0 * evidence.support->outside)});
    findings.push_back(
        {Above(evidence.support->worst_quarter, options.caution_quarter, options.refuse_quarter),
         fmt::format("in one quarter of the episode {:.0f} % of them are",
                     100.0 * evidence.support->worst_quarter)});
  }
  if (evidence.uncorrected && evidence.value) {
    const double size = std::max(std::abs(*evidence.uncorrected), std::abs(*evidence.value));
    const double moved = std::abs(*evidence.value - *evidence.uncorrected);
    findings.push_back(
        {Above(size > 0.0 ? moved / size : 0.0, options.caution_correction,
               options.refuse_correction),
         fmt::format("the log moves the model's value from {:.4g} to {:.4g}: as far as the policy "
                     "leaves the log, the rest of the error is unknown",
                     *evidence.uncorrected, *evidence.value)});
  }
  if (evidence.back_test) {
    const Backtest& test = *evidence.back_test;
    findings.push_back(
        {Above(test.ExcessShare(), options.caution_back_test, options.refuse_back_test),
         fmt::format(
             "for the policy that wrote the log the same method says {:.4g}, the log {:.4g}",
             test.estimate, test.logged)});
  }
  if (evidence.open_loop) {
    findings.push_back(
        {Above(*evidence.open_loop, options.caution_open_loop, options.refuse_open_loop),
         fmt::format("states predicted under logged actions are off by up to {:.2g} standard "
                     "deviations of the logged ones",
                     *evidence.open_loop)});
  }
  if (evidence.reach) {
    findings.push_back({Above(*evidence.reach, options.caution_reach, options.refuse_reach),
                        fmt::format("the horizon is {:.1f} times as long as any logged episode",
                                    *evidence.reach)});
  }
  if (evidence.value && evidence.possible) {
    const bool inside =
        *evidence.value >= evidence.possible->low && *evidence.value <= evidence.possible->high;
    findings.push_back(
        {inside ? Verdict::kTrust : Verdict::kDoNotUse,
         fmt::format("the value lies outside [{:.4g}, {:.4g}], which is what rewards like the "
                     "logged ones can add up to",
                     evidence.possible->low, evidence.possible->high)});
  }
}

}  // namespace

Evidence EvidenceOf(const LfiwEstimate& estimate, std::int64_t episodes) {
  Evidence evidence;
  evidence.missing_value = estimate.value ? "" : estimate.reason;
  evidence.episodes = episodes;
  evidence.ess = estimate.ess;
  evidence.khat = estimate.khat;
  evidence.clip_rate = estimate.clip_rate;
  return evidence;
}

Judgement Judge(const Evidence& evidence, const VerdictOptions& options) {
  Findings findings;
  if (!evidence.missing_value.empty()) {
    findings.push_back({Verdict::kDoNotUse, "there is no estimate: " + evidence.missing_value});
  }
  JudgeWeights(evidence, options, findings);
  JudgeClassifiers(evidence, options, findings);
  JudgeReach(evidence, options, findings);
  if (evidence.clamp_rate) {
    findings.push_back(
        {Above(*evidence.clamp_rate, options.caution_clamp_rate, options.refuse_clamp_rate),
         fmt::format("{:.1f} % of the model's states were moved into the range of the data",
                     100.0 * *evidence.clamp_rate)});
  }

  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.verdict > b.verdict; });
  Judgement judgement;
  for (Finding& finding : findings) {
    if (finding.verdict == Verdict::kTrust) continue;
    judgement.verdict = Worse(judgement.verdict, finding.verdict);
    judgement.reasons.push_back(std::move(finding.reason));
  }
  return judgement;
}

}  // namespace lfiw::ope
