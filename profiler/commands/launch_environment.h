// The environment of a launched program, and the part of it that is written down.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/commands/probe_paths.h"
#include "profiler/core/launch.h"

namespace loopscope {

using Environment = std::map<std::string, std::string>;

Environment OwnEnvironment();
std::vector<std::string> AsStrings(const Environment& environment);  // "NAME=value"

// "loader.workers=4;amp=bf16"
std::string TreatmentText(const std::vector<std::pair<std::string, std::string>>& treatment);
// Of live pairs: what env::kLiveTreatment and env::kLive say.
std::string LiveTreatmentText(const LiveSchedule& live);
std::string LiveText(const LiveSchedule& live);

struct LaunchPlace {
  std::filesystem::path captures;  // LOOPSCOPE_RUN_DIR
  std::filesystem::path files;     // LOOPSCOPE_LAUNCH_DIR
  bool throw_away = false;         // a trial: trackers are switched off or sent to `files`
};

// `base` with what the probes need (probes/environment.h) and what treatments are applied through the environment
// ("threads"). An LD_PRELOAD, a PYTHONPATH and an NVTX injection that are there already are kept.
Environment LaunchEnvironment(const Environment& base, const LaunchSpec& spec, const LaunchPlace& place,
                              const ProbePaths& probes);

// Variables that matter to a training run; those whose name sounds like a secret are left out.
Environment RecordedEnvironment(const Environment& environment);
bool SoundsSecret(std::string_view name);

}  // namespace loopscope
