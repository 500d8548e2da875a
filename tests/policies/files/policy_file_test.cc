#include "policies/files/policy_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "policies/gaussian_mlp_policy.h"
#include "tests/core/test_dir.h"
#include "tests/policies/programs/python_program.h"
#include "tests/policies/torch_module.h"
#include "tests/shared_data.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::string_literals;

// An archive with entries of one byte.
void WriteZip(const std::string& path, const std::vector<std::string>& names) {
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const std::string& name : names) {
    zip_source_t* source = zip_source_buffer(zip, "x", 1, 0);
    ASSERT_GE(zip_file_add(zip, name.c_str(), source, 0), 0);
  }
  ASSERT_EQ(zip_close(zip), 0);
}

// One line that names the file.
std::string ErrorOf(const std::string& path, const PolicyLoadOptions& options = {}) {
  try {
    LoadPolicy(path, options);
  } catch (const PolicyError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(path), Not(HasSubstr("\n"))));
    return error.what();
  }
  return "no error";
}

NpzFile Checkpoint() {
  TanhMlp mlp({3, 8, 2});
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  mlp.Initialize(Stream(6, "policy"), 1.4, 0.7, parameters.data());
  NpzFile file;
  GaussianMlpPolicy(std::move(mlp), std::move(parameters), VectorF{{-0.5f, 0.3f}},
                    ObservationNormalizer(3), "made by hand")
      .Put("", file);
  return file;
}

NpzFile Sb3Arrays() {
  NpzFile file;
  file.Put("action_net.weight", MatrixF{{3.0f, 1.0f}});
  file.Put("action_net.bias", VectorF(VectorF::Zero(1)));
  file.Put("log_std", VectorF(VectorF::Zero(1)));
  return file;
}

class PolicyFileTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& bytes) {
    WriteFileAtomically(dir_ / name, bytes);
    return dir_ / name;
  }
  std::string Write(const std::string& name, const NpzFile& file) {
    file.Write(dir_ / name);
    return dir_ / name;
  }
  std::string WriteModule(const std::string& name, const std::string& contract) {
    SaveModule(dir_ / name, kLinearBody, 2, 1);
    if (!contract.empty()) Write(name.substr(0, name.rfind('.')) + ".yaml", contract);
    return dir_ / name;
  }

  TestDir dir_;
};

TEST_F(PolicyFileTest, ContentDecidesWhateverTheName) {
  EXPECT_THAT(LoadPolicy(Write("a.bin", Checkpoint()))->Description(),
              HasSubstr("Gaussian tanh MLP 3-8-2"));
  EXPECT_THAT(LoadPolicy(Write("b", Sb3Arrays()))->Description(), HasSubstr("Stable-Baselines3"));
}

TEST_F(PolicyFileTest, ATorchScriptModuleIsLoadedWithTheContractBesideIt) {
  const std::string yaml =
      "{obs_dim: 2, action_dim: 1, output: mean, log_std: [-1], squash: tanh, action_low: [-2], "
      "action_high: [2]}";
  const auto policy = LoadPolicy(WriteModule("a.pt", yaml));
  EXPECT_EQ(policy->obs_dim(), 2);
  EXPECT_TRUE(policy->has_density());
  MatrixF action(1, 1);
  policy->Mean(MatrixF{{3.0f, 1.0f}}, std::vector<std::int64_t>{0}, action);
  EXPECT_NEAR(action(0, 0), 2.0 * std::tanh(0.5), 1e-6);
}

TEST_F(PolicyFileTest, AContractMayBeNamedAndMayAskForTheMean) {
  const std::string contract =
      Write("c.yml", "{obs_dim: 2, action_dim: 1, output: mean, log_std: [-1], stochastic: false}");
  const auto policy = LoadPolicy(WriteModule("a.pt", ""), {.contract = contract});
  EXPECT_EQ(policy->noise_dim(), 0);
  EXPECT_FALSE(policy->has_density());
}

TEST_F(PolicyFileTest, AContractOfAFileThatSaysAllItselfHoldsTwoThings) {
  const std::string path = Write("a.npz", Sb3Arrays());
  Write("a.yaml", "{time_feature_steps: 100, stochastic: false}"s);
  const auto policy = LoadPolicy(path);
  EXPECT_EQ(policy->obs_dim(), 1);
  EXPECT_EQ(policy->noise_dim(), 0);
  Write("a.yaml", "{squash: tanh}"s);
  EXPECT_THAT(ErrorOf(path), HasSubstr("may hold stochastic and time_feature_steps only"));
}

TEST_F(PolicyFileTest, TheHashFollowsTheFileAndWhatIsReadBesideIt) {
  const std::string path = Write("a.npz", Sb3Arrays());
  const std::string alone = PolicyHash(path);
  EXPECT_EQ(alone, PolicyHash(path));
  Write("a.yaml", "{stochastic: false}"s);
  const std::string mean = PolicyHash(path);
  EXPECT_NE(mean, alone);
  std::filesystem::remove(dir_ / "a.yaml");
  Write("config.yml", "- - - env_wrapper\n    - TimeFeatureWrapper\n"s);
  EXPECT_NE(PolicyHash(path), alone);
  EXPECT_NE(PolicyHash(path), mean);
}

TEST_F(PolicyFileTest, AProgramStandsWhereAFileDoes) {
  if (!HasPython()) GTEST_SKIP() << "there is no python3 to run the policy's program";
  const std::string path = fmt::format("exec:{}", WritePythonProgram(dir_ / "policy.py"));
  const auto policy = LoadPolicy(path);
  EXPECT_EQ(policy->obs_dim(), 3);
  EXPECT_EQ(policy->noise_dim(), 2);
  EXPECT_EQ(PolicyLabel(path), "policy");
  EXPECT_EQ(PolicyHash(path), PolicyHash(path));
}

TEST_F(PolicyFileTest, AContractOfAProgramMayAskForTheMean) {
  if (!HasPython()) GTEST_SKIP() << "there is no python3 to run the policy's program";
  const std::string path = fmt::format("exec:{}", WritePythonProgram(dir_ / "policy.py"));
  const std::string mean = Write("mean.yaml", "stochastic: false\n");
  EXPECT_EQ(LoadPolicy(path, {.contract = mean})->noise_dim(), 0);
  EXPECT_NE(PolicyHash(path, {.contract = mean}), PolicyHash(path));
  const std::string feature = Write("feature.yaml", "time_feature_steps: 1000\n");
  EXPECT_THAT([&] { LoadPolicy(path, {.contract = feature}); },
              testing::ThrowsMessage<PolicyError>(
                  AllOf(HasSubstr("feature.yaml"), HasSubstr("told the step"))));
}

TEST_F(PolicyFileTest, TheLabelOfAFileIsItsNameWithoutItsEnding) {
  EXPECT_EQ(PolicyLabel("runs/a/new.npz"), "new");
}

TEST_F(PolicyFileTest, AModuleWithoutAContractSaysWhichToWrite) {
  const std::string path = WriteModule("a.pt", "");
  EXPECT_THAT(ErrorOf(path), AllOf(HasSubstr(dir_ / "a.yaml"), HasSubstr("{obs_dim: ")));
}

TEST_F(PolicyFileTest, AModuleOfOtherSizesThanItsContractNamesBoth) {
  const std::string path = WriteModule("a.pt", "{obs_dim: 17, action_dim: 1, output: action}");
  EXPECT_THAT(ErrorOf(path), AllOf(HasSubstr("[1, 17]"), HasSubstr("x1)")));
}

TEST_F(PolicyFileTest, OtherFormatsOfPyTorchSayHowToExport) {
  WriteZip(dir_ / "a.pth", {"archive/data.pkl", "archive/data/0", "archive/version"});
  EXPECT_THAT(ErrorOf(dir_ / "a.pth"), AllOf(HasSubstr("state dict"), HasSubstr("export_policy")));
  WriteZip(dir_ / "a.zip", {"data", "policy.pth", "_stable_baselines3_version"});
  EXPECT_THAT(ErrorOf(dir_ / "a.zip"),
              AllOf(HasSubstr("Stable-Baselines3"), HasSubstr("export_policy")));
  EXPECT_THAT(
      ErrorOf(Write("old.pth", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s)),
      AllOf(HasSubstr("old format"), HasSubstr("export_policy")));
}

TEST_F(PolicyFileTest, APickleOfOtherThingsIsRefusedWithoutRunningIt) {
  const std::string made = dir_ / "made";
  const std::string command = "touch " + made;
  const std::string bytes = "\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c"s +
                            static_cast<char>(command.size()) + command + "\x85R.";
  EXPECT_THAT(ErrorOf(Write("a.pkl", bytes)), HasSubstr("posix.system"));
  EXPECT_FALSE(std::filesystem::exists(made));
}

TEST_F(PolicyFileTest, FilesThatAreNoPolicyAreNamedForWhatTheyAre) {
  EXPECT_THAT(ErrorOf(dir_ / "none.npz"), HasSubstr("no such file"));
  EXPECT_THAT(ErrorOf(dir_.path()), HasSubstr("a directory"));
  EXPECT_THAT(ErrorOf(Write("a.onnx", "\x08\x04\x12\x07pytorch"s)), HasSubstr("ONNX"));
  EXPECT_THAT(ErrorOf(Write("renamed", "\x08\x04\x12\x07pytorch"s)), HasSubstr("ONNX"));
  EXPECT_THAT(ErrorOf(Write("a.h5", "\x89HDF\r\n\x1a\n"s)), HasSubstr("HDF5"));
  EXPECT_THAT(ErrorOf(Write("b.yaml", "{obs_dim: 3}"s)), HasSubstr("as its contract"));
  EXPECT_THAT(ErrorOf(Write("empty", ""s)), HasSubstr("empty"));
  EXPECT_THAT(ErrorOf(Write("a.txt", "hello"s)), HasSubstr("unknown format"));
  NpzFile log;
  log.Put("observations", MatrixF(2, 2));
  EXPECT_THAT(ErrorOf(Write("log.npz", log)), HasSubstr("it is a log"));
  NpzFile other;
  other.Put("theta", MatrixF(2, 2));
  EXPECT_THAT(ErrorOf(Write("other.npz", other)), HasSubstr("(theta, ...)"));
  WriteZip(dir_ / "docs.zip", {"readme.txt"});
  EXPECT_THAT(ErrorOf(dir_ / "docs.zip"), HasSubstr("readme.txt"));
}

TEST_F(PolicyFileTest, EveryTruncationIsAPolicyError) {
  for (const std::string& whole :
       {Write("a.npz", Checkpoint()), WriteModule("a.pt",
                                                  "{obs_dim: 2, action_dim: 1, output: "
                                                  "action}")}) {
    const std::string bytes = ReadFile(whole);
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 50) {
      EXPECT_THROW(LoadPolicy(Write("cut", bytes.substr(0, size))), PolicyError) << size;
    }
  }
}

TEST_F(PolicyFileTest, PickleAndArraysOfADopePolicyActTheSameToTheBit) {
  const std::string pickle = SharedData("rl/dope/hopper_online_1.pkl");
  if (pickle.empty()) GTEST_SKIP() << "shared data is not at hand";
  const auto a = LoadPolicy(pickle), b = LoadPolicy(SharedData("rl/dope/hopper_online_1.npz"));
  const MatrixF observations = MatrixF::Random(100, 11), noise = MatrixF::Random(100, 3);
  const std::vector<std::int64_t> steps(100);
  MatrixF actions_a(100, 3), actions_b(100, 3);
  a->Sample(observations, steps, noise, actions_a);
  b->Sample(observations, steps, noise, actions_b);
  EXPECT_EQ(actions_a, actions_b);
}

TEST_F(PolicyFileTest, RealFilesOfOtherFormatsAreRefusedByName) {
  const std::string onnx = SharedData("rl/dope/halfcheetah_online_0.sampler.onnx");
  if (onnx.empty()) GTEST_SKIP() << "shared data is not at hand";
  EXPECT_THAT(ErrorOf(onnx), AllOf(HasSubstr("ONNX"), HasSubstr("serve_policy.py")));
  EXPECT_THAT(ErrorOf(SharedData("rl/sb3/ppo_Hopper-v3/vecnormalize.pkl")),
              HasSubstr("stable_baselines3.common.vec_env.vec_normalize.VecNormalize"));
  EXPECT_THAT(ErrorOf(SharedData("models/resnet20-12fca82f.th")), HasSubstr("old format"));
}

}  // namespace
}  // namespace lfiw::policies
