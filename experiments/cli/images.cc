// The kinds and verbs of the experiments on images.

#include <memory>

#include "experiments/cli/command_line.h"
#include "experiments/cli/experiment_kinds.h"
#include "experiments/cli/gof_command.h"
#include "experiments/image_gof/gof.h"
#include "experiments/image_gof/gof_table.h"
#include "experiments/image_gof/toy_gaussian.h"
#include "experiments/omniglot/omniglot.h"

namespace lfiw::experiments {
namespace {

void AddGof(CLI::App& app, ChosenVerb& chosen) {
  const auto command = std::make_shared<GofCommand>();
  CLI::App* verb = app.add_subcommand(
      "gof", "Measure how well generated images fit real ones, with importance weights");
  verb->footer(
      "Examples:\n"
      "  lfiw gof --real data_batch_5.bin --generated samples.npz --features resnet20.npz\n"
      "  lfiw gof --real photos/ --generated samples/ --features inception.pt\n"
      "  lfiw gof --real real_features.npz --generated generated_features.npz\n"
      "Images: CIFAR-10's .bin, a folder of .png, or .npz of uint8 [n, height, width, channels].\n"
      "Features: .npz with features [n, d] and logits [n, classes].");
  verb->add_option("--real", command->real, "real images or features; may be repeated")
      ->required()
      ->allow_extra_args(false)
      ->type_name("FILE");
  verb->add_option("--generated", command->generated,
                   "generated images or features; may be repeated")
      ->required()
      ->allow_extra_args(false)
      ->type_name("FILE");
  verb->add_option("--features", command->features,
                   "network: .npz of a ResNet-20, or TorchScript (which runs the file's code)")
      ->type_name("FILE");
  verb->add_option("overrides", command->overrides, "key.path=value, as for run")
      ->type_name("KEY=VALUE");
  verb->add_option("--out", command->out, "run directory (default: outputs/NAME/HASH)")
      ->type_name("DIR");
  verb->add_option("--cache", command->cache, "stage cache shared by runs (default: outputs/cache)")
      ->type_name("DIR");
  verb->add_flag("--dry-run", command->dry_run, "print the resolved configuration and stop");
  AddCommon(*verb, chosen.common);
  verb->callback([&chosen, command] {
    chosen.action = [&chosen, command] { return Gof(*command, chosen.common.verbosity); };
  });
}

}  // namespace

std::vector<ExperimentRunner> ImageExperiments() {
  return {RunnerOf<ToyGaussianConfig>(ExperimentKind::kToyGaussian, RunToyGaussian),
          RunnerOf<GofConfig>(ExperimentKind::kGof, RunGof),
          RunnerOf<GofTableConfig>(ExperimentKind::kGofTable, RunGofTable),
          RunnerOf<OmniglotConfig>(ExperimentKind::kOmniglot, RunOmniglot)};
}

void AddImageVerbs(CLI::App& app, ChosenVerb& chosen) { AddGof(app, chosen); }

}  // namespace lfiw::experiments
