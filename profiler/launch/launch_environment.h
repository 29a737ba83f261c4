// The environment of a launched program, and what is recorded of it and of the machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/launch.h"
#include "profiler/core/trace/trace.h"
#include "profiler/launch/probe_paths.h"
#include "profiler/system/environment.h"

namespace loopscope {

struct LaunchPlace {
  std::filesystem::path captures;  // LOOPSCOPE_RUN_DIR
  std::filesystem::path files;     // LOOPSCOPE_LAUNCH_DIR
  bool throw_away = false;         // a trial: trackers are switched off or sent to `files`
};

// `base` with what the probes need (probes/environment.h) and with treatments that are applied through the environment
// ("threads"). An existing LD_PRELOAD, PYTHONPATH or NVTX injection is kept.
Environment LaunchEnvironment(const Environment& base, const LaunchSpec& spec, const LaunchPlace& place,
                              const ProbePaths& probes);

// Why the program that `command` names cannot be started with our libraries preloaded (probes/preload_fit.h), as a
// sentence for the user; the caller then removes LaunchEnvironment's. Empty: it can.
std::string WhyNotPreloaded(const std::vector<std::string>& command);
void LeaveOutPreloaded(const Environment& base, Environment& environment);

// Variables that matter to a training run, without secrets.
Environment RecordedEnvironment(const Environment& environment);

// Facts recorded about a run before it starts.

// This machine, this moment and this working folder; the recorded part of `environment`.
RunInfo RunInfoOf(const std::vector<std::string>& command, const Environment& environment);

}  // namespace loopscope
