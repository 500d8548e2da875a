#include "experiments/image_gof/gof_verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "core/statistics.h"
#include "experiments/image_gof/kernel_distance.h"
#include "experiments/presentation/number_text.h"
#include "ope/judgement/psis.h"
#include "ope/rollouts/log_weights.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kBins = 10;

// The unweighted KID in standard errors, and the limit for equal sets; none without an error.
struct KidTest {
  double statistic;
  double limit;
};
std::optional<KidTest> TestKid(const WeightEvidence& evidence, std::span<const GofRow> rows,
                               const GofVerdictOptions& options, std::int64_t kid_block) {
  const GofRow* kid = FindRow(rows, kKid, "none");
  if (kid == nullptr || !kid->value || !kid->standard_error || *kid->standard_error <= 0.0) {
    return std::nullopt;
  }
  const std::int64_t blocks = KernelBlocks(evidence.n, evidence.m, kid_block);
  return KidTest{*kid->value / *kid->standard_error,
                 StudentTQuantile(1.0 - options.significance, static_cast<double>(blocks - 1))};
}

}  // namespace

std::vector<std::string> WeightDoubts(const WeightEvidence& evidence,
                                      const GofVerdictOptions& options) {
  std::vector<std::string> doubts;
  const ImprovementCheck& check = evidence.conditions.divergence;
  if (!check.reason.empty()) {
    doubts.push_back(
        fmt::format("whether the weights improve the fit is not known: {}", check.reason));
  } else if (!check.holds) {
    doubts.push_back(
        fmt::format("on held-out samples the weights move the model away from the "
                    "data, by {} nats",
                    EstimateText(-check.margin, check.standard_error)));
  }
  const double share = evidence.ess / static_cast<double>(evidence.m);
  if (share < options.lowest_ess_fraction) {
    doubts.push_back(fmt::format("few samples carry the weight: {} of {}", NumberText(evidence.ess),
                                 CountText(static_cast<double>(evidence.m))));
  }
  if (evidence.khat && *evidence.khat >= evidence.khat_threshold) {
    doubts.push_back(
        fmt::format("the largest weights have a heavy tail: k-hat {}, reliable below "
                    "{}",
                    NumberText(evidence.khat, 2), NumberText(evidence.khat_threshold, 2)));
  }
  if (evidence.calibration.ece > options.highest_ece) {
    doubts.push_back(fmt::format("the classifier's probabilities are off by {} on average",
                                 NumberText(evidence.calibration.ece, 2)));
  }
  return doubts;
}

Calibration CalibrateWeights(const CrossFit& fit) {
  // the classifier saw as many of the one as of the other, the held-out samples may be unequal
  const double prior = std::log(static_cast<double>(fit.real.size())) -
                       std::log(static_cast<double>(fit.generated.size()));
  std::vector<double> logits;
  std::vector<std::uint8_t> labels;
  const auto add = [&](const std::vector<double>& side, std::uint8_t label) {
    for (const double value : side) {
      logits.push_back(value + prior);
      labels.push_back(label);
    }
  };
  add(fit.real, 1);
  add(fit.generated, 0);
  return MeasureCalibration(logits, labels, kBins);
}

WeightEvidence GatherEvidence(const CrossFit& fit) {
  WeightEvidence evidence{.n = std::ssize(fit.real), .m = std::ssize(fit.generated)};
  evidence.calibration = CalibrateWeights(fit);
  const auto n = static_cast<double>(evidence.n), m = static_cast<double>(evidence.m);
  evidence.auc_z = (evidence.calibration.auc - 0.5) / std::sqrt((n + m + 1.0) / (12.0 * n * m));
  const WeightSummary summary = Summarize(fit.generated);
  evidence.ess = summary.ess;
  evidence.max_weight = summary.max_weight;
  evidence.khat = FitTail(fit.generated).khat;
  evidence.khat_threshold = KhatThreshold(evidence.m);
  evidence.partition = EstimateLogPartition(fit.generated);
  evidence.conditions = CheckResampling(fit.real, fit.generated);
  return evidence;
}

GofJudgement JudgeFit(const WeightEvidence& evidence, std::span<const GofRow> rows,
                      const GofVerdictOptions& options, std::int64_t kid_block) {
  GofJudgement judgement;
  const double auc = evidence.calibration.auc;
  const double limit = NormalQuantile(1.0 - options.significance);
  const std::optional<KidTest> kid = TestKid(evidence, rows, options, kid_block);
  const bool told_apart = evidence.auc_z > limit;
  const bool kid_differs = kid && kid->statistic > kid->limit;
  judgement.reasons.push_back(fmt::format(
      "a classifier of features {} held-out samples apart: AUC {:.3f}, {:.1f} standard deviations "
      "from a coin's (limit {:.1f})",
      told_apart ? "tells" : "cannot tell", auc, evidence.auc_z, limit));
  if (kid) {
    judgement.reasons.push_back(fmt::format(
        "the KID is {:.1f} standard errors from 0 (limit {:.1f})", kid->statistic, kid->limit));
  }
  if (told_apart || kid_differs) {
    judgement.resemblance = auc < options.close_auc ? Resemblance::kClose : Resemblance::kDifferent;
  }
  judgement.doubts = WeightDoubts(evidence, options);
  return judgement;
}

}  // namespace lfiw::experiments
