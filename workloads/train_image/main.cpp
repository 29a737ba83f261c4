// train_image: trains a small residual network on JPEG files. Every habit that makes training slow or quick is a knob.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/environment.h"
#include "workloads/train_image/data_set.h"
#include "workloads/train_image/knobs.h"
#include "workloads/train_image/presets.h"
#include "workloads/train_image/training.h"

namespace loopscope::train_image {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr unsigned long long kSeeds = 1ull << 31;

constexpr char kUsage[] = R"(usage: train_image [options]
Trains a small residual network on JPEG files and prints loss and accuracy.

  --preset NAME       {}
  --set KEY=VALUE     sets a knob over the preset; may be repeated
  --list-knobs        prints every knob with its values, default and meaning
  --data DIR          where the images are, or are made when DIR is new or empty
                      (default: ${{XDG_CACHE_HOME:-~/.cache}}/loopscope/train_image-<parameters>)
  --seed N            the same as --set seed=N; LOOPSCOPE_SEED overrides both
  --print-losses      prints every training loss with 17 digits, at the end of each epoch
  --checkpoints DIR   saves a checkpoint to DIR after each epoch and resumes from the newest there
  --help              prints this

LOOPSCOPE_TREATMENT="key=value;..." sets knobs over everything else.
)";

struct Options {
  std::string preset, data, checkpoints;
  std::vector<std::string> items;
  bool help = false, list_knobs = false, print_losses = false;
};

struct UsageError {
  std::string message;
};

// The value of the option at `index`, as "--name value" or "--name=value"; none when it is another option.
std::optional<std::string> ValueOfOption(std::string_view name, const std::vector<std::string>& arguments,
                                         std::size_t& index) {
  const std::string& argument = arguments[index];
  if (argument.starts_with(std::string(name) + "=")) return argument.substr(name.size() + 1);
  if (argument != name) return std::nullopt;
  if (index + 1 == arguments.size()) throw UsageError{fmt::format("{} needs a value", name)};
  return arguments[++index];
}

Options ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string& argument = arguments[index];
    if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument == "--list-knobs") {
      options.list_knobs = true;
    } else if (argument == "--print-losses") {
      options.print_losses = true;
    } else if (const auto preset = ValueOfOption("--preset", arguments, index)) {
      options.preset = *preset;
    } else if (const auto item = ValueOfOption("--set", arguments, index)) {
      options.items.push_back(*item);
    } else if (const auto seed = ValueOfOption("--seed", arguments, index)) {
      options.items.push_back("seed=" + *seed);
    } else if (const auto data = ValueOfOption("--data", arguments, index)) {
      options.data = *data;
    } else if (const auto checkpoints = ValueOfOption("--checkpoints", arguments, index)) {
      options.checkpoints = *checkpoints;
    } else {
      throw UsageError{fmt::format("there is no option \"{}\": --help prints all of them", argument)};
    }
  }
  return options;
}

void Check(const std::optional<std::string>& error) {
  if (error) throw UsageError{*error};
}

Settings SettingsOf(const Options& options) {
  Settings settings;
  if (!options.preset.empty()) Check(ApplyPreset(settings, options.preset));
  for (const std::string& item : options.items) Check(AssignItem(settings, item));
  Check(Conflict(settings));
  // A launcher's seed may have 64 bits.
  if (const char* seed = std::getenv(env::kSeed)) settings.seed = int(std::strtoull(seed, nullptr, 10) % kSeeds);
  return settings;
}

int Run(const Options& options) {
  if (options.help) {
    fmt::print(kUsage, DescribePresets());
    return 0;
  }
  if (options.list_knobs) {
    fmt::print("{}", DescribeKnobs());
    return 0;
  }
  TrainingRun run;
  run.settings = SettingsOf(options);
  run.treated = ApplyTreatment(run.settings);
  run.print_losses = options.print_losses;
  run.checkpoints = options.checkpoints;
  const auto folder = options.data.empty() ? DefaultFolder(run.settings) : std::filesystem::path(options.data);
  Train(run, DataSet::Open(folder, run.settings));
  return 0;
}

}  // namespace
}  // namespace loopscope::train_image

int main(int argc, char** argv) {
  using namespace loopscope::train_image;
  try {
    return Run(ParseOptions({argv + 1, argv + argc}));
  } catch (const UsageError& error) {
    fmt::print(stderr, "train_image: {}\n", error.message);
    return kExitUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_image: {}\n", error.what());
    return kExitFailed;
  }
}
