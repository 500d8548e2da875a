#include "experiments/image_gof/classifier_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "core/run/csv_columns.h"
#include "experiments/image_gof/gof_verdict.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {

ExtractorCheck CheckExtractor(const std::string& extractor, const SampleSet& images) {
  ExtractorCheck check{.extractor = extractor, .images = images.size()};
  const std::vector<std::int64_t>& labels = images.images.labels;
  const MatrixF& logits = images.features.logits;
  if (labels.empty()) {
    check.reason = "images without labels";
    return check;
  }
  const auto [lowest, highest] = std::ranges::minmax(labels);
  if (lowest < 0 || highest + 1 != logits.cols()) {
    check.reason =
        fmt::format("labels from {} to {} for {} logits", lowest, highest, logits.cols());
    return check;
  }
  double right = 0.0;
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    Eigen::Index named = 0;
    logits.row(i).maxCoeff(&named);
    right += named == labels[static_cast<std::size_t>(i)] ? 1.0 : 0.0;
  }
  const auto n = static_cast<double>(logits.rows());
  check.accuracy = right / n;
  check.standard_error = std::sqrt(*check.accuracy * (1.0 - *check.accuracy) / n);
  return check;
}

std::string ExtractorLine(const ExtractorCheck& check) {
  if (!check.accuracy) {
    return fmt::format("{}: accuracy not known ({})", check.extractor, check.reason);
  }
  return fmt::format("{}: {:.1f} % of {} labeled check images right (standard error {:.1f} %)",
                     check.extractor, 100.0 * *check.accuracy,
                     CountText(static_cast<double>(check.images)), 100.0 * *check.standard_error);
}

ClassifierCheck CheckOnNewImages(const std::string& model, const CrossFit& fit,
                                 ConstMatrixRef features, std::uint64_t seed) {
  CrossFit some{
      .real = DealtLogWeights(fit.classifiers, features, seed), .generated = {}, .fits = {}};
  const auto order = Stream(seed, "gof check samples").Permutation(std::ssize(fit.generated));
  const std::size_t wanted = std::min(some.real.size(), fit.generated.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    some.generated.push_back(fit.generated[static_cast<std::size_t>(order[i])]);
  }
  return {.model = model,
          .images = "check images",
          .n = std::ssize(some.real),
          .m = std::ssize(some.generated),
          .calibration = CalibrateWeights(some)};
}

std::string ChecksCsv(std::span<const ClassifierCheck> checks) {
  const auto calibration = [](double Calibration::*member) {
    return [member](const ClassifierCheck& check) { return check.calibration.*member; };
  };
  static const CsvColumns<ClassifierCheck> columns = {
      {"model", "", "generator", InQuotes(&ClassifierCheck::model)},
      {"images", "", "which real images", InQuotes(&ClassifierCheck::images)},
      {"real", "images", "number of real images", &ClassifierCheck::n},
      {"generated", "images", "number of generated images", &ClassifierCheck::m},
      {"auc", "", "area under the ROC curve", calibration(&Calibration::auc)},
      {"accuracy", "", "share of images told right", calibration(&Calibration::accuracy)},
      {"ece", "", "expected calibration error in 10 bins", calibration(&Calibration::ece)},
      {"squared_error", "", "mean squared calibration error in 10 bins",
       calibration(&Calibration::squared_error)},
      {"brier", "", "mean squared error of the probability", calibration(&Calibration::brier)},
      {"nll", "nats", "cross-entropy of the probability", calibration(&Calibration::nll)}};
  return columns.Format(checks);
}

}  // namespace lfiw::experiments
