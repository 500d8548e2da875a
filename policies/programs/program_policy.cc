#include "policies/programs/program_policy.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "core/arrays/array_visit.h"
#include "core/error.h"
#include "core/run/sha256.h"
#include "policies/undefined_policy.h"

namespace lfiw::policies {
namespace {

namespace fs = std::filesystem;

// Most rows of one request. It bounds what is in a pipe, and does not depend on the threads.
constexpr std::int64_t kMaxRequestRows = 4096;

std::string NameOf(std::string_view command) {
  return std::string(kProgramPrefix) + std::string(command);
}

// Calls use(first, count) for the pieces of [0, rows) that are asked for at once.
template <class Use>
void ForEachPiece(std::int64_t rows, const Use& use) {
  for (std::int64_t first = 0; first < rows; first += kMaxRequestRows) {
    use(first, std::min(kMaxRequestRows, rows - first));
  }
}

std::span<const std::int64_t> Piece(std::span<const std::int64_t> steps, std::int64_t first,
                                    std::int64_t count) {
  return steps.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

std::vector<double> Floats(const NpzArray& array) {
  std::vector<double> numbers;
  VisitFloats(array, [&](auto value) { numbers.push_back(static_cast<double>(value)); });
  return numbers;
}

std::vector<std::int64_t> IndicesOfOneHot(const ConstMatrixRef& executed) {
  std::vector<std::int64_t> indices;
  for (Eigen::Index i = 0; i < executed.rows(); ++i) {
    Eigen::Index index = 0;
    const bool one_hot =
        executed.row(i).maxCoeff(&index) == 1.0f && (executed.row(i).array() != 0.0f).count() == 1;
    if (!one_hot) {
      const MatrixF row = executed.row(i);
      Throw<PolicyError>("a discrete action is ({}), expected a single 1 among zeros",
                         fmt::join(row.data(), row.data() + row.size(), ", "));
    }
    indices.push_back(index);
  }
  return indices;
}

// The words of a command of a shell, without their quotes.
std::vector<std::string> WordsOf(std::string_view command) {
  std::vector<std::string> words;
  char quote = '\0';
  bool in_word = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    char c = command[i];
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n' || c == ';' || c == '&' || c == '|')) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (c == quote) {
      quote = '\0';
      continue;
    }
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
      continue;
    }
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) c = command[++i];
    words.back() += c;
  }
  return words;
}

// Files that the words of a command name, in order.
std::vector<std::string> FilesOf(std::string_view command) {
  std::vector<std::string> files;
  for (const std::string& word : WordsOf(command)) {
    const std::size_t equals = word.find('=');
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    for (const std::string& path : {word, value}) {
      std::error_code error;
      if (!path.empty() && fs::is_regular_file(path, error)) files.push_back(path);
    }
  }
  return files;
}

std::string_view CommandOf(std::string_view path) {
  path.remove_prefix(kProgramPrefix.size());
  return path;
}

}  // namespace

ProgramPolicy::ProgramPolicy(const std::string& command, double start_seconds)
    : command_(command),
      pool_(std::make_unique<ProgramPool>(command, NameOf(command), start_seconds)) {}

std::string ProgramPolicy::Description() const {
  const std::string_view kind = hello().noise_dim == 0 ? "deterministic"
                                : hello().discrete     ? "categorical"
                                                       : "stochastic";
  return fmt::format("{} program {}-...-{}, {}", kind, obs_dim(), action_dim(), command_);
}

std::string ProgramPolicy::DensityRefusal() const {
  if (has_density()) return "";
  return noise_dim() == 0 ? "the policy is deterministic"
                          : "the program says that it gives no log-densities (density=0)";
}

void ProgramPolicy::Act(ProgramRequest request, const ConstMatrixRef& observations,
                        std::span<const std::int64_t> steps, MatrixRef actions) const {
  const std::int64_t rows = observations.rows();
  ProgramQuestion question{std::move(request),
                           fmt::format("when asked for actions ({} of them)", rows),
                           AnswerType::kFloats,
                           {rows, action_dim()}};
  if (hello().discrete) {
    question.type = AnswerType::kIntegers;
    question.shape = {rows};
  }
  const NpzArray answer = pool_->Ask(question);
  const auto reject = [&](std::int64_t row, const std::string& fault) {
    const VectorF observation = observations.row(row);
    RejectUndefinedPolicy(NameOf(command_), fault,
                          {observation.data(), static_cast<std::size_t>(observation.size())},
                          steps[static_cast<std::size_t>(row)]);
  };
  std::int64_t at = 0;
  VisitFloats(answer, [&](auto value) {
    const std::int64_t row = at / action_dim();
    const auto rounded = static_cast<float>(value);
    if (!std::isfinite(rounded)) {
      reject(row, std::isnan(value) ? "NaN" : "an action that is not finite");
    }
    actions(row, at++ % action_dim()) = rounded;
  });
  VisitIntegers(answer, [&](auto value) {
    if (!std::in_range<std::int64_t>(value) || std::cmp_less(value, 0) ||
        std::cmp_greater_equal(value, action_dim())) {
      reject(at, fmt::format("action {} of {}", value, action_dim()));
    }
    actions.row(at).setZero();
    actions(at++, static_cast<Eigen::Index>(value)) = 1.0f;
  });
}

void ProgramPolicy::Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                           ConstMatrixRef noise, MatrixRef actions) const {
  LFIW_ASSERT(observations.cols() == obs_dim() && noise.cols() == noise_dim());
  ForEachPiece(observations.rows(), [&](std::int64_t first, std::int64_t count) {
    ProgramRequest request("sample");
    request.AddRows(observations.middleRows(first, count));
    request.AddIndices(Piece(steps, first, count));
    request.AddRows(noise.middleRows(first, count));
    Act(std::move(request), observations.middleRows(first, count), Piece(steps, first, count),
        actions.middleRows(first, count));
  });
}

void ProgramPolicy::Mean(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                         MatrixRef actions) const {
  LFIW_ASSERT(observations.cols() == obs_dim());
  ForEachPiece(observations.rows(), [&](std::int64_t first, std::int64_t count) {
    ProgramRequest request("mean");
    request.AddRows(observations.middleRows(first, count));
    request.AddIndices(Piece(steps, first, count));
    Act(std::move(request), observations.middleRows(first, count), Piece(steps, first, count),
        actions.middleRows(first, count));
  });
}

void ProgramPolicy::LogDensity(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                               ConstMatrixRef executed, const VectorD& low, const VectorD& high,
                               std::span<double> log_density) const {
  if (!has_density()) Throw<PolicyError>("{}: no density: {}", Description(), DensityRefusal());
  ForEachPiece(observations.rows(), [&](std::int64_t first, std::int64_t count) {
    ProgramQuestion question{ProgramRequest("log_density"),
                             fmt::format("when asked for log-densities ({} of them)", count),
                             AnswerType::kFloats,
                             {count}};
    question.request.AddRows(observations.middleRows(first, count));
    question.request.AddIndices(Piece(steps, first, count));
    if (hello().discrete) {
      question.request.AddIndices(IndicesOfOneHot(executed.middleRows(first, count)));
    } else {
      question.request.AddRows(executed.middleRows(first, count));
    }
    // executed actions are floats: a bound is met when it is met in float
    question.request.AddVector(low.cast<float>());
    question.request.AddVector(high.cast<float>());
    const std::vector<double> answer = Floats(pool_->Ask(question));
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = answer[static_cast<std::size_t>(i)];
      if (std::isnan(value) || value == std::numeric_limits<double>::infinity()) {
        const VectorF observation = observations.row(first + i);
        RejectUndefinedPolicy(NameOf(command_), fmt::format("a log-density of {}", value),
                              {observation.data(), static_cast<std::size_t>(observation.size())},
                              steps[static_cast<std::size_t>(first + i)]);
      }
      log_density[static_cast<std::size_t>(first + i)] = value;
    }
  });
}

bool IsProgramPolicy(std::string_view path) { return path.starts_with(kProgramPrefix); }

std::string ProgramPolicyHash(const std::string& path) {
  std::string parts = path;
  for (const std::string& file : FilesOf(CommandOf(path))) {
    parts += '\n' + file + ' ' + Sha256HexOfFile(file);
  }
  return Sha256Hex(parts);
}

std::string ProgramPolicyLabel(const std::string& path) {
  const std::vector<std::string> files = FilesOf(CommandOf(path));
  const std::vector<std::string> words = WordsOf(CommandOf(path));
  const std::string named = !files.empty() ? files.back() : words.empty() ? "" : words.front();
  const std::string stem = fs::path(named).stem().string();
  return stem.empty() ? "program" : stem;
}

}  // namespace lfiw::policies
