#ifndef LFIW_TESTS_POLICIES_FILES_SB3_ARCHIVE_H_
#define LFIW_TESTS_POLICIES_FILES_SB3_ARCHIVE_H_

#include <gtest/gtest.h>
#include <zip.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "core/run/atomic_file.h"

// Pickles and archives as Python, PyTorch and Stable-Baselines3 write them, made by hand.
namespace lfiw::policies::sb3 {

using namespace std::string_literals;

inline std::string Little(std::uint64_t value, int bytes) {
  std::string out;
  for (int k = 0; k < bytes; ++k) out += static_cast<char>((value >> (8 * k)) & 0xFFU);
  return out;
}

inline std::string Text(const std::string& text) { return "X" + Little(text.size(), 4) + text; }
inline std::string Int(std::int64_t value) {
  return "J" + Little(static_cast<std::uint64_t>(value), 4);
}
inline std::string Global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string Bool(bool value) { return value ? "\x88" : "\x89"; }
inline std::string Float(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::string out = "G";
  for (int k = 8; k-- > 0;) out += static_cast<char>((bits >> (8 * k)) & 0xFFU);
  return out;
}
inline std::string Tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const std::string& item : items) out += item;
  return out + "t";
}
inline std::string Dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out = "}(";
  for (const auto& [key, value] : items) out += Text(key) + value;
  return out + "u";
}
inline std::string Object(const std::string& module, const std::string& name,
                          const std::string& state) {
  return Global(module, name) + ")\x81" + state + "b";
}
inline std::string Array(const std::vector<double>& values) {
  std::string bytes(8 * values.size(), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const std::string dtype = Global("numpy", "dtype") + Tuple({Text("f8"), Int(0), Int(1)}) + "R" +
                            Tuple({Int(3), Text("<"), "N", "N", "N", Int(-1), Int(-1), Int(0)}) +
                            "b";
  return Global("numpy.core.multiarray", "_reconstruct") +
         Tuple({Global("numpy", "ndarray"), Tuple({Int(0)}), "C\x01"s + "b"}) + "R" +
         Tuple({Int(1), Tuple({Int(static_cast<std::int64_t>(values.size()))}), dtype, Bool(false),
                "B" + Little(bytes.size(), 4) + bytes}) +
         "b";
}
inline std::string Pickle(const std::string& content) { return "\x80\x03" + content + "."; }

using Entries = std::vector<std::pair<std::string, std::string>>;

// Writes an archive with entries that are stored as they are.
inline void WriteArchive(const std::string& path, const Entries& entries) {
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  ASSERT_NE(zip, nullptr);
  for (const auto& [name, content] : entries) {
    zip_source_t* source = zip_source_buffer(zip, content.data(), content.size(), 0);
    const zip_int64_t index = zip_file_add(zip, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    ASSERT_GE(index, 0);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  ASSERT_EQ(zip_close(zip), 0);
}

inline std::string Tensor(const std::string& key, std::int64_t size, std::int64_t offset,
                          const std::vector<std::int64_t>& shape,
                          const std::vector<std::int64_t>& strides) {
  std::vector<std::string> dims, steps;
  for (const std::int64_t dim : shape) dims.push_back(Int(dim));
  for (const std::int64_t step : strides) steps.push_back(Int(step));
  const std::string storage =
      Tuple({Text("storage"), Global("torch", "FloatStorage"), Text(key), Text("cpu"), Int(size)}) +
      "Q";
  return Global("torch._utils", "_rebuild_tensor_v2") +
         Tuple({storage, Int(offset), Tuple(dims), Tuple(steps), Bool(false),
                Global("collections", "OrderedDict") + ")R"}) +
         "R";
}

// The file that torch.save writes of matrices and vectors (matrices of one column: vectors).
inline std::string TorchFile(const std::map<std::string, MatrixF>& tensors,
                             const std::string& scratch) {
  std::vector<std::pair<std::string, std::string>> items;
  Entries entries = {{"archive/data.pkl", ""}};
  for (const auto& [name, values] : tensors) {
    const std::string key = std::to_string(items.size());
    const std::int64_t rows = values.rows(), cols = values.cols();
    items.emplace_back(name, cols == 1 && !name.ends_with("weight")
                                 ? Tensor(key, rows, 0, {rows}, {1})
                                 : Tensor(key, rows * cols, 0, {rows, cols}, {cols, 1}));
    std::string bytes(static_cast<std::size_t>(4 * values.size()), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    entries.emplace_back("archive/data/" + key, bytes);
  }
  const std::string metadata = Dict({{"_metadata", Dict({{"version", Int(1)}})}});
  entries[0].second = Pickle(Global("collections", "OrderedDict") + ")R" + "(" +
                             Dict(items).substr(2) + metadata + "b");
  WriteArchive(scratch, entries);
  return ReadFile(scratch);
}

inline std::string Base64(const std::string& bytes) {
  static const std::string kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      value = (value << 8) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (int k = 0; k < 4; ++k) {
      const bool padding = i + static_cast<std::size_t>(k) > bytes.size();
      out += padding ? '=' : kDigits[(value >> (18 - 6 * k)) & 63U];
    }
  }
  return out;
}

// A pickled value within the JSON of an agent.
inline std::string Serialized(const std::string& content) {
  return "{\":type:\": \"x\", \":serialized:\": \"" + Base64(Pickle(content)) + "\"}";
}

inline std::string Box(const std::vector<double>& low, const std::vector<double>& high) {
  return Serialized(
      Object("gymnasium.spaces.box", "Box", Dict({{"low", Array(low)}, {"high", Array(high)}})));
}

// An agent: the fields of its JSON (as JSON) and its tensors.
struct Agent {
  std::map<std::string, std::string> data;
  std::map<std::string, MatrixF> tensors;

  void Write(const std::string& path) const {
    std::string json;
    for (const auto& [key, value] : data) {
      json += (json.empty() ? "{\"" : ", \"") + key + "\": " + value;
    }
    WriteArchive(path, {{"data", json + "}"},
                        {"policy.pth", TorchFile(tensors, path + ".scratch")},
                        {"_stable_baselines3_version", "2.8.0"}});
  }
};

// Two observations, one hidden unit h = tanh(x0 - 2 x1), mean (3 h, -h), deviations (1, e).
inline Agent PpoAgent() {
  Agent agent;
  agent.data = {{"policy_class",
                 Serialized(Global("stable_baselines3.common.policies", "ActorCriticPolicy"))},
                {"policy_kwargs", "{}"},
                {"observation_space", Box({-1e9, -1e9}, {1e9, 1e9})},
                {"action_space", Box({-1.0, -2.0}, {1.0, 2.0})},
                {"use_sde", "false"},
                {"clip_range", "0.2"},
                {"_last_original_obs", "null"}};
  agent.tensors = {{"mlp_extractor.policy_net.0.weight", MatrixF{{1.0f, -2.0f}}},
                   {"mlp_extractor.policy_net.0.bias", MatrixF::Zero(1, 1)},
                   {"mlp_extractor.value_net.0.weight", MatrixF{{5.0f, 5.0f}}},
                   {"mlp_extractor.value_net.0.bias", MatrixF::Zero(1, 1)},
                   {"value_net.weight", MatrixF::Ones(1, 1)},
                   {"value_net.bias", MatrixF::Ones(1, 1)},
                   {"action_net.weight", MatrixF{{3.0f}, {-1.0f}}},
                   {"action_net.bias", MatrixF::Zero(2, 1)},
                   {"log_std", MatrixF{{0.0f}, {1.0f}}}};
  return agent;
}

}  // namespace lfiw::policies::sb3

#endif  // LFIW_TESTS_POLICIES_FILES_SB3_ARCHIVE_H_
