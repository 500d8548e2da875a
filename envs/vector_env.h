#ifndef LFIW_ENVS_VECTOR_ENV_H_
#define LFIW_ENVS_VECTOR_ENV_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/visitor.h"
#include "envs/env.h"

namespace lfiw {

struct VectorEnvOptions {
  // A task must outweigh its scheduling (some microseconds): a few MuJoCo steps do.
  std::int64_t slots_per_task = 4;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("slots_per_task", slots_per_task, "environments that one task steps", AtLeast(1));
  }
};

// Where the outcomes of one step of all slots go: rows and entries are indexed by slot. A row may
// be part of something longer, so with a map of outer stride (T + 1) * obs_dim each step writes
// straight into an array [slots, T + 1, obs_dim].
struct StepOutputs {
  MatrixRef observations;              // [slots, obs_dim], the next observations
  MatrixRef aux;                       // [slots, aux_dim]
  std::span<double> rewards;           // [slots]
  std::span<std::uint8_t> terminated;  // [slots]
};

// Several instances of one environment, stepped in lockstep and in parallel. Results do not depend
// on the number of threads. Not thread safe itself.
class VectorEnv {
 public:
  VectorEnv(const EnvFactory& factory, std::int64_t slots, const VectorEnvOptions& options = {});

  const EnvSpec& spec() const { return spec_; }
  std::int64_t slots() const { return static_cast<std::int64_t>(slots_.size()); }

  // Resets slot i from streams[i]; streams [slots], observations [slots, obs_dim] (written).
  void Reset(std::span<Stream> streams, MatrixRef observations);
  // Resets one slot; observation [obs_dim] (written). Different slots may be reset in parallel.
  void ResetSlot(std::int64_t slot, Stream& stream, std::span<float> observation);

  // Steps every slot i with active[i] != 0 by row i of actions [slots, action_dim]; an empty
  // `active` means all. Rows of other slots are left alone. A NumericError names the slot; if
  // several slots fail, it is the first one's.
  void Step(ConstMatrixRef actions, std::span<const std::uint8_t> active, StepOutputs outputs);
  void Step(ConstMatrixRef actions, StepOutputs outputs) { Step(actions, {}, outputs); }

 private:
  // One instance with its double-precision buffers.
  struct Slot {
    std::unique_ptr<Env> env;
    std::vector<double> observation;
    std::vector<double> action;
    std::vector<double> aux;
  };

  void StepSlot(std::int64_t slot, const ConstMatrixRef& actions, StepOutputs& outputs);

  EnvSpec spec_;
  VectorEnvOptions options_;
  std::vector<Slot> slots_;
};

}  // namespace lfiw

#endif  // LFIW_ENVS_VECTOR_ENV_H_
