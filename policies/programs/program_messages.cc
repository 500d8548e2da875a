#include "policies/programs/program_messages.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace lfiw::policies {
namespace {

constexpr std::string_view kGreeting = "lfiw-policy 1";
// Larger sizes are a mistake, and would be allocated.
constexpr std::int64_t kMaxSize = 1 << 20;
constexpr double kMaxAnswerSeconds = 86400.0;

template <class T>
T ParseHelloNumber(std::string_view key, std::string_view text, T low, T high) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high) {
    return value;
  }
  Throw<DataError>("{} is '{}', expected a number from {} to {}", key, Quoted(text), low, high);
}

void SetHelloField(ProgramHello& hello, std::string_view key, std::string_view text) {
  const auto size = [&](std::int64_t low) { return ParseHelloNumber(key, text, low, kMaxSize); };
  const auto flag = [&] { return ParseHelloNumber<std::int64_t>(key, text, 0, 1) == 1; };
  if (key == "obs_dim") {
    hello.obs_dim = size(1);
  } else if (key == "action_dim") {
    hello.action_dim = size(1);
  } else if (key == "noise_dim") {
    hello.noise_dim = size(0);
  } else if (key == "discrete") {
    hello.discrete = flag();
  } else if (key == "density") {
    hello.density = flag();
  } else if (key == "answer_seconds") {
    hello.answer_seconds = ParseHelloNumber(key, text, 0.01, kMaxAnswerSeconds);
  } else {
    Throw<DataError>(
        "'{}' is not known, expected obs_dim, action_dim, noise_dim, discrete, density or "
        "answer_seconds",
        Quoted(key));
  }
}

}  // namespace

std::string ProgramHelloTemplate() {
  return fmt::format("{} obs_dim=17 action_dim=6 noise_dim=6 discrete=0 density=0", kGreeting);
}

ProgramHello ParseProgramHello(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line != kGreeting && !line.starts_with(fmt::format("{} ", kGreeting))) {
    Throw<DataError>("'{}' where a line such as '{}' begins", Quoted(line), ProgramHelloTemplate());
  }
  line.remove_prefix(kGreeting.size());
  ProgramHello hello;
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      Throw<DataError>("'{}' in its first line, expected key=value", Quoted(word));
    }
    SetHelloField(hello, word.substr(0, equals), word.substr(equals + 1));
  }
  if (hello.obs_dim == 0 || hello.action_dim == 0) {
    Throw<DataError>("a first line without {}, expected one such as '{}'",
                     hello.obs_dim == 0 ? "obs_dim" : "action_dim", ProgramHelloTemplate());
  }
  if (hello.density && hello.noise_dim == 0) {
    Throw<DataError>("density=1 with noise_dim=0, but a policy without noise has no density");
  }
  return hello;
}

ProgramRequest::ProgramRequest(std::string_view name) : bytes_(name) { bytes_ += '\n'; }

void ProgramRequest::AddBlock(const std::string& type, std::vector<std::int64_t> shape,
                              const void* data) {
  const NpyHeader header{type, std::move(shape), false};
  bytes_ += FormatNpyHeader(header);
  const auto bytes = static_cast<std::size_t>(NpyByteCount(header, "a request"));
  if (bytes > 0) bytes_.append(static_cast<const char*>(data), bytes);
}

void ProgramRequest::AddRows(const ConstMatrixRef& values) {
  // rows need not follow each other in memory
  const MatrixF dense = values;
  AddBlock("f4", {dense.rows(), dense.cols()}, dense.data());
}

void ProgramRequest::AddVector(const VectorF& values) {
  AddBlock("f4", {values.size()}, values.data());
}

void ProgramRequest::AddIndices(std::span<const std::int64_t> values) {
  AddBlock("i8", {std::ssize(values)}, values.data());
}

std::int64_t CheckAnswer(const NpyHeader& header, AnswerType type,
                         const std::vector<std::int64_t>& shape) {
  const bool floats = header.type == "f4" || header.type == "f8";
  const bool integers =
      NpyItemSize(header.type) > 0 && (header.type[0] == 'i' || header.type[0] == 'u');
  const bool fits = type == AnswerType::kFloats ? floats : integers;
  if (!fits || header.shape != shape) {
    Throw<DataError>("an array of shape [{}] and type {}, expected [{}] of {}",
                     fmt::join(header.shape, ", "), Quoted(header.type), fmt::join(shape, ", "),
                     type == AnswerType::kFloats ? "f4 or f8" : "integers, such as i8");
  }
  return NpyByteCount(header, "its answer");
}

}  // namespace lfiw::policies
