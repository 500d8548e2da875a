#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_RESAMPLED_DENSITY_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_RESAMPLED_DENSITY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "ope/rollouts/importance_resampling.h"

namespace lfiw::experiments {

// How probable a model and its importance resampled model (equation 11) find some images. Bits per
// dimension are means of -log2 density / bytes of an image: lower is better.
struct DensityRow {
  std::string model;
  std::int64_t images = 0;
  double bits = 0.0;  // of the model
  std::optional<double> bits_error = std::nullopt;
  double resampled_bits = 0.0;
  std::optional<double> resampled_error = std::nullopt;  // images and log Z together
  // Mean of log w - log Z, nats an image: what resampling adds to the log-density. Its error, of
  // images and log Z too, is free of how images differ under the model.
  double gain = 0.0;
  std::optional<double> gain_error = std::nullopt;
  LogPartition partition = {};  // log Z, nats
};

// log_density [n], nats, log_weights [n], n >= 1; `bytes` of an image. Standard errors need two
// images.
DensityRow MeasureDensity(const std::string& model, std::span<const double> log_density,
                          std::span<const double> log_weights, const LogPartition& partition,
                          std::int64_t bytes);

// The row in words, one line each, and why Z is not exact.
std::vector<std::string> DensityLines(const DensityRow& row);

// RFC 4180: a line per row.
std::string DensityCsv(std::span<const DensityRow> rows);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_RESAMPLED_DENSITY_H_
