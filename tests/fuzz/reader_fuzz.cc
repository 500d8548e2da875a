// Mutates small valid logs of every format and reads them: the only outcomes allowed are a log and
// an Error of one line. A crash leaves the file that caused it as DIR/case.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/arrays/hdf5_writer.h"
#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/logs/create_log.h"
#include "core/logs/open_log.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"

namespace lfiw::core {
namespace {

struct Options {
  std::int64_t count = 1000;
  std::uint64_t seed = 0;
  std::string dir;
};

struct Outcomes {
  std::int64_t accepted = 0;
  std::int64_t refused = 0;
  std::int64_t faults = 0;
};

EpisodeBatch SmallLog(std::int64_t discrete_actions) {
  EpisodeBatch log;
  log.offsets = {0, 3, 4, 8};
  log.terminated = {1, 0, 0};
  log.observations.resize(11, 2);
  for (Eigen::Index i = 0; i < 22; ++i) log.observations.data()[i] = 0.25f * static_cast<float>(i);
  log.actions.setZero(8, discrete_actions > 0 ? discrete_actions : 1);
  for (Eigen::Index i = 0; i < 8; ++i) {
    if (discrete_actions > 0) {
      log.actions(i, i % discrete_actions) = 1.0f;
    } else {
      log.actions(i, 0) = 0.1f * static_cast<float>(i);
    }
    log.rewards.push_back(static_cast<double>(i));
    log.behavior_log_density.push_back(-0.5);
  }
  log.aux.setOnes(8, 1);
  return log;
}

std::string Written(const std::string& path, LogFormat format, std::int64_t discrete_actions) {
  const auto writer =
      CreateLog(path, format, {.environment = "Swimmer", .discrete_actions = discrete_actions});
  writer->Append(SmallLog(discrete_actions));
  writer->Finish();
  const std::string file = format == LogFormat::kMinari ? path + "/data/main_data.hdf5" : path;
  std::string bytes = ReadFile(file);
  std::filesystem::remove_all(path);
  return bytes;
}

std::string ImitationNpz(const std::string& path) {
  const EpisodeBatch log = SmallLog(0);
  NpzFile file;
  file.Put("obs", log.observations);
  file.Put("acts", std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0, 1});
  file.Put("rews", log.rewards);
  file.Put("indices", std::vector<std::int64_t>{3, 4});
  file.Put("terminal", log.terminated);
  file.Write(path);
  return ReadFile(path);
}

std::string PaddedHdf5(const std::string& path) {
  {
    Hdf5Writer writer(path, Hdf5Compression::kGzip);
    const std::vector<std::byte> zeros(4 * 2 * 3 * 2);
    writer.Append("obs_B_T_Do", {"f4", {2, 3, 2}, zeros});
    writer.Append("a_B_T_Da", {"f4", {2, 3, 2}, zeros});
    writer.Append("r_B_T", {"f4", {2, 3}, {zeros.begin(), zeros.begin() + 24}});
    writer.Append("len_B", {"i4", {2}, {zeros.begin(), zeros.begin() + 8}});
    writer.Close();
  }
  return ReadFile(path);
}

std::string JsonLines() {
  std::string text;
  for (int t = 0; t < 6; ++t) {
    text += fmt::format(
        R"({{"episode": {}, "t": {}, "observation": [{}, 1.5], "action": {}, "reward": 0.5, )"
        R"("terminated": {}, "next_observation": [{}, 2], "behavior_probability": 0.5}})"
        "\n",
        t / 3, t % 3, t, t % 2, t == 2 ? "true" : "false", t + 1);
  }
  return text;
}

std::string CoachCsv() {
  return "action,all_action_probabilities,episode_id,episode_name,reward,transition_number,"
         "state_feature_0,state_feature_1\n"
         "0,\"[0.4,0.6]\",0,a,-1.0,0,0.5,1\n1,\"[0.4,0.6]\",0,a,-1.0,1,0.25,2\n,,0,a,,2,0.5,3\n"
         "0,\"[0.4,0.6]\",1,a,-1.0,0,0.5,1\n,,1,a,,1,0.5,3\n";
}

// Valid files by name.
std::map<std::string, std::string> MakeCorpus(const std::string& dir) {
  const std::string path = dir + "/seed";
  std::map<std::string, std::string> corpus;
  for (const std::int64_t discrete : {0, 3}) {
    const std::string suffix = discrete > 0 ? "_discrete" : "";
    corpus["npz" + suffix] = Written(path, LogFormat::kNpz, discrete);
    corpus["d4rl" + suffix] = Written(path, LogFormat::kD4rl, discrete);
    corpus["minari" + suffix] = Written(path, LogFormat::kMinari, discrete);
    corpus["csv" + suffix] = Written(path, LogFormat::kCsv, discrete);
  }
  corpus["imitation"] = ImitationNpz(path);
  corpus["padded"] = PaddedHdf5(path);
  corpus["json"] = JsonLines();
  corpus["coach"] = CoachCsv();
  std::filesystem::remove(path);
  return corpus;
}

// One change somewhere: a bit, a byte, a number of 1 to 8 bytes that is an extreme one, a piece
// removed, repeated or moved, or the end cut off.
void Mutate(Stream& stream, std::string& bytes) {
  if (bytes.empty()) return;
  const std::size_t at = stream.Below(bytes.size());
  const std::size_t length = std::min<std::size_t>(1 + stream.Below(16), bytes.size() - at);
  switch (stream.Below(7)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << stream.Below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(stream.Below(256));
      break;
    case 2: {
      const char fill = stream.Below(2) == 0 ? '\xff' : '\0';
      for (std::size_t i = at; i < at + std::min<std::size_t>(length, 8); ++i) bytes[i] = fill;
      break;
    }
    case 3:
      bytes.erase(at, length);
      break;
    case 4:
      bytes.insert(stream.Below(bytes.size()), bytes.substr(at, length));
      break;
    case 5: {
      // a digit for a digit keeps text well formed
      const std::size_t digit = bytes.find_first_of("0123456789", at);
      if (digit != std::string::npos) bytes[digit] = static_cast<char>('0' + stream.Below(10));
      break;
    }
    default:
      if (stream.Below(4) == 0) bytes.resize(at);
      break;
  }
}

void ReadAll(const std::string& path, Outcomes& outcomes) {
  try {
    const auto reader = OpenLog(path);
    while (reader->Next(4).episodes() > 0) continue;
    ++outcomes.accepted;
  } catch (const Error& error) {
    ++outcomes.refused;
    if (std::string(error.what()).find('\n') == std::string::npos) return;
    fmt::print(stderr, "more than one line: {}\n", error.what());
    ++outcomes.faults;
  } catch (const std::exception& error) {
    fmt::print(stderr, "another exception: {}\n", error.what());
    ++outcomes.faults;
  }
}

int Run(const Options& options) {
  CreateDirectories(options.dir);
  const std::map<std::string, std::string> corpus = MakeCorpus(options.dir);
  const std::string path = options.dir + "/case";
  std::map<std::string, Outcomes> outcomes;
  std::int64_t faults = 0;
  for (const auto& [name, bytes] : corpus) {
    Outcomes unchanged;
    WriteFileAtomically(path, bytes);
    ReadAll(path, unchanged);
    if (unchanged.accepted == 1) continue;
    fmt::print(stderr, "the unchanged {} is refused\n", name);
    ++faults;
  }
  for (std::int64_t i = 0; i < options.count; ++i) {
    Stream stream(options.seed, "reader fuzz", {static_cast<std::uint64_t>(i)});
    auto chosen = corpus.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(stream.Below(corpus.size())));
    std::string bytes = chosen->second;
    for (std::uint64_t k = stream.Below(6) + 1; k > 0; --k) Mutate(stream, bytes);
    // a crash must find the file on disk, not its directory flushed
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    Outcomes& of_format = outcomes[chosen->first];
    const std::int64_t before = of_format.faults;
    ReadAll(path, of_format);
    if (of_format.faults == before) continue;
    std::filesystem::copy_file(path, fmt::format("{}/fault_{}_{}", options.dir, options.seed, i),
                               std::filesystem::copy_options::overwrite_existing);
  }
  for (const auto& [name, found] : outcomes) {
    fmt::print("{:<16} {:>7} accepted {:>7} refused {:>4} faults\n", name, found.accepted,
               found.refused, found.faults);
    faults += found.faults;
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lfiw::core

int main(int argc, char** argv) {
  lfiw::core::Options options;
  CLI::App app{"Reads broken logs of every format."};
  app.add_option("--count", options.count, "number of broken files");
  app.add_option("--seed", options.seed, "root seed");
  app.add_option("--dir", options.dir, "directory for the files")->required();
  CLI11_PARSE(app, argc, argv);
  return lfiw::core::Run(options);
}
