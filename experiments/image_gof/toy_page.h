#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_TOY_PAGE_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_TOY_PAGE_H_

#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/image_gof/toy_curves.h"
#include "experiments/presentation/plot.h"

namespace lfiw::experiments {

// One panel of the figure and what it amounts to.
struct ToyPanel {
  ToyCurves curves;
  ToySummary summary;
};

// Densities of the mixture and of the model of the largest panel.
Plot ToySetupPlot(const ToyGaussianConfig& config, const ToyCurves& curves);

// Class probability with its interval, and the optimal one.
Plot ToyCurvePlot(const ToyGaussianConfig& config, const ToyCurves& curves);

// The table for the terminal, a line per panel, then the conditions in words.
std::string ToyText(std::span<const ToyPanel> panels);

// RFC 4180, one line per panel: what ToyText shows in full precision. Divergences in nats.
std::string ToyCsv(std::span<const ToyPanel> panels);

// RFC 4180, one line per panel and grid point: probabilities and densities.
std::string ToyCurvesCsv(const ToyGaussianConfig& config, std::span<const ToyPanel> panels);

// The page. `svgs` are the drawn plots, the set-up first; empty where nothing could be drawn.
std::string ToyPage(const ToyGaussianConfig& config, std::span<const ToyPanel> panels,
                    const std::vector<std::string>& svgs, const std::string& command);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_TOY_PAGE_H_
