#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_REPORT_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/image_gof/gof_verdict.h"
#include "experiments/image_gof/sample_set.h"
#include "experiments/presentation/plot.h"

namespace lfiw::experiments {

// All that is known at the end of a run.
struct GofResult {
  const GofConfig& config;
  const SamplePair& samples;
  const CrossFit& weights;
  std::vector<GofRow> rows;
  WeightEvidence evidence;
  GofJudgement judgement;
};

// Drawings of a page; empty where something could not be drawn.
struct GofDrawings {
  std::string calibration;
  std::string histogram;
  std::string grid;  // of samples by weight
};

// Share of real samples against mean probability of being real, in 10 bins of held-out samples.
Plot CalibrationPlot(const Calibration& calibration);

// Counts of log10 of the held-out weights of both sets.
Plot WeightPlot(const CrossFit& weights);

// Tables and verdict for the terminal.
std::string GofText(const GofResult& result);

// Everything in one document: definitions, rows, weights' diagnostics, verdict.
nlohmann::json GofJson(const GofResult& result);

std::string GofPage(const GofResult& result, const GofDrawings& drawings,
                    const std::string& command);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_REPORT_H_
