#ifndef LFIW_POLICIES_PROGRAMS_PROGRAM_POOL_H_
#define LFIW_POLICIES_PROGRAMS_PROGRAM_POOL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/arrays/npz_array.h"
#include "core/layers.h"
#include "policies/programs/child_process.h"
#include "policies/programs/program_messages.h"

namespace lfiw::policies {

// How long a program may take for its first line. One that needs longer to load writes the line
// first: its first answer has a time of its own.
inline constexpr double kProgramStartSeconds = 120.0;

// A question to a program, and what its answer must be.
struct ProgramQuestion {
  ProgramRequest request;
  std::string occasion;  // "when asked for actions (64 of them)"
  AnswerType type = AnswerType::kFloats;
  std::vector<std::int64_t> shape;
};

// Copies of one program, as many as threads ask at once; they are kept until the end. All of them
// say the same of themselves and answer a probe alike, to the bit: what is asked of which one does
// not matter then. After the first failure of a program every call repeats its message at once.
// Thread safe.
class ProgramPool {
 public:
  // Starts one and asks it the probe twice and in part. Throws PolicyError if it fails, draws
  // random numbers, keeps a state between requests, or mixes the rows of a batch.
  ProgramPool(std::string command, std::string name, double start_seconds);
  ProgramPool(const ProgramPool&) = delete;
  ProgramPool& operator=(const ProgramPool&) = delete;
  ~ProgramPool();

  const ProgramHello& hello() const { return hello_; }
  // Programs that were started so far.
  std::int64_t started() const;

  // The answer, of the question's type and shape, in C order. Throws PolicyError.
  NpzArray Ask(const ProgramQuestion& question);

 private:
  std::unique_ptr<ChildProcess> Take();
  std::unique_ptr<ChildProcess> Start(ProgramHello& hello) const;
  void CheckSame(ChildProcess& child, const ProgramHello& hello) const;
  ProgramQuestion Probe(std::int64_t rows) const;

  const std::string command_, name_;
  const double start_seconds_;
  ProgramHello hello_;
  NpzArray probed_;  // what the first program answers to the probe
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ChildProcess>> idle_;
  std::int64_t started_ = 0;
  std::string failure_;
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PROGRAMS_PROGRAM_POOL_H_
