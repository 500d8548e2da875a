#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_PAGE_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_PAGE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/image_gof/bias_variance.h"
#include "experiments/image_gof/classifier_check.h"
#include "experiments/image_gof/gof_metrics.h"
#include "experiments/image_gof/gof_verdict.h"
#include "experiments/image_gof/resampled_density.h"

namespace lfiw::experiments {

// The metrics of the table, in the order of its columns.
inline constexpr std::array kTableMetrics = {kInceptionScore, kFid, kKid, kBiasedRbf};

// A mean over runs and its standard error, or why there is none.
struct TableCell {
  std::optional<double> value = std::nullopt;
  std::optional<double> standard_error = std::nullopt;
  std::string reason = {};
};

// A row of the paper's table 1.
struct TableRow {
  std::string model;
  std::string evaluation;
  std::int64_t runs = 0;
  std::int64_t size = 0;              // generated samples of a run
  std::vector<TableCell> cells = {};  // [kTableMetrics]
};

// A table of the paper's appendix B.
struct BiasVarianceTable {
  std::string model;
  std::int64_t size = 0;  // T
  bool disjoint = true;   // draws share no sample
  std::vector<BiasVariance> entries = {};
};

// Figures of one generator, each an <svg> element; empty where there is none.
struct GeneratorDrawings {
  std::string samples;
  std::string learning;
  std::string calibration;
  std::string check_calibration;  // on check images
};

// The weights of one generator, and what it looks like.
struct GeneratorEvidence {
  std::string model;
  WeightEvidence evidence;
  std::vector<std::string> notes;
  std::string training = {};  // in words; empty for samples from files
  GeneratorDrawings drawings = {};
};

struct GofTable {
  std::vector<TableRow> rows;  // the reference first
  std::vector<BiasVarianceTable> bias_variance;
  std::vector<DensityRow> densities;
  std::vector<ClassifierCheck> checks;
  std::optional<ExtractorCheck> extractor;  // none without check images
  std::vector<GeneratorEvidence> evidence;
};

std::string TableText(const GofTable& table);

// RFC 4180: a line per row and metric.
std::string TableCsv(const GofTable& table);

// RFC 4180: a line per generator, T and estimator.
std::string BiasVarianceCsv(const GofTable& table);

std::string TablePage(const GofTable& table, const std::string& command);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_PAGE_H_
