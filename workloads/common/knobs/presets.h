// Presets: named sets of knobs. tuned has no flaw, naive plants many on top of it, only:<rule> plants one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/common/knobs/knobs.h"

namespace loopscope::train {

// The knobs that plant the flaw a rule looks for, and that rule.
struct Flaw {
  std::string_view rule;
  std::vector<std::string_view> items;  // "debug=on"
  bool in_naive = true;
  bool of_gpus = false;  // it needs a GPU
};

// For thread-oversubscription: 1.5 threads per processor. Far more would take minutes per step.
Flaw TooManyThreads();

struct Presets {
  std::vector<Flaw> flaws;
  std::vector<std::string_view> tuned;            // items; amp and the GPU's workers follow the CPU
  std::vector<std::string_view> tuned_cuda = {};  // items that device=cuda adds
};

// Flaws of a GPU, the same in every program.
std::vector<Flaw> WithGpuFlaws(std::vector<Flaw> flaws);

// Flaws of several ranks, the same in every program: planted by only:<rule>.
std::vector<Flaw> WithRankFlaws(std::vector<Flaw> flaws);

// Changes the settings as the preset says; returns a message when there is no such preset.
std::optional<std::string> ApplyPreset(const Knobs& knobs, const Presets& presets, std::string_view name);

// The names, for --help: "naive, tuned, only:<rule>, ...".
std::string DescribePresets(const Presets& presets);

}  // namespace loopscope::train
