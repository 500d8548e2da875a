#include "core/arrays/array_store.h"

#include <limits>
#include <utility>

#include "core/arrays/array_visit.h"
#include "core/arrays/npy_header.h"
#include "core/error.h"

namespace lfiw::core {
namespace {

// Names in a message are cut when there are many.
constexpr std::size_t kMaxListed = 12;

template <class Visit>
bool VisitNumbers(const NpzArray& array, Visit visit) {
  if (array.type == "f2") return ForEach<Eigen::half>(array, visit), true;
  return VisitFloats(array, visit) || VisitIntegers(array, visit);
}

[[noreturn]] void RejectType(const NpzArray& array, std::string_view where, const char* expected) {
  Throw<DataError>("{} has type {} and shape [{}], expected {}", where, array.type,
                   fmt::join(array.shape, ", "), expected);
}

}  // namespace

std::int64_t ArrayInfo::row_items() const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t items = 1;
  for (std::size_t k = 1; k < shape.size(); ++k) {
    if (shape[k] == 0) return 0;
    items = items > kMost / shape[k] ? kMost : items * shape[k];
  }
  return items;
}

const ArrayInfo& ArrayStore::Info(const std::string& name) const {
  const auto found = arrays().find(name);
  if (found == arrays().end()) {
    std::vector<std::string> names;
    for (const auto& [key, info] : arrays()) {
      if (names.size() < kMaxListed) names.push_back(Quoted(key));
    }
    Throw<DataError>("{}: array '{}' is missing; the file holds {}{}", path(), name,
                     names.empty() ? "no arrays" : fmt::format("{}", fmt::join(names, ", ")),
                     arrays().size() > kMaxListed ? ", ..." : "");
  }
  if (!found->second.unreadable.empty()) {
    Throw<DataError>("{}: array '{}' cannot be read: {}", path(), name, found->second.unreadable);
  }
  return found->second;
}

NpzArray ArrayStore::ReadAll(const std::string& name, std::int64_t max_bytes) {
  const ArrayInfo& info = Info(name);
  const std::int64_t bytes = NpyByteCount({info.type, info.shape, false}, name);
  if (bytes > max_bytes) {
    Throw<DataError>("{}: array '{}' of shape [{}] needs {} bytes, expected at most {}", path(),
                     name, fmt::join(info.shape, ", "), bytes, max_bytes);
  }
  return ReadRows(name, 0, info.rows());
}

std::vector<double> ToDoubles(const NpzArray& array, std::string_view where) {
  std::vector<double> out;
  if (!VisitNumbers(array, [&](auto value) { out.push_back(static_cast<double>(value)); })) {
    RejectType(array, where, "numbers");
  }
  return out;
}

std::vector<std::int64_t> ToIntegers(const NpzArray& array, std::string_view where) {
  std::vector<std::int64_t> out;
  const auto append = [&](auto value) {
    if (!std::in_range<std::int64_t>(value)) {
      Throw<DataError>("{} holds {}, expected a 64-bit signed integer", where, value);
    }
    out.push_back(static_cast<std::int64_t>(value));
  };
  if (!VisitIntegers(array, append)) RejectType(array, where, "integers");
  return out;
}

MatrixF ToMatrix(const NpzArray& array, std::string_view where) {
  const ArrayInfo info{array.type, array.shape};
  MatrixF out(info.rows(), info.row_items());
  float* at = out.data();
  if (!VisitNumbers(array, [&](auto value) { *at++ = static_cast<float>(value); })) {
    RejectType(array, where, "numbers");
  }
  return out;
}

bool IsIntegerType(std::string_view type) {
  return !type.empty() && (type[0] == 'i' || type[0] == 'u' || type[0] == 'b');
}

}  // namespace lfiw::core
