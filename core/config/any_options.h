#ifndef LFIW_CORE_CONFIG_ANY_OPTIONS_H_
#define LFIW_CORE_CONFIG_ANY_OPTIONS_H_

#include <any>
#include <string>
#include <utility>

#include "core/config/config.h"
#include "core/error.h"

namespace lfiw::core {

// Options of one thing out of a registry: some configuration struct (core/config/visitor.h) whose
// type only the thing itself knows. As a field of another struct it reads, writes and documents
// itself like the struct that it holds. Copies are deep.
class AnyOptions {
 public:
  // Holds nothing, for things without options.
  AnyOptions() = default;
  template <internal::Struct T>
  AnyOptions(T options)  // NOLINT(google-explicit-constructor)
      : value_(std::move(options)), read_(&ReadAs<T>), write_(&WriteAs<T>) {}

  bool empty() const { return !value_.has_value(); }

  // Returns the struct, which must be a T.
  template <class T>
  const T& As() const {
    const T* value = std::any_cast<T>(&value_);
    LFIW_ASSERT(value != nullptr);
    return *value;
  }

  template <class T>
  T& As() {
    return const_cast<T&>(std::as_const(*this).As<T>());
  }

  // Reads the fields that `node` names, as ReadConfig does; empty options know no field.
  void ReadNode(const ConfigNode& node, const std::string& path,
                internal::ConfigProblems& problems);
  // Writes every field; empty options are an empty map.
  ConfigNode WriteNode() const;

 private:
  template <class T>
  static void ReadAs(const ConfigNode& node, const std::string& path, std::any& value,
                     internal::ConfigProblems& problems) {
    internal::ConfigReader::ReadStruct(node, path, *std::any_cast<T>(&value), problems);
  }
  template <class T>
  static ConfigNode WriteAs(std::any value) {
    return internal::ConfigWriter::WriteStruct(*std::any_cast<T>(&value));
  }

  std::any value_;
  void (*read_)(const ConfigNode&, const std::string&, std::any&,
                internal::ConfigProblems&) = nullptr;
  ConfigNode (*write_)(std::any) = nullptr;
};

// Reads `node`, which stands at `path` of a configuration, over `options`. Throws ConfigError with
// one line for every field that is wrong.
void ReadOptions(const ConfigNode& node, const std::string& path, AnyOptions& options);

// Names what two sets of options of one type differ in, with the values of the second:
// "ratios.max_weight=20 cut=refuse". Empty when they are the same.
std::string DescribeDifferences(const AnyOptions& from, const AnyOptions& to);

}  // namespace lfiw::core

#endif  // LFIW_CORE_CONFIG_ANY_OPTIONS_H_
