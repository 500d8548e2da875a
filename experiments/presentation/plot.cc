#include "experiments/presentation/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>

#include "core/error.h"
#include "experiments/presentation/markup.h"
#include "experiments/presentation/subprocess.h"

namespace lfiw::experiments {
namespace {

// Okabe and Ito's palette, told apart with any color vision and readable on white and on dark.
constexpr std::array<std::string_view, 7> kPalette = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#8C6BB1"};
constexpr std::string_view kGray = "#808080";
constexpr std::string_view kGridGray = "#E0E0E0";

// The title stands above what gnuplot draws, which has no room between its key and a title.
constexpr std::int64_t kTitleHeight = 30;

// Stands for a single quote on its way through gnuplot: U+E000, for private use.
constexpr std::string_view kQuoteStandIn = "\xEE\x80\x80";

// A curve of at most this many points gets a marker at each.
constexpr std::size_t kFewPoints = 20;

// The SVG's own style sheet: text with a halo, so that it can cross lines, and dark screens, on
// which grid and blue change. Their colors are spelled as gnuplot writes them.
constexpr std::string_view kPlotStyle =
    ".lfiw-plot{background:#fff}"
    ".lfiw-plot text{fill:#333;stroke:#fff;stroke-width:3px;paint-order:stroke}"
    "@media screen and (prefers-color-scheme:dark){"
    ".lfiw-plot{background:#1b1d21}"
    ".lfiw-plot text{fill:#d6d8dc;stroke:#1b1d21}"
    ".lfiw-plot [stroke='rgb(224, 224, 224)']{stroke:#363a41}"
    ".lfiw-plot [stroke='rgb(  0, 114, 178)']{stroke:#4aa3df}"
    ".lfiw-plot [color='rgb(  0, 114, 178)']{color:#4aa3df}"
    ".lfiw-plot [fill='rgb(  0, 114, 178)']{fill:#4aa3df}}";

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool CanShow(double value, PlotScale scale) {
  return std::isfinite(value) && (scale == PlotScale::kLinear || value > 0.0);
}

bool CanShowPoint(const Plot& plot, const PlotSeries& series, std::size_t i) {
  return CanShow(series.x[i], plot.x_scale) && CanShow(series.y[i], plot.y_scale);
}

bool CanShowBand(const Plot& plot, const PlotSeries& series, std::size_t i) {
  return !series.low.empty() && CanShow(series.x[i], plot.x_scale) &&
         CanShow(series.low[i], plot.y_scale) && CanShow(series.high[i], plot.y_scale);
}

void CheckSeries(const Plot& plot) {
  for (const PlotSeries& series : plot.series) {
    const std::size_t n = series.x.size();
    const bool band_fits = (series.low.empty() && series.high.empty()) ||
                           (series.low.size() == n && series.high.size() == n);
    if (series.y.size() != n || !band_fits)
      Throw<DataError>(
          "plot '{}': series '{}' has {} x, {} y, {} low and {} high values, "
          "expected as many of each (low and high may both be empty)",
          plot.title, series.label, n, series.y.size(), series.low.size(), series.high.size());
  }
  const auto drawable = [&](const PlotSeries& series) { return IsDrawable(plot, series); };
  if (std::none_of(plot.series.begin(), plot.series.end(), drawable))
    Throw<DataError>("plot '{}': no series has a finite point", plot.title);
}

// The width of bars: most of the smallest distance between two of them.
double BarWidth(const PlotSeries& series) {
  std::vector<double> x;
  std::copy_if(series.x.begin(), series.x.end(), std::back_inserter(x),
               [](double value) { return std::isfinite(value); });
  std::sort(x.begin(), x.end());
  double gap = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < x.size(); ++i)
    if (x[i] > x[i - 1]) gap = std::min(gap, x[i] - x[i - 1]);
  return std::isfinite(gap) ? 0.85 * gap : 1.0;
}

Range XRange(const Plot& plot) {
  Range range;
  for (const PlotSeries& series : plot.series) {
    const double margin = series.style == PlotStyle::kBars ? BarWidth(series) / 1.7 : 0.0;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!CanShowPoint(plot, series, i)) continue;
      range.Include(series.x[i] - margin);
      range.Include(series.x[i] + margin);
    }
  }
  return range;
}

Range YRange(const Plot& plot) {
  Range range;
  for (const PlotSeries& series : plot.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (CanShowPoint(plot, series, i)) range.Include(series.y[i]);
      if (CanShowBand(plot, series, i)) {
        range.Include(series.low[i]);
        range.Include(series.high[i]);
      }
    }
    if (series.style == PlotStyle::kBars && plot.y_scale == PlotScale::kLinear) range.Include(0.0);
  }
  for (const PlotReference& reference : plot.references)
    if (CanShow(reference.y, plot.y_scale)) range.Include(reference.y);
  return range;
}

// Some room around the data; an empty range is opened to show its one value in the middle.
Range Padded(Range range, PlotScale scale, double share) {
  if (scale == PlotScale::kLog) {
    const double factor =
        range.low == range.high ? 2.0 : std::pow(range.high / range.low, share) * 1.02;
    return {range.low / factor, range.high * factor};
  }
  // halves, because the difference of two huge values may not be a number
  const double half = range.high / 2 - range.low / 2;
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  const double room = half > 1e-9 * size ? 2 * half * share : std::max(size * 0.1, 0.5);
  return {range.low - room, range.high + room};
}

// One tick mark for gnuplot: its label and where it is.
std::string Tic(const std::string& label, double value) {
  return fmt::format("'{}' {:.15g}", label, value);
}

// A label with the digits that tick marks `step` apart need: 0.25, 40, 250k, 1.5M.
std::string TicLabel(double value, double step, double largest) {
  const double unit = largest >= 1e6 ? 1e6 : largest >= 1e4 ? 1e3 : 1.0;
  if (largest >= 1e10 || step < 1e-6) return fmt::format("{:.4g}", value);
  if (value == 0.0) return "0";
  const int decimals = static_cast<int>(std::ceil(-std::log10(step / unit) - 1e-9));
  const char* suffix = unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
  return fmt::format("{:.{}f}{}", value / unit, std::max(0, decimals), suffix);
}

// Five to ten tick marks at multiples of 1, 2 or 5 times a power of ten.
std::string LinearTics(Range range) {
  const double rough = range.high / 10 - range.low / 10;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double digit : {5.0, 2.0, 1.0})
    if (digit * power >= rough) step = digit * power;
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  const double first = std::ceil(range.low / step - 1e-9);
  std::string tics;
  for (int i = 0; (first + i) * step <= range.high + 1e-9 * step && i < 20; ++i) {
    const double value = (first + i) * step;
    if (i > 0) tics += ',';
    tics += Tic(TicLabel(value, step, largest), value);
  }
  return tics;
}

// Powers of ten, and 2 and 5 times these where there is room.
std::string LogTics(Range range) {
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::ceil(std::log10(range.high)));
  const int decades = last - first;
  const int stride = std::max(1, decades / 7);
  std::string tics;
  for (int power = first; power <= last; power += stride) {
    for (const int digit : {1, 2, 5}) {
      const double value = digit * std::pow(10.0, power);
      const bool room = digit == 1 || decades <= 3;
      if (!room || value < range.low || value > range.high) continue;
      if (!tics.empty()) tics += ',';
      tics += Tic(fmt::format("{:g}", value), value);
    }
  }
  return tics;
}

// A gnuplot string that stands for exactly this text. Between single quotes nothing is expanded (no
// escapes, macros or commands) and the terminal is `noenhanced`; but doubled quotes are not always
// read back as they should be, so a stand-in takes the place of each until the SVG is there.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : CleanText(text)) {
    if (c == '\'')
      quoted += kQuoteStandIn;
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string Number(double value) { return fmt::format("{:.15g}", value); }

std::string AxisCommands(std::string_view axis, const std::string& label, PlotScale scale,
                         Range range) {
  std::string commands = fmt::format("set {}label {}\nset {}range [{}:{}]\n", axis, Quoted(label),
                                     axis, Number(range.low), Number(range.high));
  if (scale == PlotScale::kLog) commands += fmt::format("set logscale {}\n", axis);
  const std::string tics = scale == PlotScale::kLog ? LogTics(range) : LinearTics(range);
  if (!tics.empty()) commands += fmt::format("set {}tics ({})\n", axis, tics);
  return commands;
}

// A value's place on an axis, 0 at its low and 1 at its high end.
double Place(double value, PlotScale scale, Range range) {
  if (scale == PlotScale::kLog)
    return std::log(value / range.low) / std::log(range.high / range.low);
  return (value - range.low) / (range.high - range.low);
}

enum class Side { kLeft, kRight };
enum class Edge { kAbove, kBelow };

struct LabelSpot {
  Side side = Side::kRight;
  Edge edge = Edge::kAbove;
  double distance = -1.0;  // to the nearest point, as a share of the plot's height
};

struct PlotArea {
  Range x;
  Range y;
};

// The end and side of a reference line where its label is farthest from the drawn points.
LabelSpot FindLabelSpot(const Plot& plot, const PlotArea& area, double reference) {
  constexpr double kLabelWidth = 0.4, kLabelRise = 0.05;  // shares of the plot
  const double line = Place(reference, plot.y_scale, area.y);
  LabelSpot best;
  for (const Side side : {Side::kRight, Side::kLeft}) {
    for (const Edge edge : {Edge::kAbove, Edge::kBelow}) {
      const double center = line + (edge == Edge::kAbove ? kLabelRise : -kLabelRise);
      if (center < 0.06 || center > 0.97) continue;
      double distance = 1.0;
      for (const PlotSeries& series : plot.series) {
        for (std::size_t i = 0; i < series.x.size(); ++i) {
          if (!CanShowPoint(plot, series, i)) continue;
          const double x = Place(series.x[i], plot.x_scale, area.x);
          if (side == Side::kLeft ? x > kLabelWidth : x < 1.0 - kLabelWidth) continue;
          distance =
              std::min(distance, std::abs(Place(series.y[i], plot.y_scale, area.y) - center));
        }
      }
      if (distance > best.distance) best = {side, edge, distance};
    }
  }
  return best;
}

std::string ReferenceCommands(const Plot& plot, const PlotArea& area) {
  std::string commands;
  for (const PlotReference& reference : plot.references) {
    if (!CanShow(reference.y, plot.y_scale)) continue;
    const std::string y = Number(reference.y);
    commands += fmt::format(
        "set arrow from graph 0, first {} to graph 1, first {} nohead dashtype 2 linewidth 1.2 "
        "linecolor rgb '{}' back\n",
        y, y, kGray);
    const LabelSpot spot = FindLabelSpot(plot, area, reference.y);
    commands += fmt::format("set label {} at graph {}, first {} {} offset 0,{} front\n",
                            Quoted(reference.label), spot.side == Side::kLeft ? "0.01" : "0.995", y,
                            spot.side == Side::kLeft ? "left" : "right",
                            spot.edge == Edge::kAbove ? "0.55" : "-0.65");
  }
  return commands;
}

// x y low high, with NaN for a gap; every point of the band is drawn or none of it.
std::string DataBlock(const Plot& plot, const PlotSeries& series, std::size_t index) {
  std::string block = fmt::format("$d{} << END\n", index);
  auto out = std::back_inserter(block);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool band = CanShowBand(plot, series, i);
    if (!CanShowPoint(plot, series, i)) {
      block += "\n";  // a blank line ends a curve and a band alike
      continue;
    }
    fmt::format_to(out, "{:.15g} {:.15g} {:.15g} {:.15g}\n", series.x[i], series.y[i],
                   band ? series.low[i] : series.y[i], band ? series.high[i] : series.y[i]);
  }
  return block + "END\n";
}

std::string_view ColorOf(const PlotSeries& series, std::size_t index) {
  switch (series.color) {
    case PlotColor::kByPlace:
      break;
    case PlotColor::kGood:
      return "#009E73";  // green
    case PlotColor::kWarning:
      return "#E69F00";  // orange
    case PlotColor::kBad:
      return "#D55E00";  // vermilion
  }
  return kPalette[index % kPalette.size()];
}

struct Element {
  std::string command;
  std::string label;
};

// The parts of gnuplot's `plot` command that draw one series: its band first, then its curve.
std::vector<Element> Elements(const PlotSeries& series, std::size_t index) {
  const std::string data = fmt::format("$d{}", index);
  const std::string color(ColorOf(series, index));
  const std::string title = series.label.empty() ? "notitle" : "title " + Quoted(series.label);
  // series beyond the palette repeat its colors with other dashes
  const std::size_t dash = 1 + index / kPalette.size();
  std::vector<Element> elements;
  const auto add = [&](std::string_view columns, const std::string& look, const std::string& key) {
    elements.push_back(
        {fmt::format("{} using {} with {} {}", data, columns, look, key), series.label});
  };
  const std::string line = fmt::format("linewidth 2 dashtype {} linecolor rgb '{}'", dash, color);
  const bool band = !series.low.empty();
  switch (series.style) {
    case PlotStyle::kLine:
      if (band)
        add("1:3:4",
            fmt::format("filledcurves fillcolor rgb '{}' fillstyle transparent solid 0.18 noborder",
                        color),
            "notitle");
      add("1:2",
          series.x.size() <= kFewPoints ? "linespoints pointtype 7 pointsize 0.55 " + line
                                        : "lines " + line,
          title);
      break;
    case PlotStyle::kPoints:
      if (band)
        add("1:2:3:4", fmt::format("yerrorbars pointtype 0 linecolor rgb '{}'", color), "notitle");
      add("1:2", fmt::format("points pointtype 7 pointsize 0.7 linecolor rgb '{}'", color), title);
      break;
    case PlotStyle::kBars:
      add(fmt::format("1:2:({})", Number(BarWidth(series))),
          fmt::format("boxes fillstyle solid 0.75 noborder linecolor rgb '{}'", color), title);
      break;
    case PlotStyle::kSteps:
      add("1:2", "steps " + line, title);
      break;
    case PlotStyle::kGuide:
      add("1:2", fmt::format("lines linewidth 1.2 dashtype 2 linecolor rgb '{}'", kGray), title);
      break;
  }
  return elements;
}

std::string Script(const Plot& plot, const PlotOptions& options,
                   const std::vector<Element>& elements) {
  const bool bars = std::any_of(plot.series.begin(), plot.series.end(), [](const auto& series) {
    return series.style == PlotStyle::kBars;
  });
  const Range x = Padded(XRange(plot), plot.x_scale, 0.0);
  // reference lines need room for their labels
  Range y = Padded(YRange(plot), plot.y_scale, plot.references.empty() ? 0.06 : 0.1);
  if (bars && y.low < 0.0 && YRange(plot).low == 0.0) y.low = 0.0;

  std::string script = fmt::format(
      "set terminal svg size {},{} dynamic noenhanced font 'sans-serif,15'\n"
      "set encoding utf8\n"
      "set border 3 linewidth 1 linecolor rgb '{}'\n"
      "set tics nomirror out scale 0.5\n"
      "set grid ytics back linetype 1 linewidth 1 linecolor rgb '{}'\n"
      "set key outside top center horizontal Left reverse samplen 2.2 noautotitle maxrows 3\n",
      options.width, options.height - kTitleHeight, kGray, kGridGray);
  script += AxisCommands("x", plot.x_label, plot.x_scale, x);
  script += AxisCommands("y", plot.y_label, plot.y_scale, y);
  script += ReferenceCommands(plot, {x, y});
  for (std::size_t i = 0; i < plot.series.size(); ++i)
    if (IsDrawable(plot, plot.series[i])) script += DataBlock(plot, plot.series[i], i);
  script += "plot ";
  for (std::size_t i = 0; i < elements.size(); ++i)
    script += (i == 0 ? "" : ", ") + elements[i].command;
  return script + "\n";
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// gnuplot's file as one element that can stand in a page: no prolog, our title in place of the
// program's name and version, and the series' labels where the pointer rests.
std::string Polished(std::string svg, const Plot& plot, const PlotOptions& options,
                     const std::vector<Element>& elements) {
  constexpr std::string_view kEndOfHead = "</desc>";
  const std::size_t head = svg.find(kEndOfHead);
  if (head == std::string::npos || svg.find("</svg>") == std::string::npos)
    Throw<ProgramError>("{} wrote {} bytes that are no SVG of the expected form", options.gnuplot,
                        svg.size());
  svg.erase(0, head + kEndOfHead.size());
  for (std::size_t i = 0; i < elements.size(); ++i)
    ReplaceAll(svg, fmt::format("<title>gnuplot_plot_{}</title>", i + 1),
               "<title>" + EscapeMarkup(elements[i].label) + "</title>");
  ReplaceAll(svg, kQuoteStandIn, "&#39;");
  const std::string title = EscapeMarkup(plot.title);
  return fmt::format(
             "<svg class=\"lfiw-plot\" role=\"img\" viewBox=\"0 {} {} {}\" "
             "xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n"
             "<title>{}</title>\n<style>{}</style>\n"
             "<text x=\"14\" y=\"-8\" font-family=\"sans-serif\" font-size=\"17\" "
             "font-weight=\"600\">{}</text>",
             -kTitleHeight, options.width, options.height, title, kPlotStyle, title) +
         svg;
}

}  // namespace

bool IsDrawable(const Plot& plot, const PlotSeries& series) {
  for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i)
    if (CanShowPoint(plot, series, i)) return true;
  return false;
}

std::string RenderSvg(const Plot& plot, const PlotOptions& options) {
  CheckSeries(plot);
  std::vector<Element> elements;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    if (!IsDrawable(plot, plot.series[i])) continue;
    for (Element& element : Elements(plot.series[i], i)) elements.push_back(std::move(element));
  }
  // -d: no start-up files, so the bytes do not depend on who draws
  const std::string svg =
      RunProgram({options.gnuplot, "-d"}, Script(plot, options, elements), options.time_limit_s);
  return Polished(svg, plot, options, elements);
}

}  // namespace lfiw::experiments
