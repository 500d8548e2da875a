// The program `lfiw`: its command line. What each verb does is in commands.h.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/cli/cache_command.h"
#include "experiments/cli/command_line.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/evaluate.h"
#include "experiments/cli/interrupts.h"
#include "experiments/cli/list_command.h"
#include "experiments/cli/log_commands.h"
#include "experiments/cli/manual_command.h"
#include "experiments/cli/openblas_kernel.h"
#include "experiments/cli/slurm_status.h"
#include "experiments/cli/usage.h"

namespace lfiw::experiments {
namespace {

struct CacheArguments {
  std::string folder = "outputs/cache";
  std::string older_than;
  bool dry_run = false;
};

// The options of every verb.
struct CommandLine : ChosenVerb {
  RunOptions run;
  EvaluateCommand evaluate;
  TruthCommand truth;
  TrainCommand train;
  CollectCommand collect;
  CheckPolicyCommand check_policy;
  InspectCommand inspect;
  ConvertCommand convert;
  CacheArguments cache;
  ReportCommand report;
  std::string status;  // folder of a launch
  std::string doctor_cache;
};

// An interrupt's is InterruptedStatus.
enum ExitStatus { kDone = 0, kNoNumber = 1, kWrongInput = 2, kFault = 3 };

void AddPolicy(CLI::App& verb, const std::string& name, std::string& policy,
               std::string& contract) {
  verb.add_option(name, policy,
                  "policy file: .npz, Stable-Baselines3's .zip, DOPE's .pkl, or TorchScript (which "
                  "runs the file's code); or "
                  "exec:COMMAND, a program that answers observations with actions")
      ->required()
      ->type_name("FILE");
  verb.add_option("--contract", contract,
                  "YAML that says what the policy file does not (default: POLICY with .yaml)")
      ->type_name("FILE");
}

// Adds what runs a command on a cluster in place of here, and what lists its stages.
void AddSharedWork(CLI::App& verb, SlurmOptions& slurm, bool& stages, bool& work_only) {
  verb.add_flag("--stages", stages,
                "list the stages with what there is of them: done, running where, to do");
  verb.add_flag("--work-only", work_only,
                "only make stages, beside other processes; another one writes the results");
  verb.add_option_function<std::string>(
          "--launcher",
          [&slurm](const std::string& name) {
            slurm.launcher = name == "slurm" ? Launcher::kSlurm : Launcher::kHere;
          },
          "slurm: submit a job array of what is missing and a job that collects it; the options "
          "below are for it, and --dry-run prints its script")
      ->check(CLI::IsMember({"here", "slurm"}).description(""))
      ->type_name("here|slurm");
  verb.add_option("--partition", slurm.partition, "partition of the jobs")->type_name("NAME");
  verb.add_option("--account", slurm.account, "account of the jobs")->type_name("NAME");
  verb.add_option("--time", slurm.time, "time limit of a task, such as 4:00:00")->type_name("TIME");
  verb.add_option("--cpus-per-task", slurm.cpus_per_task, "CPUs of a task, which are its threads")
      ->check(AtLeastOne());
  verb.add_option("--memory", slurm.memory, "memory of a task, such as 4G")->type_name("SIZE");
  verb.add_option("--array-parallelism", slurm.array_parallelism,
                  "most tasks at the same time (0: no limit)")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--workers", slurm.workers, "tasks that share a command that is no sweep")
      ->check(AtLeastOne());
  verb.add_option("--sbatch", slurm.sbatch,
                  "further option of sbatch, such as --sbatch=--constraint=avx512; may be repeated")
      ->allow_extra_args(false)
      ->type_name("OPTION");
  verb.add_option("--prelude", slurm.prelude,
                  "line of shell before the program, such as 'module load gcc'; may be repeated")
      ->allow_extra_args(false)
      ->type_name("LINE");
  verb.add_option("--within", slurm.within,
                  "command that runs lfiw in a container, such as 'apptainer exec lfiw.sif'")
      ->type_name("COMMAND");
}

// What verbs that run an experiment file have in common.
void AddRunOptions(CLI::App& verb, CommandLine& line) {
  RunOptions& options = line.run;
  verb.add_option("config", options.config, "experiment file (YAML)")
      ->required()
      ->type_name("FILE");
  verb.add_option("overrides", options.overrides, "key.path=value, after the file")
      ->type_name("KEY=VALUE");
  verb.add_flag("-m,--multirun", options.multirun,
                "run the product of comma lists and range(a,b) in the overrides");
  verb.add_option("--out", options.out, "run directory (default: outputs/NAME/HASH)")
      ->type_name("DIR");
  verb.add_option("--cache", options.cache, "stage cache shared by runs (default: outputs/cache)")
      ->type_name("DIR");
  verb.add_flag("--dry-run", options.dry_run, "print the resolved configuration and stop");
  AddSharedWork(verb, options.launcher, options.stages, options.work_only);
  AddCommon(verb, line.common);
  verb.callback([&line] { line.action = [&line] { return Run(line.run, line.common); }; });
}

void AddRun(CLI::App& app, CommandLine& line) {
  CLI::App* verb = app.add_subcommand("run", "Run an experiment file");
  verb->footer(
      "Examples:\n"
      "  lfiw run experiments/configs/quickstart.yaml\n"
      "  lfiw run experiments/configs/mbope_half_cheetah.yaml seed=1 dynamics.members=7\n"
      "  lfiw run FILE -m 'seed=range(0,5)' policies.pair=snapshots,independent\n"
      "  lfiw run FILE --dry-run        print the resolved configuration\n"
      "  lfiw run FILE --stages         say which stages are done, running and to do\n"
      "  lfiw run FILE -m 'seed=range(0,100)' --out sweep --launcher slurm --time 4:00:00");
  AddRunOptions(*verb, line);
}

void AddBench(CLI::App& app, CommandLine& line) {
  CLI::App* verb =
      app.add_subcommand("bench", "Run estimators on logs of systems whose values are known");
  verb->footer(
      "Examples:\n"
      "  lfiw bench experiments/configs/bench_tabular.yaml\n"
      "  lfiw bench experiments/configs/bench_linear_gaussian.yaml estimators=[wis,dr_lfiw]");
  AddRunOptions(*verb, line);
  verb->callback([&line] {
    line.run.kind = ExperimentKind::kBench;
    line.action = [&line] { return Run(line.run, line.common); };
  });
}

void AddTruth(CLI::App& app, CommandLine& line) {
  TruthCommand& options = line.truth;
  CLI::App* verb =
      app.add_subcommand("truth", "Evaluate a policy in the real environment (Monte Carlo)");
  verb->footer(
      "Example:\n"
      "  lfiw truth --env HalfCheetah --policy policy.npz --horizon 1000 --episodes 20");
  verb->add_option("--env", options.env, "environment name")->required()->type_name("ENVIRONMENT");
  AddPolicy(*verb, "--policy", options.policy, options.contract);
  verb->add_flag("--mean", options.mean, "act by the policy's mean, without noise");
  verb->add_option("--horizon", options.horizon, "steps of an episode")->check(AtLeastOne());
  verb->add_option("--episodes", options.episodes, "episodes")->check(CLI::Range(2, 100000000));
  verb->add_option("--discount", options.discount, "discount per step")->check(CLI::Range(0., 1.));
  verb->add_option("--seed", options.seed, "root seed");
  AddCommon(*verb, line.common);
  verb->callback([&line] { line.action = [&line] { return Truth(line.truth, line.common); }; });
}

void AddTrain(CLI::App& app, CommandLine& line) {
  TrainCommand& options = line.train;
  CLI::App* verb = app.add_subcommand("train", "Train a policy with PPO");
  verb->footer(
      "Example:\n"
      "  lfiw train --env HalfCheetah --out cheetah total_steps=1000000 snapshots=[500000]\n"
      "writes cheetah/policy.npz, cheetah/policy_500000.npz and cheetah/curve.csv; the same\n"
      "command resumes an interrupted training.");
  verb->add_option("--env", options.env, "environment name")->required()->type_name("ENVIRONMENT");
  verb->add_option("--out", options.out, "directory for policy and learning curve")
      ->required()
      ->type_name("DIR");
  verb->add_option("--seed", options.seed, "root seed");
  verb->add_option("overrides", options.overrides, "field=value of the PPO options")
      ->type_name("KEY=VALUE");
  AddCommon(*verb, line.common);
  verb->callback([&line] { line.action = [&line] { return Train(line.train, line.common); }; });
}

void AddCollect(CLI::App& app, CommandLine& line) {
  CollectCommand& options = line.collect;
  CLI::App* verb = app.add_subcommand("collect", "Log episodes of a policy");
  verb->footer(
      "Example:\n"
      "  lfiw collect --env HalfCheetah --policy policy.npz --episodes 1000 --horizon 100 "
      "--out log.npz");
  verb->add_option("--env", options.env, "environment name")->required()->type_name("ENVIRONMENT");
  AddPolicy(*verb, "--policy", options.policy, options.contract);
  verb->add_option("--out", options.out, "log to write")->required()->type_name("FILE");
  verb->add_option("--format", options.format, "format (default: by the ending of the name)")
      ->type_name("npz|d4rl|minari|csv");
  verb->add_option("--horizon", options.horizon, "steps of an episode")->check(AtLeastOne());
  verb->add_option("--episodes", options.episodes, "episodes")->check(AtLeastOne());
  verb->add_option("--seed", options.seed, "root seed");
  AddCommon(*verb, line.common);
  verb->callback([&line] { line.action = [&line] { return Collect(line.collect, line.common); }; });
}

void AddCheckPolicy(CLI::App& app, CommandLine& line) {
  CheckPolicyCommand& options = line.check_policy;
  CLI::App* verb = app.add_subcommand(
      "check-policy", "Load a policy, print its contract and replay a log through it");
  verb->footer(
      "Examples:\n"
      "  lfiw check-policy agent.pt --contract agent.yaml --data log.npz\n"
      "  lfiw check-policy policy.npz --data log.npz --env HalfCheetah --json");
  AddPolicy(*verb, "policy", options.policy, options.contract);
  verb->add_option("--data", options.data, "log file (npz)")->required()->type_name("FILE");
  verb->add_option("--env", options.env,
                   "environment whose bounds the actions were clipped to (default: extremes that "
                   "the log reaches repeatedly)")
      ->type_name("ENVIRONMENT");
  AddCommon(*verb, line.common);
  verb->callback([&line] { line.action = [&line] { return CheckPolicy(line.check_policy); }; });
}

void AddEvaluate(CLI::App& app, CommandLine& line) {
  EvaluateCommand& options = line.evaluate;
  CLI::App* verb =
      app.add_subcommand("evaluate", "Evaluate policies from a log, without running them");
  verb->footer(
      "Examples:\n"
      "  lfiw evaluate --data log.hdf5 --policy new.npz --env HalfCheetah\n"
      "  lfiw evaluate --data log.npz --policy candidates/ --reward learned\n"
      "  lfiw evaluate --data log.npz --policy a.npz --policy b.npz dynamics.members=7\n"
      "  lfiw evaluate --data log.npz --policy 'exec:python3 my_policy.py'\n"
      "  lfiw evaluate --data log.npz --policy candidates/ --launcher slurm --workers 32\n"
      "  lfiw evaluate --data log.npz --policy new.npz --dry-run    print all fields and stop");
  verb->add_option("--data", options.data, "log file")->required()->type_name("FILE");
  verb->add_option("--policy", options.policies,
                   "policy file, folder, or exec:COMMAND; may be repeated")
      ->required()
      ->allow_extra_args(false)
      ->type_name("FILE");
  verb->add_option("--env", options.env, "environment name (default: as the log says, if it does)")
      ->type_name("ENVIRONMENT");
  verb->add_option(
          "--reward", options.reward,
          "environment, learned, or the file of a TorchScript module (states, actions, next "
          "states) -> rewards, which is code: name only a file that you trust")
      ->type_name("environment|learned|FILE");
  verb->add_option("--behavior", options.behavior,
                   "policy that wrote the log: a file or exec:COMMAND")
      ->type_name("FILE");
  verb->add_flag("--mean", options.mean,
                 "evaluate the policies without noise, by their mean action");
  verb->add_option("--map", options.map,
                   "which array is what in an unknown file: obs=KEY,action=KEY,reward=KEY,...")
      ->type_name("MAP");
  verb->add_option("--horizon", options.horizon,
                   "steps (default: what at least 5 % of the episodes take)")
      ->check(AtLeastOne());
  verb->add_option("overrides", options.overrides, "key.path=value, as for run")
      ->type_name("KEY=VALUE");
  verb->add_option("--out", options.out, "run directory (default: outputs/NAME/HASH)")
      ->type_name("DIR");
  verb->add_option("--cache", options.cache, "stage cache shared by runs (default: outputs/cache)")
      ->type_name("DIR");
  verb->add_flag("--dry-run", options.dry_run, "print the resolved configuration and stop");
  AddSharedWork(*verb, options.launcher, options.stages, options.work_only);
  AddCommon(*verb, line.common);
  verb->callback(
      [&line] { line.action = [&line] { return Evaluate(line.evaluate, line.common); }; });
}

void AddLogArguments(CLI::App& verb, LogArguments& log) {
  verb.add_option(
          "log", log.path,
          "HDF5 (D4RL, Minari, padded arrays), npz, CSV or JSON lines; a Minari directory or "
          "id")
      ->required()
      ->type_name("FILE");
  verb.add_option("--env", log.env, "environment the log is from")->type_name("ENVIRONMENT");
  verb.add_option("--map", log.map,
                  "which array is what in an unknown file: obs=KEY,action=KEY,reward=KEY and any "
                  "of next_obs, terminal, timeout, offsets, lengths, density, aux, position")
      ->type_name("MAP");
  verb.add_option("--max-episode-steps", log.max_episode_steps,
                  "where a flat file without time limits is cut (default 1000)")
      ->check(AtLeastOne());
}

void AddInspect(CLI::App& app, CommandLine& line) {
  InspectCommand& options = line.inspect;
  CLI::App* verb = app.add_subcommand("inspect", "Audit a log: sizes, returns, and what is wrong");
  verb->footer(
      "Examples:\n"
      "  lfiw inspect halfcheetah_medium.hdf5 --env HalfCheetah\n"
      "  lfiw inspect log.npz --json\n"
      "  lfiw inspect log.csv --out audit        writes audit/report.html");
  AddLogArguments(*verb, options.log);
  verb->add_option("--out", options.out, "directory for a page with plots")->type_name("DIR");
  AddCommon(*verb, line.common);
  verb->callback([&line] { line.action = [&line] { return Inspect(line.inspect); }; });
}

void AddConvert(CLI::App& app, CommandLine& line) {
  ConvertCommand& options = line.convert;
  CLI::App* verb = app.add_subcommand("convert", "Write a log in another format");
  verb->footer(
      "Examples:\n"
      "  lfiw convert halfcheetah_medium.hdf5 log.npz\n"
      "  lfiw convert log.npz cheetah/medium-v0 --to minari");
  AddLogArguments(*verb, options.log);
  verb->add_option("out", options.out, "log to write (for minari a new directory)")
      ->required()
      ->type_name("FILE");
  verb->add_option("--to", options.to, "format (default: by the ending of the name)")
      ->type_name("npz|d4rl|minari|csv");
  AddCommon(*verb, line.common);
  verb->callback([&line] { line.action = [&line] { return Convert(line.convert); }; });
}

// Adds one of the verbs below `lfiw cache`, all of which work on a cache.
CLI::App* AddCacheVerb(CLI::App& verb, const char* name, const char* summary, CommandLine& line) {
  CLI::App* one = verb.add_subcommand(name, summary);
  one->add_option("--cache", line.cache.folder, "stage cache (default: outputs/cache)")
      ->type_name("DIR");
  AddCommon(*one, line.common);
  return one;
}

void AddCache(CLI::App& app, CommandLine& line) {
  CacheArguments& cache = line.cache;
  CLI::App* verb = app.add_subcommand("cache", "Show, check and prune the stages that runs keep");
  verb->footer(
      "Examples:\n"
      "  lfiw cache list\n"
      "  lfiw cache size --cache /scratch/lfiw\n"
      "  lfiw cache verify\n"
      "  lfiw cache prune --older-than 30d");
  verb->require_subcommand(1);
  AddCacheVerb(*verb, "list", "Print every entry, and whether this program would still use it",
               line)
      ->callback(
          [&line] { line.action = [&line] { return ListCacheEntries(line.cache.folder); }; });
  AddCacheVerb(*verb, "size", "Print number and size of the entries by stage", line)
      ->callback([&line] { line.action = [&line] { return MeasureCache(line.cache.folder); }; });
  AddCacheVerb(*verb, "verify", "Check every byte of every entry", line)->callback([&line] {
    line.action = [&line] { return VerifyCacheEntries(line.cache.folder); };
  });
  CLI::App* prune =
      AddCacheVerb(*verb, "prune", "Delete what no run has asked for in a given time", line);
  prune->add_option("--older-than", cache.older_than, "90m, 12h, 30d, 2w; 0d for everything")
      ->required()
      ->type_name("AGE");
  prune->add_flag("--dry-run", cache.dry_run, "only print what would be deleted");
  prune->callback([&line] {
    line.action = [&line] {
      return PruneCacheEntries(line.cache.folder, line.cache.older_than,
                               line.cache.dry_run ? Pruning::kReport : Pruning::kDelete);
    };
  });
}

void AddReport(CLI::App& app, CommandLine& line) {
  CLI::App* verb = app.add_subcommand("report", "Make the report page of a run again");
  verb->footer(
      "Examples:\n"
      "  lfiw report outputs/quickstart/3f2a91c07b55\n"
      "  lfiw report outputs/quickstart/3f2a91c07b55 --open");
  verb->add_option("run_dir", line.report.directory, "run directory")->required()->type_name("DIR");
  verb->add_flag("--open", line.report.open, "open the page in a browser");
  AddCommon(*verb, line.common);
  verb->callback([&line] { line.action = [&line] { return Report(line.report); }; });
}

void AddStatus(CLI::App& app, CommandLine& line) {
  CLI::App* verb = app.add_subcommand(
      "status", "Say what has become of the tasks that --launcher slurm submitted");
  verb->footer(
      "Examples:\n"
      "  lfiw status outputs/quickstart_sweep/3f2a91c07b55\n"
      "  lfiw status sweep --json");
  verb->add_option("dir", line.status, "folder that was given as --out, or that was printed")
      ->required()
      ->type_name("DIR");
  AddCommon(*verb, line.common);
  verb->callback([&line] { line.action = [&line] { return SlurmStatus(line.status); }; });
}

void AddList(CLI::App& app, CommandLine& line) {
  CLI::App* verb = app.add_subcommand("list", "Name the environments, estimators, ... there are");
  verb->footer("Examples:\n  lfiw list environments\n  lfiw list estimators");
  verb->require_subcommand(1);
  const auto add = [&](const char* name, const char* summary, Listing listing) {
    CLI::App* one = verb->add_subcommand(name, summary);
    AddCommon(*one, line.common);
    one->callback([&line, listing] { line.action = [listing] { return List(listing); }; });
  };
  add("environments", "Sizes, versions and options of environments", Listing::kEnvironments);
  add("estimators", "What `rows` of an evaluation and a benchmark may name", Listing::kEstimators);
  add("systems", "Tabular systems of a benchmark", Listing::kSystems);
  add("presets", "Defaults of an evaluation", Listing::kPresets);
}

void AddDoctor(CLI::App& app, CommandLine& line) {
  CLI::App* verb = app.add_subcommand(
      "doctor", "Print versions, CPU, where BLAS and LAPACK resolve, and the measured GEMM rate");
  verb->footer(
      "Examples:\n"
      "  lfiw doctor\n"
      "  lfiw doctor --cache /scratch/lfiw        try what a cache needs of its file system");
  verb->add_option("--cache", line.doctor_cache,
                   "try locks, renames, visibility and times of files in this folder instead")
      ->type_name("DIR");
  AddCommon(*verb, line.common);
  verb->callback([&line] {
    line.action = [&line] {
      return line.doctor_cache.empty() ? Doctor() : DoctorOfCache(line.doctor_cache);
    };
  });
}

// Adds what packages and shells ask for; `lfiw --help` is for people.
void AddManual(CLI::App& app, CommandLine& line) {
  CLI::App* verb =
      app.add_subcommand("manual", "Print the manual page or a shell's completion")->group("");
  verb->require_subcommand(1);
  const auto add = [&](const char* name, const char* summary, ManualKind kind) {
    CLI::App* one = verb->add_subcommand(name, summary);
    AddCommon(*one, line.common);
    one->callback(
        [&app, &line, kind] { line.action = [&app, kind] { return Manual(app, kind); }; });
  };
  add("page", "The manual page, for man", ManualKind::kPage);
  add("bash", "Completion of command lines in bash", ManualKind::kBash);
  add("zsh", "Completion of command lines in zsh", ManualKind::kZsh);
}

// Runs the chosen verb and turns what it throws into one line and an exit status.
int Guard(const std::function<int()>& action) {
  try {
    return action();
  } catch (const Interrupted&) {
    fmt::print(stderr, "\nlfiw: interrupted; the same command goes on from the last checkpoint\n");
    // All is on disk. Threads of libraries that are still at work would trip over the destructors
    // of an ordinary end.
    std::fflush(nullptr);
    std::_Exit(InterruptedStatus());
  } catch (const NumericError& error) {
    fmt::print(stderr, "lfiw: {}\n", error.what());
    return kNoNumber;
  } catch (const Error& error) {
    fmt::print(stderr, "lfiw: {}\n", error.what());
    return kWrongInput;
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "lfiw: {}\n", error.what());
    return kWrongInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "lfiw: fault: {}\n", error.what());
    return kFault;
  }
}

// Parses the command line and runs the chosen verb. Returns the program's exit status.
int RunProgram(int argc, char** argv) {
  TakeInterrupts();
  CLI::App app{
      "lfiw evaluates a new policy from logged data of another one: a learned dynamics model,\n"
      "corrected by likelihood-free importance weights."};
  app.name("lfiw");
  app.require_subcommand(1);
  app.set_version_flag("--version", VersionText());

  CommandLine line;
  AddRun(app, line);
  AddBench(app, line);
  AddEvaluate(app, line);
  AddImageVerbs(app, line);
  AddTruth(app, line);
  AddTrain(app, line);
  AddCollect(app, line);
  AddCheckPolicy(app, line);
  AddInspect(app, line);
  AddConvert(app, line);
  AddCache(app, line);
  AddReport(app, line);
  AddStatus(app, line);
  AddList(app, line);
  AddDoctor(app, line);
  AddManual(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    if (argc < 2) {
      fmt::print(stderr, "{}", FirstStepsText());
    } else {
      fmt::print(stderr, "lfiw: {}\n", UsageErrorText(app, argv[1], error));
    }
    return kWrongInput;
  }

  return Guard([&] {
    SetThreads(line.common.threads);
    return Show(line.action(), line.common.form);
  });
}

}  // namespace
}  // namespace lfiw::experiments

int main(int argc, char** argv) {
  lfiw::experiments::RestartWithFittingOpenBlasKernel(argv);
  return lfiw::experiments::RunProgram(argc, argv);
}
