#include "policies/programs/program_pool.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "core/arrays/array_visit.h"
#include "core/arrays/npy_header.h"
#include "core/error.h"
#include "core/index_list.h"
#include "core/rng.h"

namespace lfiw::policies {
namespace {

constexpr std::int64_t kProbeRows = 3;
// rows computed alone and in a batch differ by rounding
constexpr double kBatchTolerance = 1e-4;
constexpr std::size_t kMaxHelloBytes = 1000;
// numpy writes 128; the format allows more than any array needs
constexpr std::size_t kMaxNpyHeaderBytes = 1 << 16;

std::string ReceiveText(ChildProcess& child, std::size_t size) {
  std::string text(size, '\0');
  child.Receive(text);
  return text;
}

std::size_t ReceiveSize(ChildProcess& child, std::size_t digits) {
  std::size_t value = 0;
  const std::string bytes = ReceiveText(child, digits);
  for (std::size_t k = digits; k-- > 0;)
    value = (value << 8) | static_cast<unsigned char>(bytes[k]);
  return value;
}

NpyHeader ReceiveHeader(ChildProcess& child) {
  std::string preamble = ReceiveText(child, kNpyPreambleSize);
  if (!preamble.starts_with("\x93NUMPY")) {
    preamble += child.ReceiveWaiting(kMaxHelloBytes);
    Throw<DataError>(
        "'{}' where an .npy block begins (its standard output belongs to its answers alone; "
        "messages go to standard error)",
        Quoted(preamble));
  }
  const std::size_t size = ReceiveSize(child, NpyLengthSize(preamble, "its answer"));
  if (size > kMaxNpyHeaderBytes) {
    Throw<DataError>("an .npy header of {} bytes, expected at most {}", size, kMaxNpyHeaderBytes);
  }
  return ParseNpyHeader(ReceiveText(child, size), "its answer");
}

NpzArray ReceiveAnswer(ChildProcess& child, const ProgramQuestion& question) {
  const NpyHeader header = ReceiveHeader(child);
  NpzArray answer{header.type, header.shape, {}};
  answer.bytes.resize(static_cast<std::size_t>(CheckAnswer(header, question.type, question.shape)));
  child.Receive({reinterpret_cast<char*>(answer.bytes.data()), answer.bytes.size()});
  if (header.fortran_order && header.shape.size() > 1) {
    answer.bytes = RowMajorBytes(answer.bytes, header);
  }
  return answer;
}

NpzArray AskProgram(ChildProcess& child, const ProgramQuestion& question, double seconds) {
  child.Begin(question.occasion, seconds);
  child.Send(question.request.bytes());
  try {
    return ReceiveAnswer(child, question);
  } catch (const DataError& error) {
    child.Fail(fmt::format("answered with {}", error.what()));
  }
}

bool SameBytes(const NpzArray& a, const NpzArray& b) {
  return a.type == b.type && a.shape == b.shape && a.bytes == b.bytes;
}

std::vector<double> Numbers(const NpzArray& array) {
  std::vector<double> numbers;
  const auto append = [&](auto value) { numbers.push_back(static_cast<double>(value)); };
  if (!VisitFloats(array, append)) VisitIntegers(array, append);
  return numbers;
}

// Whether the numbers of `part` are the first ones of `whole`, up to rounding. An undefined answer
// (NaN) is told where the policy is asked, with its observation.
bool Begins(const NpzArray& whole, const NpzArray& part) {
  const std::vector<double> all = Numbers(whole), first = Numbers(part);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double tolerance = kBatchTolerance * (1.0 + std::abs(all[i]));
    if (std::isnan(all[i]) && std::isnan(first[i])) continue;
    if (all[i] != first[i] && !(std::abs(all[i] - first[i]) <= tolerance)) return false;
  }
  return true;
}

bool SameHello(const ProgramHello& a, const ProgramHello& b) {
  return a.obs_dim == b.obs_dim && a.action_dim == b.action_dim && a.noise_dim == b.noise_dim &&
         a.discrete == b.discrete && a.density == b.density;
}

MatrixF ProbeNumbers(std::int64_t rows, std::int64_t columns, std::string_view purpose) {
  MatrixF numbers(kProbeRows, columns);
  Stream(0, purpose)
      .FillNormal(std::span(numbers.data(), static_cast<std::size_t>(numbers.size())));
  return numbers.topRows(rows);
}

}  // namespace

ProgramPool::ProgramPool(std::string command, std::string name, double start_seconds)
    : command_(std::move(command)), name_(std::move(name)), start_seconds_(start_seconds) {
  std::unique_ptr<ChildProcess> child = Start(hello_);
  const auto ask = [&](std::int64_t rows) {
    return AskProgram(*child, Probe(rows), hello_.answer_seconds);
  };
  probed_ = ask(kProbeRows);
  if (!SameBytes(probed_, ask(kProbeRows))) {
    child->Fail(
        "answers differently when asked twice for the same: it keeps a state or draws random "
        "numbers of its own; expected one that draws from the noise it is sent alone,");
  }
  if (!Begins(probed_, ask(1))) {
    child->Fail("answers a row differently depending on the batch that it is in,");
  }
  idle_.push_back(std::move(child));
  started_ = 1;
}

ProgramPool::~ProgramPool() {
  // all of them end at the same time
  for (const auto& child : idle_) child->CloseInput();
}

std::int64_t ProgramPool::started() const {
  const std::lock_guard lock(mutex_);
  return started_;
}

ProgramQuestion ProgramPool::Probe(std::int64_t rows) const {
  ProgramQuestion question{ProgramRequest("sample"),
                           "when asked for the actions of a probe",
                           AnswerType::kFloats,
                           {rows, hello_.action_dim}};
  if (hello_.discrete) {
    question.type = AnswerType::kIntegers;
    question.shape = {rows};
  }
  question.request.AddRows(ProbeNumbers(rows, hello_.obs_dim, "observations of a probe"));
  question.request.AddIndices(IndexList(rows));
  question.request.AddRows(ProbeNumbers(rows, hello_.noise_dim, "noise of a probe"));
  return question;
}

std::unique_ptr<ChildProcess> ProgramPool::Start(ProgramHello& hello) const {
  auto child = std::make_unique<ChildProcess>(command_, name_);
  child->Begin("before its first line", start_seconds_);
  try {
    hello = ParseProgramHello(child->ReceiveLine(kMaxHelloBytes));
  } catch (const DataError& error) {
    child->Begin("at its start", start_seconds_);
    child->Fail(fmt::format("wrote {}", error.what()));
  }
  return child;
}

void ProgramPool::CheckSame(ChildProcess& child, const ProgramHello& hello) const {
  const bool same = SameHello(hello, hello_) &&
                    SameBytes(probed_, AskProgram(child, Probe(kProbeRows), hello_.answer_seconds));
  if (same) return;
  child.Begin("at its start", start_seconds_);
  child.Fail(
      "answers differently when started anew, so that results would depend on the number of "
      "threads; fix what is random in it");
}

std::unique_ptr<ChildProcess> ProgramPool::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) throw PolicyError(failure_);
    if (!idle_.empty()) {
      std::unique_ptr<ChildProcess> child = std::move(idle_.back());
      idle_.pop_back();
      return child;
    }
    ++started_;
  }
  ProgramHello hello;
  std::unique_ptr<ChildProcess> child = Start(hello);
  CheckSame(*child, hello);
  return child;
}

NpzArray ProgramPool::Ask(const ProgramQuestion& question) {
  try {
    std::unique_ptr<ChildProcess> child = Take();
    NpzArray answer = AskProgram(*child, question, hello_.answer_seconds);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(child));
    return answer;
  } catch (const PolicyError& error) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = error.what();
    throw;
  }
}

}  // namespace lfiw::policies
