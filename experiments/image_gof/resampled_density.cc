#include "experiments/image_gof/resampled_density.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/run/csv_columns.h"
#include "core/statistics.h"
#include "experiments/presentation/number_text.h"
#include "ope/means.h"

namespace lfiw::experiments {
namespace {

// The error of a mean over images minus log Z.
std::optional<double> Together(std::optional<double> images, std::optional<double> log_z) {
  if (!images || !log_z) return std::nullopt;
  return std::hypot(*images, *log_z);
}

}  // namespace

DensityRow MeasureDensity(const std::string& model, std::span<const double> log_density,
                          std::span<const double> log_weights, const LogPartition& partition,
                          std::int64_t bytes) {
  LFIW_ASSERT(log_density.size() == log_weights.size() && !log_density.empty() && bytes >= 1);
  std::vector<double> resampled;
  for (std::size_t i = 0; i < log_density.size(); ++i) {
    resampled.push_back(ResampledLogDensity(log_density[i], log_weights[i], partition).value);
  }
  const double bits = std::numbers::log2e / static_cast<double>(bytes);
  const auto in_bits = [bits](std::optional<double> nats) {
    return nats ? std::optional(*nats * bits) : std::nullopt;
  };
  return {.model = model,
          .images = std::ssize(log_density),
          .bits = -Mean(log_density) * bits,
          .bits_error = in_bits(MeanError(log_density)),
          .resampled_bits = -Mean(resampled) * bits,
          .resampled_error = in_bits(Together(MeanError(resampled), partition.standard_error)),
          .gain = Mean(log_weights) - partition.value,
          .gain_error = Together(MeanError(log_weights), partition.standard_error),
          .partition = partition};
}

std::vector<std::string> DensityLines(const DensityRow& row) {
  return {fmt::format("{}: {} bits per dimension on {} test images, {} after resampling", row.model,
                      EstimateText(row.bits, row.bits_error),
                      CountText(static_cast<double>(row.images)),
                      EstimateText(row.resampled_bits, row.resampled_error)),
          fmt::format("resampling changes the log-density of an image by {} nats on average",
                      EstimateText(row.gain, row.gain_error)),
          fmt::format("Z is not known but estimated by the mean weight of held-out generated "
                      "samples: log Z = {} nats, the same for every image, an error that more "
                      "test images do not reduce",
                      EstimateText(row.partition.value, row.partition.standard_error))};
}

std::string DensityCsv(std::span<const DensityRow> rows) {
  static const CsvColumns<DensityRow> columns = {
      {"model", "", "generator", InQuotes(&DensityRow::model)},
      {"images", "images", "test images", &DensityRow::images},
      {"bits_per_dimension", "bits per byte", "of the model", &DensityRow::bits},
      {"stderr", "bits per byte", "standard error of bits_per_dimension", &DensityRow::bits_error},
      {"resampled_bits_per_dimension", "bits per byte", "of the resampled model",
       &DensityRow::resampled_bits},
      {"resampled_stderr", "bits per byte", "standard error of resampled_bits_per_dimension",
       &DensityRow::resampled_error},
      {"gain_nats", "nats per image", "what resampling adds to the log-density", &DensityRow::gain},
      {"gain_stderr", "nats per image", "standard error of gain_nats", &DensityRow::gain_error},
      {"log_z", "nats", "log of the normalizer Z of the resampled model",
       [](const DensityRow& row) { return row.partition.value; }},
      {"log_z_stderr", "nats", "standard error of log_z",
       [](const DensityRow& row) { return row.partition.standard_error; }}};
  return columns.Format(rows);
}

}  // namespace lfiw::experiments
