#include "experiments/image_gof/gof_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "core/run/csv_columns.h"
#include "core/statistics.h"
#include "experiments/image_gof/frechet_distance.h"
#include "experiments/image_gof/inception_score.h"
#include "experiments/image_gof/kernel_distance.h"
#include "experiments/image_gof/sample_weights.h"
#include "experiments/presentation/json_object.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

constexpr const char* kReference = "reference";

// A weighting of the generated samples, or why there is none.
struct Weighting {
  std::string name;
  std::string params;
  std::optional<SampleWeights> weights;
  std::string reason;
};

std::vector<Weighting> MakeWeightings(const SampleRatios& ratios, const GofMetricOptions& options) {
  std::vector<Weighting> all = {{"none", "", UniformWeights(std::ssize(ratios.plain)), ""}};
  std::vector<WeightVariant> variants;
  if (!ratios.smoothed.empty()) variants.push_back(SmoothedVariant(ratios));
  std::ranges::move(PaperVariants(options.alphas, options.betas), std::back_inserter(variants));
  std::ranges::move(TemperedVariants(options.tempered), std::back_inserter(variants));
  for (const WeightVariant& variant : variants) {
    Weighting& weighting = all.emplace_back(Weighting{variant.name, variant.params, {}, ""});
    try {
      weighting.weights = MakeWeights(ratios.Of(variant.ratios), variant);
    } catch (const NumericError& error) {
      weighting.reason = error.what();
    }
  }
  return all;
}

// A row of one metric and weighting, still without a value.
GofRow RowOf(const char* metric, const Weighting& weighting, std::int64_t n) {
  GofRow row{.metric = metric, .weights = weighting.name, .params = weighting.params};
  if (weighting.weights) row.ess = weighting.weights->ess;
  const bool flattened = weighting.name == kTemperedWeights || weighting.name == kSmoothedWeights;
  if (weighting.weights && flattened) row.alpha = weighting.weights->alpha;
  row.n = n;
  row.reason = weighting.reason;
  return row;
}

// Sets a row's value where it is a number.
void SetValue(double value, GofRow& row) {
  if (std::isfinite(value)) {
    row.value = value;
  } else {
    row.reason = "not finite in double";
  }
}

// Sets it to what `compute` returns, or the reason to what it throws.
template <class Compute>
void Fill(const Compute& compute, GofRow& row) {
  if (!row.reason.empty()) return;
  try {
    SetValue(compute(), row);
  } catch (const NumericError& error) {
    row.reason = error.what();
  }
}

void AddScores(const MatrixF& logits, std::span<const Weighting> weightings,
               std::vector<GofRow>& rows) {
  for (const Weighting& weighting : weightings) {
    GofRow& row = rows.emplace_back(RowOf(kInceptionScore, weighting, logits.rows()));
    if (logits.cols() == 0) row.reason = "the features come without logits";
    Fill([&] { return InceptionScore(logits, *weighting.weights); }, row);
  }
}

void AddFids(const FrechetReference& reference, const MatrixF& generated,
             std::span<const Weighting> weightings, std::vector<GofRow>& rows) {
  for (const Weighting& weighting : weightings) {
    GofRow& row = rows.emplace_back(RowOf(kFid, weighting, generated.rows()));
    Fill([&] { return reference.Distance(WeightedMoments(generated, *weighting.weights)); }, row);
  }
}

MatrixF TakeRows(const MatrixF& rows, std::span<const std::int64_t> indices) {
  MatrixF taken(std::ssize(indices), rows.cols());
  for (Eigen::Index i = 0; i < taken.rows(); ++i) {
    taken.row(i) = rows.row(indices[static_cast<std::size_t>(i)]);
  }
  return taken;
}

// Unweighted FIDs of random subsets as large as the weights' effective sample size.
void AddFidsAtEss(const FrechetReference& reference, const MatrixF& generated, double ess,
                  std::int64_t draws, std::uint64_t seed, std::vector<GofRow>& rows) {
  const auto n = static_cast<std::int64_t>(std::llround(ess));
  GofRow row{.metric = kFid, .weights = "none", .params = "N = ESS"};
  row.n = n;
  row.ess = static_cast<double>(n);
  std::vector<double> distances;
  for (std::int64_t k = 0; k < draws && n >= 2; ++k) {
    std::vector<std::int64_t> order =
        Stream(seed, "gof subset", {static_cast<std::uint64_t>(k)}).Permutation(generated.rows());
    order.resize(static_cast<std::size_t>(n));
    distances.push_back(
        reference.Distance(WeightedMoments(TakeRows(generated, order), UniformWeights(n))));
  }
  if (distances.empty()) {
    row.reason = "fewer than two effective samples";
  } else {
    row.value = Mean(distances);
    if (distances.size() >= 2) row.standard_error = StandardError(distances);
  }
  rows.push_back(std::move(row));
}

// Both kernel metrics under the weightings that exist, at the cost of one each.
void AddKernels(const MatrixF& real, const MatrixF& generated,
                std::span<const Weighting> weightings, std::int64_t block, std::uint64_t seed,
                std::vector<GofRow>& rows) {
  std::vector<SampleWeights> weights;
  for (const Weighting& weighting : weightings) {
    if (weighting.weights) weights.push_back(*weighting.weights);
  }
  const auto kids =
      PolynomialKernelDistances(real, generated, weights, block, Stream(seed, "gof kid blocks"));
  const std::vector<double> biased = BiasedRbfDistances(real, generated, weights);
  std::size_t at = 0;
  std::vector<GofRow> biased_rows;
  for (const Weighting& weighting : weightings) {
    GofRow& kid = rows.emplace_back(RowOf(kKid, weighting, generated.rows()));
    GofRow& rbf = biased_rows.emplace_back(RowOf(kBiasedRbf, weighting, generated.rows()));
    if (!weighting.weights) continue;
    kid.standard_error = kids[at].standard_error;
    kid.reason = kids[at].reason;
    if (kids[at].value) SetValue(*kids[at].value, kid);
    SetValue(biased[at], rbf);
    ++at;
  }
  rows.insert(rows.end(), biased_rows.begin(), biased_rows.end());
}

// Real samples against themselves: what generated ones could reach at half their number.
void AddReference(const ImageFeatures& real, const GofMetricOptions& options, std::uint64_t seed,
                  std::vector<GofRow>& rows) {
  const std::vector<std::int64_t> order =
      Stream(seed, "gof reference").Permutation(real.features.rows());
  const std::span<const std::int64_t> all(order);
  const MatrixF first = TakeRows(real.features, all.first(order.size() / 2));
  const MatrixF second = TakeRows(real.features, all.subspan(order.size() / 2));
  const auto halves = [](std::int64_t n) {
    return std::vector<Weighting>{{kReference, "", UniformWeights(n), ""}};
  };
  AddScores(real.logits, halves(real.logits.rows()), rows);
  const FrechetReference reference(WeightedMoments(first, UniformWeights(first.rows())));
  AddFids(reference, second, halves(second.rows()), rows);
  AddKernels(first, second, halves(second.rows()), options.kid_block, seed, rows);
  for (GofRow& row : rows) row.ess.reset();
}

}  // namespace

std::vector<GofRow> MeasureWeighted(const ImageFeatures& real, const ImageFeatures& generated,
                                    const SampleRatios& ratios, const GofMetricOptions& options,
                                    std::uint64_t seed) {
  std::vector<GofRow> rows;
  const std::vector<Weighting> weightings = MakeWeightings(ratios, options);
  AddScores(generated.logits, weightings, rows);
  const FrechetReference reference(
      WeightedMoments(real.features, UniformWeights(real.features.rows())));
  AddFids(reference, generated.features, weightings, rows);
  const GofRow* self = FindRow(rows, kFid, "self_normalized");
  if (self != nullptr && self->ess && options.ess_draws > 0) {
    const double ess = *self->ess;
    AddFidsAtEss(reference, generated.features, ess, options.ess_draws, seed, rows);
  }
  AddKernels(real.features, generated.features, weightings, options.kid_block, seed, rows);
  return rows;
}

std::vector<GofRow> MeasureFit(const ImageFeatures& real, const ImageFeatures& generated,
                               const SampleRatios& ratios, const GofMetricOptions& options,
                               std::uint64_t seed) {
  std::vector<GofRow> rows;
  AddReference(real, options, seed, rows);
  const std::vector<GofRow> weighted = MeasureWeighted(real, generated, ratios, options, seed);
  rows.insert(rows.end(), weighted.begin(), weighted.end());
  return rows;
}

const GofRow* FindRow(std::span<const GofRow> rows, const std::string& metric,
                      const std::string& weights, const std::string& params) {
  const auto found = std::ranges::find_if(rows, [&](const GofRow& row) {
    return row.metric == metric && row.weights == weights && row.params == params;
  });
  return found == rows.end() ? nullptr : &*found;
}

json RowsJson(std::span<const GofRow> rows) {
  json all = json::array();
  for (const GofRow& row : rows) {
    all.push_back({{"metric", row.metric},
                   {"weights", row.weights},
                   {"params", row.params},
                   {"value", NumberOrNull(row.value)},
                   {"stderr", NumberOrNull(row.standard_error)},
                   {"ess", NumberOrNull(row.ess)},
                   {"alpha", NumberOrNull(row.alpha)},
                   {"n", row.n},
                   {"reason", row.reason}});
  }
  return all;
}

std::vector<GofRow> RowsFromJson(const json& value, const std::string& source) {
  const json document = {{"rows", value}};
  std::vector<GofRow> rows;
  for (const JsonObject& object : JsonObject(document, source).Objects("rows")) {
    rows.push_back({.metric = object.Text("metric"),
                    .weights = object.Text("weights"),
                    .params = object.Text("params"),
                    .value = object.Number("value"),
                    .standard_error = object.Number("stderr"),
                    .ess = object.Number("ess"),
                    .alpha = object.Number("alpha"),
                    .n = static_cast<std::int64_t>(object.Number("n").value_or(0.0)),
                    .reason = object.Text("reason")});
  }
  return rows;
}

std::string RowsCsv(std::span<const GofRow> rows) {
  static const CsvColumns<GofRow> columns = {
      {"metric", "", "name of the metric", &GofRow::metric},
      {"weights", "", "how generated samples are weighted", &GofRow::weights},
      {"params", "", "parameters of the weights", &GofRow::params},
      {"value", "", "the metric", &GofRow::value},
      {"stderr", "", "standard error of value", &GofRow::standard_error},
      {"ess", "images", "effective sample size of the weights", &GofRow::ess},
      {"alpha", "", "power of tempered and smoothed weights", &GofRow::alpha},
      {"n", "images", "generated samples", &GofRow::n},
      {"reason", "", "why there is no value", [](const GofRow& row) {
         return row.reason.empty() ? std::nullopt : std::optional(QuotedText{row.reason});
       }}};
  return columns.Format(rows);
}

}  // namespace lfiw::experiments
