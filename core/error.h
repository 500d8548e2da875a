#ifndef LFIW_CORE_ERROR_H_
#define LFIW_CORE_ERROR_H_

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/quoted.h"

namespace lfiw::core {

// Something the user gave is wrong. The message is one line that names the place (file, line,
// episode, step), the value seen, and what was expected. The program prints it and exits 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A field of a configuration, or a command line argument.
class ConfigError : public Error {
 public:
  using Error::Error;
};

// A log, an artifact or another data file.
class DataError : public Error {
 public:
  using Error::Error;
};

// A policy file, or a policy that does not fit its environment or log.
class PolicyError : public Error {
 public:
  using Error::Error;
};

// A computation that left the numbers it can be trusted in (instability, divergence). The program
// exits 1.
class NumericError : public Error {
 public:
  using Error::Error;
};

// The user asked the program to stop; what was done so far is checkpointed. Not an Error.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

// Throws an `E` whose message is formatted in fmt's syntax: Throw<DataError>("{}: ...", path). What
// it quotes can not break its line or disturb a terminal (OneLine).
template <class E, class... Args>
[[noreturn]] void Throw(fmt::format_string<Args...> format, Args&&... args) {
  throw E(OneLine(fmt::format(format, std::forward<Args>(args)...)));
}

namespace internal {
[[noreturn]] inline void AssertFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "lfiw: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}
}  // namespace internal

}  // namespace lfiw::core

// A broken invariant is a fault of the program, never of its input: it aborts in every build.
#define LFIW_ASSERT(condition) \
  ((condition) ? void() : ::lfiw::core::internal::AssertFailed(#condition, __FILE__, __LINE__))

#endif  // LFIW_CORE_ERROR_H_
