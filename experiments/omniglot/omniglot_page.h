#ifndef LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_PAGE_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_PAGE_H_

#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/omniglot/omniglot_config.h"
#include "experiments/omniglot/omniglot_runs.h"
#include "experiments/omniglot/omniglot_table.h"
#include "experiments/omniglot/ranked_drawings.h"
#include "experiments/presentation/plot.h"

namespace lfiw::experiments {

// All that is known at the end.
struct OmniglotResult {
  const OmniglotConfig& config;
  const SplitDrawings& drawings;
  const std::vector<GeneratedDrawings>& generated;
  std::vector<OmniglotRun> runs;
  OmniglotTable table;
  std::vector<RankedClass> ranked;
};

// Figures of a page as <svg> elements; empty where one could not be drawn.
struct OmniglotFigures {
  std::string accuracy, generator, calibration, weights;
};

// Mean validation accuracy over epochs, a line for each kind of training data.
Plot AccuracyPlot(const std::vector<OmniglotRun>& runs);

// The critic's estimate of the Wasserstein distance while generators learn.
Plot GeneratorPlot(const std::vector<GeneratedDrawings>& generated);

// How training data, steps, weights and errors are to be read, as plain sentences.
std::vector<std::string> OmniglotNotes(const OmniglotResult& result);

std::string OmniglotPage(const OmniglotResult& result, const OmniglotFigures& figures,
                         const std::string& command);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_PAGE_H_
