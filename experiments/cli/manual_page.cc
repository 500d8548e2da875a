#include "experiments/cli/manual_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <sstream>
#include <utility>

namespace lfiw::experiments {
namespace {

using Described = std::pair<std::string_view, std::string_view>;

// docs/results.md has the same.
constexpr std::array<Described, 5> kExitStatuses = {{
    {"0", "done, whatever the verdict is"},
    {"1",
     "no estimate of any policy has a value: all are refused, or a fit or rollout left the finite "
     "numbers, which one line says"},
    {"2", "wrong input: one line for each wrong field"},
    {"3", "a fault"},
    {"130, 143", "interrupted by Ctrl-C or SIGTERM; the same command goes on"},
}};

constexpr std::array<Described, 4> kFiles = {{
    {"outputs/NAME/HASH",
     "what a run writes where --out names no other folder: report.html, results.csv, "
     "verdicts.csv, config.yaml and more; HASH is that of the configuration"},
    {"outputs/cache", "the stages that runs share, where --cache names no other folder"},
    {"POLICY.yaml", "the contract of a policy file, where --contract names no other file"},
    {"PREFIX/share/lfiw/configs",
     "experiment files to run and to copy, experiments/configs in the sources; PREFIX is /usr "
     "where the Debian package is installed"},
}};

constexpr std::array<Described, 5> kEnvironment = {{
    {"OPENBLAS_CORETYPE",
     "the kernel of OpenBLAS; where it is not set, lfiw sets one that fits the CPU if OpenBLAS "
     "does "
     "not know the CPU"},
    {"LFIW_PRODUCTS", "the library that multiplies matrices: onednn, openblas or eigen"},
    {"MINARI_DATASETS_PATH",
     "where the logs of Minari are that are named by their id (default: ~/.minari/datasets)"},
    {"HOME", "see MINARI_DATASETS_PATH"},
    {"PATH",
     "where gnuplot is found, which draws the plots of reports, xdg-open, which opens them, and "
     "the commands of exec: policies"},
}};

// A text of one line that roff prints as it is.
std::string Roff(std::string_view text) {
  std::string escaped;
  if (text.starts_with('.') || text.starts_with('\'')) escaped += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else if (c == '`') {
      escaped += "\\(ga";
    } else if (c == '~') {
      escaped += "\\(ti";
    } else if (c == '^') {
      escaped += "\\(ha";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string RoffBold(std::string_view text) { return "\\fB" + Roff(text) + "\\fR"; }
std::string RoffItalic(std::string_view text) { return "\\fI" + Roff(text) + "\\fR"; }

// Lines that keep their breaks, as examples.
std::string RoffLines(const std::string& text) {
  std::string lines = ".PP\n.nf\n";
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines += Roff(line) + "\n";
  return lines + ".fi\n";
}

std::string DescribedItems(std::span<const Described> items) {
  std::string text;
  for (const auto& [name, description] : items) {
    text += fmt::format(".TP\n{}\n{}\n", RoffBold(name), Roff(description));
  }
  return text;
}

// "-m, --multirun", "--out DIR" or "config", for a synopsis or above a description.
std::string OptionHead(const VerbOption& option) {
  std::string head;
  for (const std::string& name : option.names) {
    if (!head.empty()) head += ", ";
    head += option.is_argument ? RoffItalic(name) : RoffBold(name);
  }
  if (!option.is_argument && !option.value.name.empty()) {
    head += " " + RoffItalic(option.value.name);
  }
  return head;
}

// What must stand on the command line of a verb, and that more may.
std::string Synopsis(const std::string& path, const Verb& verb) {
  std::string synopsis = RoffBold(path);
  if (!verb.verbs.empty()) return synopsis + " " + RoffItalic("verb") + " ...";
  for (const VerbOption& option : verb.options) {
    if (option.is_argument || !option.is_required) continue;
    synopsis += " " + OptionHead(option) + (option.is_repeated ? " ..." : "");
  }
  synopsis += " [" + RoffItalic("options") + "]";
  for (const VerbOption& option : verb.options) {
    if (!option.is_argument) continue;
    const std::string head = OptionHead(option) + (option.is_repeated ? " ..." : "");
    synopsis += option.is_required ? " " + head : " [" + head + "]";
  }
  return synopsis;
}

std::string OptionItem(const VerbOption& option) {
  std::string text = option.description;
  std::string limits = option.value.limits;
  if (option.is_argument && option.value.name != "FILE" && option.value.name != "DIR") {
    limits = option.value.name;
  }
  if (!limits.empty()) text += fmt::format(" ({})", limits);
  return fmt::format(".TP\n{}\n{}\n", OptionHead(option), Roff(text));
}

// The sections of a verb and of those inside it; `path` is "lfiw cache".
std::string VerbSections(const std::string& path, const Verb& verb) {
  std::string page = fmt::format(".SS {}\n{}.\n.PP\n{}\n", Roff(path), Roff(verb.description),
                                 Synopsis(path, verb));
  if (verb.verbs.empty()) {
    for (const VerbOption& option : verb.options) page += OptionItem(option);
  }
  if (!verb.examples.empty()) page += RoffLines(verb.examples);
  for (const Verb& inside : verb.verbs) page += VerbSections(path + " " + inside.name, inside);
  return page;
}

std::string InCapitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return text;
}

// The description is made of lines for a terminal.
std::string InOneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

std::string ManualPage(const Verb& program, std::string_view version) {
  const std::string& name = program.name;
  std::string page = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", InCapitals(name),
                                 name, Roff(version));
  page += fmt::format(".nh\n.ad l\n.SH NAME\n{} \\- evaluate policies off\\-policy, from logs\n",
                      Roff(name));
  page += fmt::format(".SH SYNOPSIS\n{} {} [{}] [{}]\n.br\n{} {}\n", RoffBold(name),
                      RoffItalic("verb"), RoffItalic("options"), RoffItalic("arguments"),
                      RoffBold(name + " --help"), "| " + RoffBold("--version"));
  page += fmt::format(".SH DESCRIPTION\n{}\n", Roff(InOneLine(program.description)));
  page +=
      "The answer is a value, an interval, and a verdict in plain words: trust, caution or do not "
      "use.\n.PP\n"
      "Fields of a configuration are set on the command line as "
      "\\fIkey.path\\fR=\\fIvalue\\fR.\n.SH VERBS\n";
  for (const Verb& verb : program.verbs) page += VerbSections(name + " " + verb.name, verb);
  page += ".SH EXIT STATUS\n" + DescribedItems(kExitStatuses);
  page += ".SH FILES\n" + DescribedItems(kFiles);
  page += ".SH ENVIRONMENT\n" + DescribedItems(kEnvironment);
  page +=
      ".SH SEE ALSO\n.BR gnuplot (1)\n.PP\nA. Grover et al.,\n"
      "\\fIBias Correction of Learned Generative Models using Likelihood\\-Free Importance "
      "Weighting\\fR,\nNeurIPS 2019.\n";
  return page;
}

}  // namespace lfiw::experiments
