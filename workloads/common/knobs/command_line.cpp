#include "workloads/common/knobs/command_line.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <vector>

#include "probes/environment.h"
#include "workloads/common/knobs/knobs.h"
#include "workloads/common/ranks/rank_launcher.h"
#include "workloads/common/ranks/ranks.h"

namespace loopscope::train {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr unsigned long long kSeeds = 1ull << 31;

constexpr char kUsage[] = R"(usage: {} [options]
{}

  --preset NAME       {}
  --set KEY=VALUE     sets a knob over the preset; may be repeated
  --list-knobs        prints every knob with its values, default and meaning
{}  --device NAME       cpu, or cuda for an NVIDIA GPU: the same as --set device=NAME
  --seed N            the same as --set seed=N; LOOPSCOPE_SEED overrides both
  --print-losses      prints every training loss with 17 digits, at the end of each epoch
  --checkpoints DIR   saves a checkpoint to DIR after each epoch and resumes from the newest there
  --ranks N           trains in N processes that average their gradients; torchrun, srun and mpirun start ranks too
  --help              prints this

LOOPSCOPE_TREATMENT="key=value;..." sets knobs over everything else.
)";

struct Options {
  std::string preset, data, checkpoints;
  std::vector<std::string> items;
  int ranks = 0;  // 0: from the environment
  bool help = false, list_knobs = false, print_losses = false;
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

int ParseRanks(const std::string& text) {
  constexpr int kMostRanks = 1024;
  int ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc() || end != text.data() + text.size() || ranks < 1 || ranks > kMostRanks) {
    throw UsageError{fmt::format("--ranks {}: it takes 1 to {}", text, kMostRanks)};
  }
  return ranks;
}

Options ParseOptions(const Program& program, const std::vector<std::string>& arguments) {
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
    } else if (const auto device = ValueOfOption("--device", arguments, index)) {
      options.items.push_back("device=" + *device);
    } else if (const auto ranks = ValueOfOption("--ranks", arguments, index)) {
      options.ranks = ParseRanks(*ranks);
    } else if (const auto checkpoints = ValueOfOption("--checkpoints", arguments, index)) {
      options.checkpoints = *checkpoints;
    } else if (const auto data = program.data.empty() ? std::nullopt : ValueOfOption("--data", arguments, index)) {
      options.data = *data;
    } else {
      throw UsageError{fmt::format("there is no option \"{}\": --help prints all of them", argument)};
    }
  }
  return options;
}

void Check(const std::optional<std::string>& error) {
  if (error) throw UsageError{*error};
}

void Configure(const Program& program, const Options& options, CommonSettings& settings, const Knobs& knobs) {
  // On a GPU, presets plant and fix other flaws.
  for (const std::string& item : options.items) {
    if (item.starts_with("device=")) Check(knobs.AssignItem(item));
  }
  if (!options.preset.empty()) Check(ApplyPreset(knobs, program.presets, options.preset));
  for (const std::string& item : options.items) Check(knobs.AssignItem(item));
  Check(knobs.Conflict());
  // A launcher's seed may have 64 bits.
  if (const char* seed = std::getenv(env::kSeed))
    settings.seed = static_cast<int>(std::strtoull(seed, nullptr, 10) % kSeeds);
}

// Which rank this process is. Those that --ranks started learn it from their environment, like those of other
// launchers.
Ranks FindRanks(const Options& options) {
  const Ranks ranks = ReadRanks();
  if (options.ranks > 0 && ranks.several() && ranks.store.empty()) {
    throw UsageError{fmt::format("--ranks {} under a launcher that has started {} ranks: leave --ranks out",
                                 options.ranks, ranks.size)};
  }
  return ranks;
}

int Run(const Program& program, const Options& options, CommonSettings& settings, const Knobs& knobs, char** argv) {
  if (options.help) {
    fmt::print(kUsage, program.name, program.summary, DescribePresets(program.presets), program.data);
    return 0;
  }
  if (options.list_knobs) {
    fmt::print("{}", knobs.Describe());
    return 0;
  }
  const Ranks ranks = FindRanks(options);
  settings.rank = ranks.rank;
  settings.ranks = std::max(ranks.size, options.ranks);
  Configure(program, options, settings, knobs);
  if (settings.ranks > ranks.size) return LaunchRanks(program.name, options.ranks, argv);
  EndWithLauncher();
  TrainingRun run{.settings = settings, .knobs = knobs};
  run.treated = ApplyTreatment(knobs);
  run.print_losses = options.print_losses;
  run.ranks = ranks;
  run.checkpoints = options.checkpoints;
  program.train(run, options.data);
  return 0;
}

}  // namespace

int RunProgram(const Program& program, CommonSettings& settings, const Knobs& knobs, int argc, char** argv) {
  try {
    return Run(program, ParseOptions(program, {argv + 1, argv + argc}), settings, knobs, argv);
  } catch (const UsageError& error) {
    fmt::print(stderr, "{}: {}\n", program.name, error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program.name, error.what());
    return kExitFailed;
  }
}

}  // namespace loopscope::train
