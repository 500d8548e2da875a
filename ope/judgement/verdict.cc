#include "ope/judgement/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "ope/judgement/psis.h"

namespace lfiw::ope {
namespace {

using Measure = std::optional<double>;

// Which values are beyond a limit.
enum class Bad { kAbove, kFrom, kBelow };

// How a limit is written. A fact is no matter of degree and has no limit to write: its measure is 1
// where it speaks against the estimate and 0 where it does not.
enum class Unit { kNumber, kPercent, kNats, kFact };

// One way in which evidence speaks against an estimate.
struct Rule {
  // Gives the quantity that is judged; nothing where it was not measured.
  Measure (*measure)(const Evidence&);
  // Gives the limits that it is held against.
  Threshold (*limits)(const VerdictOptions&, const Evidence&);
  Bad bad;
  Unit unit;
  // Says what was measured, `value` being the measure.
  std::string (*sentence)(const Evidence&, double value);
};

// Limits of facts: one that refuses an estimate, and one that calls for caution.
constexpr Threshold kRefuses = {0.0, 0.0};
constexpr Threshold kCautions = {0.0, HUGE_VAL};

template <auto field>
Measure Number(const Evidence& evidence) {
  return evidence.*field;
}

template <auto field>
Threshold Limit(const VerdictOptions& options, const Evidence&) {
  return options.*field;
}

template <const Threshold& limits>
Threshold Fact(const VerdictOptions&, const Evidence&) {
  return limits;
}

// Joins both limits of the effective sample size into one in episodes.
Threshold EssLimits(const VerdictOptions& options, const Evidence& evidence) {
  const auto episodes = static_cast<double>(evidence.episodes);
  return {std::max(options.ess.caution, options.ess_fraction.caution * episodes),
          std::max(options.ess.refuse, options.ess_fraction.refuse * episodes)};
}

Threshold KhatLimits(const VerdictOptions& options, const Evidence& evidence) {
  return {std::min(options.khat.caution, KhatThreshold(evidence.episodes)), options.khat.refuse};
}

Measure MeanWeightDeviation(const Evidence& evidence) {
  if (!evidence.mean_weight) return std::nullopt;
  const MeanWeight& step = *evidence.mean_weight;
  return std::abs(step.log_mean) - 2.0 * step.log_stderr.value_or(0.0);
}

Measure Worsens(const Evidence& evidence) {
  if (!evidence.improves) return std::nullopt;
  const ImprovementCheck& check = *evidence.improves;
  const double noise = 2.0 * check.standard_error.value_or(0.0);
  return !check.reason.empty() || check.margin < -noise ? 1.0 : 0.0;
}

// A deviation as a share of the value or, near 0, of the spread of returns.
double ShareOf(double deviation, const Evidence& evidence) {
  const double size =
      std::max({std::abs(evidence.uncorrected.value_or(0.0)),
                std::abs(evidence.value.value_or(0.0)), evidence.spread.value_or(0.0)});
  return size > 0.0 ? std::abs(deviation) / size : 0.0;
}

Measure CorrectionShare(const Evidence& evidence) {
  if (!evidence.uncorrected || !evidence.value) return std::nullopt;
  return ShareOf(*evidence.value - *evidence.uncorrected, evidence);
}

Measure DisagreementShare(const Evidence& evidence) {
  if (!evidence.disagreement || !evidence.value) return std::nullopt;
  return ShareOf(*evidence.disagreement, evidence);
}

Measure IsImpossible(const Evidence& evidence) {
  if (!evidence.value || !evidence.possible) return std::nullopt;
  // sampled and predicted rewards miss the ends of the range by a little
  constexpr double kTolerance = 0.01;
  const auto [low, high] = *evidence.possible;
  const double value = *evidence.value, margin = kTolerance * (high - low);
  return value >= low - margin && value <= high + margin ? 0.0 : 1.0;
}

// How far the value lies beyond all returns that were seen.
Measure UnseenShare(const Evidence& evidence) {
  if (!evidence.value || !evidence.seen) return std::nullopt;
  const double value = *evidence.value;
  return ShareOf(std::max({value - evidence.seen->high, evidence.seen->low - value, 0.0}),
                 evidence);
}

// The share of the policy's states and actions that are far from the log, where the value is no
// return that was ever seen either.
Measure ExtrapolatedShare(const Evidence& evidence) {
  if (!evidence.value || !evidence.seen || !evidence.support) return std::nullopt;
  const double value = *evidence.value;
  const bool inside = value >= evidence.seen->low && value <= evidence.seen->high;
  return inside ? 0.0 : evidence.support->outside;
}

// Each alone calls for caution at most; both together are a guess.
Threshold ExtrapolationLimits(const VerdictOptions& options, const Evidence& /*evidence*/) {
  return {options.outside.caution, options.outside.caution};
}

std::string WorsensText(const Evidence& evidence, double) {
  const ImprovementCheck& check = *evidence.improves;
  return check.reason.empty()
             ? fmt::format("on held-out data the weights make the model worse by {:.2f} nats",
                           -check.margin)
             : "whether the weights improve the model is unknown: " + check.reason;
}

// In the order in which reasons of equal weight are given.
constexpr std::array kRules = {
    Rule{[](const Evidence& e) -> Measure { return e.missing_value.empty() ? 0.0 : 1.0; },
         Fact<kRefuses>, Bad::kAbove, Unit::kFact,
         [](const Evidence& e, double) { return "there is no estimate: " + e.missing_value; }},
    Rule{[](const Evidence& e) -> Measure { return e.log_error.empty() ? 0.0 : 1.0; },
         Fact<kRefuses>, Bad::kAbove, Unit::kFact,
         [](const Evidence& e, double) { return "the log is faulty: " + e.log_error; }},
    Rule{[](const Evidence& e) -> Measure { return e.log_warning.empty() ? 0.0 : 1.0; },
         Fact<kCautions>, Bad::kAbove, Unit::kFact,
         [](const Evidence& e, double) { return "the log may be faulty: " + e.log_warning; }},
    Rule{Number<&Evidence::ess>, EssLimits, Bad::kBelow, Unit::kNumber,
         [](const Evidence& e, double value) {
           return fmt::format("the weights leave {:.1f} effective of {} episodes", value,
                              e.episodes);
         }},
    Rule{Number<&Evidence::khat>, KhatLimits, Bad::kFrom, Unit::kNumber,
         [](const Evidence&, double value) {
           return fmt::format("the tail of the weights is heavy: k-hat {:.2f}", value);
         }},
    Rule{Number<&Evidence::clip_rate>, Limit<&VerdictOptions::clip_rate>, Bad::kAbove,
         Unit::kPercent,
         [](const Evidence&, double value) {
           return fmt::format("{:.1f} % of the weights were raised to their lower bound",
                              100.0 * value);
         }},
    Rule{MeanWeightDeviation, Limit<&VerdictOptions::log_mean_weight>, Bad::kAbove, Unit::kNats,
         [](const Evidence& e, double value) {
           return fmt::format(
               "the mean weight of step {} is e^{:.2f}, not 1, off by {:.2f} nats beyond its "
               "noise: the classifiers extrapolate",
               e.mean_weight->step, e.mean_weight->log_mean, value);
         }},
    Rule{Number<&Evidence::ece>, Limit<&VerdictOptions::ece>, Bad::kAbove, Unit::kNumber,
         [](const Evidence&, double value) {
           return fmt::format("the classifiers are miscalibrated: expected error {:.3f}", value);
         }},
    Rule{Number<&Evidence::auc>, Limit<&VerdictOptions::lowest_auc>, Bad::kBelow, Unit::kNumber,
         [](const Evidence&, double value) {
           return fmt::format("the classifiers are worse than chance on held-out data: AUC {:.2f}",
                              value);
         }},
    Rule{Number<&Evidence::auc>, Limit<&VerdictOptions::auc>, Bad::kAbove, Unit::kNumber,
         [](const Evidence&, double value) {
           return fmt::format("the classifiers tell model from data too easily: AUC {:.3f}", value);
         }},
    Rule{Number<&Evidence::model_auc>, Limit<&VerdictOptions::model_auc>, Bad::kAbove,
         Unit::kNumber,
         [](const Evidence&, double value) {
           return fmt::format(
               "the classifiers tell model from data (AUC {:.2f}), and without weights the "
               "resulting bias is neither corrected nor part of the interval",
               value);
         }},
    Rule{Worsens, Fact<kCautions>, Bad::kAbove, Unit::kFact, WorsensText},
    Rule{[](const Evidence& e) { return e.support ? Measure(e.support->outside) : Measure(); },
         Limit<&VerdictOptions::outside>, Bad::kAbove, Unit::kPercent,
         [](const Evidence&, double value) {
           return fmt::format(
               "{:.0f} % of the policy's states and actions are far from all logged ones",
               100.0 * value);
         }},
    Rule{
        [](const Evidence& e) { return e.support ? Measure(e.support->worst_quarter) : Measure(); },
        Limit<&VerdictOptions::quarter>, Bad::kAbove, Unit::kPercent,
        [](const Evidence&, double value) {
          return fmt::format(
              "in one quarter of the episode {:.0f} % of the policy's states and actions are far "
              "from all logged ones",
              100.0 * value);
        }},
    Rule{CorrectionShare, Limit<&VerdictOptions::correction>, Bad::kAbove, Unit::kPercent,
         [](const Evidence& e, double value) {
           return fmt::format(
               "the log moves the model's value from {:.4g} to {:.4g}, by {:.1f} %: as far as the "
               "policy leaves the log, the rest of the error is unknown",
               *e.uncorrected, *e.value, 100.0 * value);
         }},
    Rule{DisagreementShare, Limit<&VerdictOptions::disagreement>, Bad::kAbove, Unit::kPercent,
         [](const Evidence&, double value) {
           return fmt::format(
               "the members of the model disagree about the value by {:.1f} % where the log cannot "
               "tell who is right",
               100.0 * value);
         }},
    Rule{[](const Evidence& e) {
           return e.back_test ? Measure(e.back_test->ExcessShare()) : Measure();
         },
         Limit<&VerdictOptions::back_test>, Bad::kAbove, Unit::kPercent,
         [](const Evidence& e, double value) {
           return fmt::format(
               "the back-test on the policy that wrote the log gives {:.4g}, the log {:.4g}: beyond "
               "noise off by {:.1f} % of a return",
               e.back_test->estimate, e.back_test->logged, 100.0 * value);
         }},
    Rule{Number<&Evidence::open_loop>, Limit<&VerdictOptions::open_loop>, Bad::kAbove,
         Unit::kNumber,
         [](const Evidence&, double value) {
           return fmt::format(
               "states predicted under logged actions are off by up to {:.2g} standard deviations "
               "of the logged ones",
               value);
         }},
    Rule{Number<&Evidence::reach>, Limit<&VerdictOptions::reach>, Bad::kAbove, Unit::kNumber,
         [](const Evidence&, double value) {
           return fmt::format("the horizon is {:.1f} times as long as enough logged episodes run", value);
         }},
    Rule{Number<&Evidence::influence>, Limit<&VerdictOptions::influence>, Bad::kAbove,
         Unit::kPercent,
         [](const Evidence&, double value) {
           return fmt::format(
               "one episode alone makes up {:.0f} % of the spread and so decides the estimate",
               100.0 * value);
         }},
    Rule{[](const Evidence& e) -> Measure {
           return e.width ? Measure(*e.width > 0.0 ? 0.0 : 1.0) : Measure();
         },
         Fact<kCautions>, Bad::kAbove, Unit::kFact,
         [](const Evidence&, double) {
           return std::string(
               "the interval has no width, since all values that it is made from are the same");
         }},
    Rule{UnseenShare, Limit<&VerdictOptions::unseen>, Bad::kAbove, Unit::kPercent,
         [](const Evidence& e, double value) {
           return fmt::format(
               "the value {:.4g} lies beyond all logged returns [{:.4g}, {:.4g}], by {:.1f} % of a "
               "return: no logged episode earned as much, or as little",
               *e.value, e.seen->low, e.seen->high, 100.0 * value);
         }},
    Rule{ExtrapolatedShare, ExtrapolationLimits, Bad::kAbove, Unit::kPercent,
         [](const Evidence& e, double value) {
           return fmt::format(
               "the value {:.4g} lies outside all logged returns [{:.4g}, {:.4g}], and {:.0f} % of "
               "the policy's states and actions are far from all logged ones",
               *e.value, e.seen->low, e.seen->high, 100.0 * value);
         }},
    Rule{IsImpossible, Fact<kRefuses>, Bad::kAbove, Unit::kFact,
         [](const Evidence& e, double) {
           return fmt::format(
               "the value {:.4g} lies outside [{:.4g}, {:.4g}], which is what rewards like the "
               "logged ones can add up to",
               *e.value, e.possible->low, e.possible->high);
         }},
    Rule{Number<&Evidence::clamp_rate>, Limit<&VerdictOptions::clamp_rate>, Bad::kAbove,
         Unit::kPercent,
         [](const Evidence&, double value) {
           return fmt::format(
               "{:.1f} % of the model's states were moved into the range of the data",
               100.0 * value);
         }},
};

bool IsBeyond(double value, double limit, Bad bad) {
  switch (bad) {
    case Bad::kAbove:
      return value > limit;
    case Bad::kFrom:
      return value >= limit;
    case Bad::kBelow:
      return value < limit;
  }
  return false;
}

std::string Quantity(double limit, Unit unit) {
  if (unit == Unit::kPercent) return fmt::format("{:.6g} %", 100.0 * limit);
  return fmt::format("{:.6g}{}", limit, unit == Unit::kNats ? " nats" : "");
}

// Names the limit that was passed: the last trusted value, or the first refused one.
std::string LimitText(const Rule& rule, const Threshold& limits, Verdict verdict) {
  const bool refused = verdict == Verdict::kDoNotUse;
  const std::string limit = Quantity(refused ? limits.refuse : limits.caution, rule.unit);
  switch (rule.bad) {
    case Bad::kAbove:
      return (refused ? "refused above " : "trusted up to ") + limit;
    case Bad::kFrom:
      return (refused ? "refused from " : "trusted below ") + limit;
    case Bad::kBelow:
      return (refused ? "refused below " : "trusted from ") + limit;
  }
  return "";
}

struct Finding {
  Verdict verdict;
  std::string reason;
};

// Holds the evidence against one rule; nothing where it does not speak against the estimate.
std::optional<Finding> Apply(const Rule& rule, const Evidence& evidence,
                             const VerdictOptions& options) {
  const Measure value = rule.measure(evidence);
  if (!value) return std::nullopt;
  const Threshold limits = rule.limits(options, evidence);
  const Verdict verdict = IsBeyond(*value, limits.refuse, rule.bad)    ? Verdict::kDoNotUse
                          : IsBeyond(*value, limits.caution, rule.bad) ? Verdict::kCaution
                                                                       : Verdict::kTrust;
  if (verdict == Verdict::kTrust) return std::nullopt;
  std::string reason = rule.sentence(evidence, *value);
  if (rule.unit != Unit::kFact) reason += fmt::format(" ({})", LimitText(rule, limits, verdict));
  return Finding{verdict, std::move(reason)};
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
  std::vector<Finding> findings;
  for (const Rule& rule : kRules) {
    if (std::optional<Finding> found = Apply(rule, evidence, options)) {
      findings.push_back(*std::move(found));
    }
  }
  std::ranges::stable_sort(findings, std::ranges::greater(), &Finding::verdict);
  Judgement judgement;
  for (Finding& finding : findings) {
    judgement.verdict = std::max(judgement.verdict, finding.verdict);
    judgement.reasons.push_back(std::move(finding.reason));
  }
  return judgement;
}

}  // namespace lfiw::ope
