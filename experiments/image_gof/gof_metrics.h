#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_METRICS_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_METRICS_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/image_gof/gof_config.h"
#include "experiments/image_gof/sample_weights.h"
#include "models/image/feature_extractor.h"

namespace lfiw::experiments {

// Names of the metrics. The last is what the paper's code reports as KID.
inline constexpr const char* kInceptionScore = "inception_score";
inline constexpr const char* kFid = "fid";
inline constexpr const char* kKid = "kid";
inline constexpr const char* kBiasedRbf = "mmd_rbf_biased_sqrt";

// One metric under one weighting. `weights` is "reference" (halves of the real samples against each
// other; their own Inception Score), "none", or a variant's name.
struct GofRow {
  std::string metric;
  std::string weights;
  std::string params;
  std::optional<double> value = std::nullopt;
  std::optional<double> standard_error = std::nullopt;
  std::optional<double> ess = std::nullopt;    // of the weights; empty for the reference
  std::optional<double> alpha = std::nullopt;  // of tempered and smoothed weights
  std::int64_t n = 0;                          // samples on the generated side
  std::string reason = {};                     // why there is no value
};

// All metrics under no weights, every variant, and, for FID, unweighted subsets of as many samples
// as the self-normalized weights are worth. `ratios` are those of the generated samples. What
// cannot be computed has a reason.
std::vector<GofRow> MeasureFit(const ImageFeatures& real, const ImageFeatures& generated,
                               const SampleRatios& ratios, const GofMetricOptions& options,
                               std::uint64_t seed);

// The same without the reference.
std::vector<GofRow> MeasureWeighted(const ImageFeatures& real, const ImageFeatures& generated,
                                    const SampleRatios& ratios, const GofMetricOptions& options,
                                    std::uint64_t seed);

// The row of a metric and weighting; nullptr when there is none.
const GofRow* FindRow(std::span<const GofRow> rows, const std::string& metric,
                      const std::string& weights, const std::string& params = "");

nlohmann::json RowsJson(std::span<const GofRow> rows);
// Throws DataError that names `source` for what RowsJson did not write.
std::vector<GofRow> RowsFromJson(const nlohmann::json& json, const std::string& source);

// RFC 4180, a line per row.
std::string RowsCsv(std::span<const GofRow> rows);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_METRICS_H_
