#ifndef LFIW_EXPERIMENTS_PRESENTATION_PLOT_H_
#define LFIW_EXPERIMENTS_PRESENTATION_PLOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"

namespace lfiw::experiments {

enum class PlotStyle {
  kLine,    // markers as well when the points are few; the band is shaded
  kPoints,  // the band becomes error bars
  kBars,    // from 0
  kSteps,   // each value holds until the next x
  kGuide,   // a thin dashed gray line to compare with, such as the diagonal
};

// The color of a series: that of its place in Plot::series, or one that means what it says.
enum class PlotColor { kByPlace, kGood, kWarning, kBad };

// y against x. Points that are not finite, or not
// positive on a log axis, leave a gap.
struct PlotSeries {
  std::string label = {};
  std::vector<double> x = {};     // [n]
  std::vector<double> y = {};     // [n]
  std::vector<double> low = {};   // [n], lower edge of the band; empty: no band
  std::vector<double> high = {};  // [n]
  PlotStyle style = PlotStyle::kLine;
  PlotColor color = PlotColor::kByPlace;
};

enum class PlotScale { kLinear, kLog };

// A horizontal line across the plot, such as a threshold.
struct PlotReference {
  double y = 0.0;
  std::string label;
};

struct Plot {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  PlotScale x_scale = PlotScale::kLinear;
  PlotScale y_scale = PlotScale::kLinear;
  std::vector<PlotSeries> series = {};
  std::vector<PlotReference> references = {};
};

struct PlotOptions {
  std::int64_t width = 640;
  std::int64_t height = 400;
  std::string gnuplot = "gnuplot";
  double time_limit_s = 30.0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("width", width, "width of a figure in pixels", Between(100, 10'000));
    v.Field("height", height, "height of a figure in pixels", Between(100, 10'000));
    v.Field("gnuplot", gnuplot, "the program that draws, looked up in PATH");
    v.Field("time_limit_s", time_limit_s, "seconds one figure may take", Positive());
  }
};

// True when the series has at least one point that can be drawn in `plot`.
bool IsDrawable(const Plot& plot, const PlotSeries& series);

// Draws a plot as one <svg> element of class "lfiw-plot": valid XML, the same bytes for the same
// plot, light or dark with the reader's screen. Labels are shown as they are, whatever they hold.
// Throws ProgramError when gnuplot is missing or fails, and DataError when the vectors of a series
// differ in length or no series has a point that can be drawn.
std::string RenderSvg(const Plot& plot, const PlotOptions& options = {});

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_PLOT_H_
