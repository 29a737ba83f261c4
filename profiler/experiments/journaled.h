// Frame of every experiment: its journal, the series of its launches, and the errors of
// both.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "profiler/core/launch.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"
#include "profiler/experiments/events.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/options.h"

namespace loopscope {

// Runs `procedure` on a series of launches whose journal is the file at `path`, none where that is empty. `identity`:
// all that must be the same for an interrupted experiment to go on. Errors: Journal::Open's, else the procedure's.
Result<void> RunJournaled(const std::string& identity, const std::filesystem::path& path,
                          const ExperimentOptions& options, const Launcher& launcher, const ExperimentEvents& events,
                          Report& report, const std::function<Result<void>(LaunchSeries&)>& procedure);

}  // namespace loopscope
