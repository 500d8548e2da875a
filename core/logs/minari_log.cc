#include "core/logs/minari_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/logs/log_builder.h"

namespace lfiw::core {
namespace {

using nlohmann::json;

constexpr std::string_view kGroup = "episode_";
constexpr std::string_view kTupleKey = "_index_";
constexpr const char* kAux = "infos/aux";

std::optional<std::int64_t> NumberAfter(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::vector<std::string> Components(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    parts.emplace_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return parts;
}

// Keys by name, items of tuples by index.
bool ComesBefore(const std::string& a, const std::string& b) {
  const auto first = NumberAfter(kTupleKey, a);
  const auto second = NumberAfter(kTupleKey, b);
  return first && second ? *first < *second : a < b;
}

bool PathComesBefore(const std::string& a, const std::string& b) {
  const std::vector<std::string> x = Components(a);
  const std::vector<std::string> y = Components(b);
  return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), ComesBefore);
}

// One array of a space, such as "observations/position".
struct Leaf {
  std::string path;
  std::int64_t discrete = 0;  // number of values, 0: plain numbers
  std::int64_t start = 0;     // first value
  std::int64_t width = 0;     // columns after flattening
};

// A space of whole numbers has its n and start; anything else is taken as numbers.
void ApplySpace(const json& space, Leaf& leaf) {
  const json* at = &space;
  const std::vector<std::string> parts = Components(leaf.path);
  for (std::size_t k = 1; k < parts.size() && at->is_object(); ++k) {
    const auto found = at->find("subspaces");
    if (found == at->end()) return;
    const auto index = NumberAfter(kTupleKey, parts[k]);
    if (found->is_array() && index && static_cast<std::size_t>(*index) < found->size()) {
      at = &(*found)[static_cast<std::size_t>(*index)];
    } else if (found->is_object() && found->contains(parts[k])) {
      at = &(*found)[parts[k]];
    } else {
      return;
    }
  }
  if (!at->is_object() || at->value("type", json()) != "Discrete") return;
  const json n = at->value("n", json());
  const json start = at->value("start", json(0));
  if (!n.is_number_integer() || !start.is_number_integer()) return;
  leaf.discrete = n.get<std::int64_t>();
  leaf.start = start.get<std::int64_t>();
  if (leaf.discrete < 1 || leaf.discrete > kMaxDiscreteActions ||
      std::abs(leaf.start) > (std::int64_t{1} << 40)) {
    Throw<DataError>("the space of {} has {} values from {}, expected 1 to {} values", leaf.path,
                     leaf.discrete, leaf.start, kMaxDiscreteActions);
  }
}

// Python's JSON has Infinity, which stands in the bounds of spaces.
std::string WithoutInfinity(const std::string& text) {
  constexpr std::string_view kInfinity = "Infinity";
  std::string out;
  std::size_t from = 0;
  for (;;) {
    const std::size_t at = text.find(kInfinity, from);
    out += text.substr(from, at - from);
    if (at == std::string::npos) return out;
    out += "9e99";
    from = at + kInfinity.size();
  }
}

json ParseOrNull(const std::string& text) {
  json value = json::parse(WithoutInfinity(text), nullptr, false);
  return value.is_discarded() ? json() : value;
}

// Arguments of gymnasium.make that decide how an environment is drawn, not what it does.
bool IsDrawing(const std::string& argument) {
  static constexpr std::array<std::string_view, 9> kDrawing = {"render_mode",
                                                               "width",
                                                               "height",
                                                               "camera_id",
                                                               "camera_name",
                                                               "max_geom",
                                                               "default_camera_config",
                                                               "visual_options",
                                                               "disable_env_checker"};
  return std::ranges::find(kDrawing, argument) != kDrawing.end();
}

// The arguments that an environment was made with, each as ":name=value" behind its name.
std::string EnvironmentOptions(const json& spec) {
  std::string text;
  const json arguments = spec.value("kwargs", json());
  if (!arguments.is_object()) return text;
  for (const auto& [name, value] : arguments.items()) {
    if (!IsDrawing(name) && !value.is_null()) text += ":" + name + "=" + value.dump();
  }
  return text;
}

class MinariReader final : public LogReader {
 public:
  MinariReader(std::unique_ptr<ArrayStore> store, const std::string& metadata,
               const LogReadOptions& options)
      : store_(std::move(store)), options_(options), metadata_(ParseOrNull(metadata)) {
    FindEpisodes();
    info_.format = "Minari";
    info_.environment = Quoted(Environment(), 200);
    observations_ = FindLeaves("observations", "observation_space");
    actions_ = FindLeaves("actions", "action_space");
    if (actions_.size() == 1 && actions_[0].discrete == 0) CountActions(actions_[0]);
    for (const Leaf& leaf : observations_) info_.obs_dim += leaf.width;
    for (const Leaf& leaf : actions_) info_.action_dim += leaf.width;
    if (actions_.size() == 1) info_.discrete_actions = actions_[0].discrete;
    if (info_.obs_dim <= 0 || info_.action_dim <= 0) {
      Throw<DataError>("{}: observations or actions of no numbers", store_->path());
    }
    NoteFlattening();
    ChooseAux();
  }

  const LogInfo& info() const override { return info_; }
  const LogCounts& counts() const override { return counts_; }

  EpisodeBatch Next(std::int64_t max_steps) override {
    LogBuilder builder(info_, aux_dim_, counts_);
    while (at_ < episodes_.size()) {
      const std::int64_t next = store_->Info(Name(episodes_[at_], "rewards")).rows();
      if (builder.steps() > 0 && next > max_steps - builder.steps()) break;
      builder.Append(ReadEpisode(episodes_[at_++]));
    }
    if (at_ == episodes_.size()) NoteUnrecordedEnds(info_, counts_);
    return builder.Finish();
  }

 private:
  static std::string Name(std::int64_t episode, const std::string& path) {
    return fmt::format("{}{}/{}", kGroup, episode, path);
  }

  void FindEpisodes() {
    for (const auto& [name, info] : store_->arrays()) {
      const std::string_view group = std::string_view(name).substr(0, name.find('/'));
      const auto number = NumberAfter(kGroup, group);
      if (number && (episodes_.empty() || episodes_.back() != *number)) {
        episodes_.push_back(*number);
      }
    }
    std::sort(episodes_.begin(), episodes_.end());
    episodes_.erase(std::unique(episodes_.begin(), episodes_.end()), episodes_.end());
  }

  // metadata.json, or the attributes of the file's root in older versions.
  std::string Metadata(const std::string& key) const {
    if (metadata_.is_object() && metadata_.contains(key) && metadata_[key].is_string()) {
      return metadata_[key].get<std::string>();
    }
    const auto found = store_->attributes().find(key);
    return found == store_->attributes().end() ? "" : found->second;
  }

  std::string Environment() const {
    const json spec = ParseOrNull(Metadata("env_spec"));
    if (spec.is_object() && spec.contains("id") && spec["id"].is_string()) {
      return spec["id"].get<std::string>() + EnvironmentOptions(spec);
    }
    const std::string name = Metadata("environment");
    return name.empty() ? Metadata("dataset_id") : name;
  }

  // The arrays below episode_N/`root`, N the first episode, in their order when flattened.
  std::vector<Leaf> FindLeaves(const std::string& root, const std::string& space_key) const {
    const std::string group = Name(episodes_.front(), "");
    std::vector<std::string> paths;
    for (auto at = store_->arrays().lower_bound(group);
         at != store_->arrays().end() && at->first.starts_with(group); ++at) {
      const std::string path = at->first.substr(group.size());
      if (path == root || path.starts_with(root + "/")) paths.push_back(path);
    }
    if (paths.empty()) {
      Throw<DataError>("{}: episode_{} has no {}", store_->path(), episodes_.front(), root);
    }
    std::sort(paths.begin(), paths.end(), PathComesBefore);
    const json space = ParseOrNull(Metadata(space_key));
    std::vector<Leaf> leaves;
    for (const std::string& path : paths) {
      Leaf leaf{.path = path};
      ApplySpace(space, leaf);
      leaf.width = leaf.discrete > 0 ? leaf.discrete : store_->Info(group + path).row_items();
      leaves.push_back(leaf);
    }
    return leaves;
  }

  // Without a space, whole-number actions in one column are discrete ones.
  void CountActions(Leaf& leaf) {
    const ArrayInfo& first = store_->Info(Name(episodes_.front(), leaf.path));
    if (!IsIntegerType(first.type) || first.row_items() != 1) return;
    std::int64_t largest = 0;
    for (const std::int64_t episode : episodes_) {
      const std::string name = Name(episode, leaf.path);
      for (const std::int64_t action : ToIntegers(store_->ReadAll(name), Where(name))) {
        largest = std::max(largest, action);
      }
    }
    if (largest >= kMaxDiscreteActions) {
      Throw<DataError>("{}: action {}, expected 0 to {}", store_->path(), largest,
                       kMaxDiscreteActions - 1);
    }
    leaf.discrete = leaf.width = largest + 1;
    AddNote(info_, fmt::format("no action space is given: whole-number actions are taken as {} "
                               "discrete ones",
                               leaf.discrete));
  }

  void NoteFlattening() {
    if (observations_.size() < 2) return;
    std::string order;
    for (const Leaf& leaf : observations_) {
      order += fmt::format("{}{} ({})", order.empty() ? "" : ", ",
                           Quoted(leaf.path.substr(leaf.path.find('/') + 1)), leaf.width);
    }
    AddNote(info_, "observations are flattened in the order " + order);
  }

  // aux as lfiw writes it, or x before and after each step; both from the infos.
  void ChooseAux() {
    const std::string aux = Name(episodes_.front(), kAux);
    if (store_->Has(aux)) {
      aux_dim_ = store_->Info(aux).row_items();
      return;
    }
    if (options_.position_step_seconds <= 0.0) return;
    for (const char* key : {"infos/x_position", "infos/qpos"}) {
      if (!store_->Has(Name(episodes_.front(), key))) continue;
      position_ = key;
      aux_dim_ = 1;
      AddNote(info_, "forward velocities come from " + position_);
      return;
    }
  }

  std::string Where(const std::string& name) const {
    return fmt::format("{}: array '{}'", store_->path(), name);
  }

  MatrixF ReadLeaves(std::int64_t episode, const std::vector<Leaf>& leaves) {
    MatrixF out;
    std::int64_t column = 0;
    for (const Leaf& leaf : leaves) {
      const std::string name = Name(episode, leaf.path);
      const ArrayInfo& info = store_->Info(name);
      CheckEpisodeSize(info.rows(), std::max(info_.obs_dim, info.row_items()), Where(name));
      const MatrixF part = ReadLeaf(name, leaf);
      if (column == 0) out.resize(part.rows(), TotalWidth(leaves));
      if (part.rows() != out.rows() || part.cols() != leaf.width) {
        Throw<DataError>("{} has {} rows of {} numbers, expected {} of {}", Where(name),
                         part.rows(), part.cols(), out.rows(), leaf.width);
      }
      out.middleCols(column, leaf.width) = part;
      column += leaf.width;
    }
    return out;
  }

  static std::int64_t TotalWidth(const std::vector<Leaf>& leaves) {
    std::int64_t width = 0;
    for (const Leaf& leaf : leaves) width += leaf.width;
    return width;
  }

  MatrixF ReadLeaf(const std::string& name, const Leaf& leaf) {
    const NpzArray array = store_->ReadAll(name);
    if (leaf.discrete == 0) return ToMatrix(array, Where(name));
    std::vector<std::int64_t> index = ToIntegers(array, Where(name));
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t last = leaf.start + leaf.discrete - 1;
      if (index[i] < leaf.start || index[i] > last) {
        Throw<DataError>("{}: {} in row {}, expected {} to {}", Where(name), index[i], i,
                         leaf.start, last);
      }
      index[i] -= leaf.start;
    }
    return OneHot(index, leaf.discrete, Where(name));
  }

  // The last step's flag; an episode that goes on after a flag is an error.
  bool EndFlag(std::int64_t episode, const std::string& key, std::int64_t steps) {
    const std::string name = Name(episode, key);
    const std::vector<double> flags = ToDoubles(store_->ReadAll(name), Where(name));
    if (static_cast<std::int64_t>(flags.size()) != steps) {
      Throw<DataError>("{} has {} values, rewards have {}", Where(name), flags.size(), steps);
    }
    for (std::size_t t = 0; t + 1 < flags.size(); ++t) {
      if (flags[t] == 0.0) continue;
      Throw<DataError>("{} is set at step {} of {}; an episode ends where a flag is set",
                       Where(name), t, steps);
    }
    return !flags.empty() && flags.back() != 0.0;
  }

  RawEpisode ReadEpisode(std::int64_t e) {
    RawEpisode raw{.name = fmt::format("{}: episode {}", store_->path(), e)};
    const std::string rewards = Name(e, "rewards");
    const std::vector<std::int64_t>& shape = store_->Info(rewards).shape;
    if (shape.size() > 1 && store_->Info(rewards).row_items() != 1) {
      Throw<DataError>(
          "{} has shape [{}], expected one number a step; of several environments side by side "
          "write one episode each",
          Where(rewards), fmt::join(shape, ", "));
    }
    CheckEpisodeSize(store_->Info(rewards).rows(), info_.obs_dim + info_.action_dim, raw.name);
    raw.rewards = ToDoubles(store_->ReadAll(rewards), Where(rewards));
    raw.observations = ReadLeaves(e, observations_);
    raw.actions = ReadLeaves(e, actions_);
    const auto steps = static_cast<std::int64_t>(raw.rewards.size());
    raw.terminated = EndFlag(e, "terminations", steps);
    if (EndFlag(e, "truncations", steps) && raw.terminated) ++counts_.both_flags;
    if (!position_.empty()) {
      raw.aux = Velocities(Name(e, position_));
    } else if (aux_dim_ > 0) {
      raw.aux = ReadAux(Name(e, kAux), steps);
    }
    ReadDensity(e, steps, raw);
    return raw;
  }

  MatrixF Velocities(const std::string& name) {
    const MatrixF positions = ToMatrix(store_->ReadAll(name), Where(name));
    if (positions.rows() < 2 || positions.cols() < 1) return MatrixF(0, 1);
    const Eigen::Index steps = positions.rows() - 1;
    const MatrixF change = positions.col(0).tail(steps) - positions.col(0).head(steps);
    return change / static_cast<float>(options_.position_step_seconds);
  }

  MatrixF ReadAux(const std::string& name, std::int64_t steps) {
    const MatrixF aux = ToMatrix(store_->ReadAll(name), Where(name));
    if (aux.rows() != steps + 1 || aux.cols() != aux_dim_) {
      Throw<DataError>("{} has {} rows of {} numbers, expected {} of {}", Where(name), aux.rows(),
                       aux.cols(), steps + 1, aux_dim_);
    }
    return aux.bottomRows(steps);
  }

  // Infos have one entry more than steps, the first from the reset.
  void ReadDensity(std::int64_t e, std::int64_t steps, RawEpisode& raw) {
    const std::string name = Name(e, "infos/behavior_log_density");
    if (!store_->Has(name)) return;
    std::vector<double> density = ToDoubles(store_->ReadAll(name), Where(name));
    if (static_cast<std::int64_t>(density.size()) == steps + 1) density.erase(density.begin());
    raw.behavior_log_density = std::move(density);
  }

  std::unique_ptr<ArrayStore> store_;
  LogReadOptions options_;
  json metadata_;
  LogInfo info_;
  LogCounts counts_;
  std::vector<std::int64_t> episodes_;
  std::vector<Leaf> observations_, actions_;
  std::string position_;
  std::int64_t aux_dim_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

std::string FindMinariData(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path, error)) return path;
  std::string root = path;
  if (!fs::is_directory(path, error)) {
    const char* variable = std::getenv("MINARI_DATASETS_PATH");
    const char* home = std::getenv("HOME");
    if (variable == nullptr && home == nullptr) return "";
    root = (variable != nullptr ? std::string(variable) : std::string(home) + "/.minari/datasets") +
           "/" + path;
  }
  for (const char* name : {"/data/main_data.hdf5", "/main_data.hdf5"}) {
    if (fs::is_regular_file(root + name, error)) return root + name;
  }
  return "";
}

bool IsMinari(const ArrayStore& store) {
  const auto at = store.arrays().lower_bound(std::string(kGroup));
  if (at == store.arrays().end()) return false;
  const std::string_view group = std::string_view(at->first).substr(0, at->first.find('/'));
  return group.size() < at->first.size() && NumberAfter(kGroup, group).has_value();
}

std::unique_ptr<LogReader> OpenMinariLog(std::unique_ptr<ArrayStore> store,
                                         const std::string& metadata,
                                         const LogReadOptions& options) {
  return std::make_unique<MinariReader>(std::move(store), metadata, options);
}

}  // namespace lfiw::core
