// The command line that every training program has: presets, knobs, seeds, checkpoints.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "workloads/common/knobs/presets.h"
#include "workloads/common/settings.h"
#include "workloads/common/training_run.h"

namespace loopscope::train {

struct Program {
  std::string_view name;     // "train_image"
  std::string_view summary;  // one line for --help
  std::string_view data;     // what --data means, for --help; empty: there is no such option
  Presets presets;
  // Trains with the command line's settings; `data` is the option's value, empty without it.
  std::function<void(const TrainingRun& run, const std::filesystem::path& data)> train;
};

// The program's exit status: 0, 1 when training failed, 2 for wrong usage; a failure is reported in one line on stderr.
int RunProgram(const Program& program, CommonSettings& settings, const Knobs& knobs, int argc, char** argv);

}  // namespace loopscope::train
