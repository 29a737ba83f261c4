#include "profiler/launch/run_info.h"

#include <fmt/chrono.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "probes/environment.h"
#include "profiler/core/host.h"
#include "profiler/core/redact.h"

namespace loopscope {
namespace {

env::Rank RankIn(const Environment& environment) {
  return env::RankFrom([&](const char* name) {
    const auto found = environment.find(name);
    return found != environment.end() ? found->second.c_str() : nullptr;
  });
}

}  // namespace

RunInfo RunInfoOf(const std::vector<std::string>& command, const Environment& environment) {
  const Host host = ThisHost();
  RunInfo info;
  info.command = Redacted(command);
  info.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  info.working_directory = std::filesystem::current_path();
  info.cpu = host.cpu;
  info.cores = host.cores;
  info.cpu_features = host.features;
  info.gpus = host.gpus;
  info.versions["loopscope"] = LOOPSCOPE_VERSION;
  utsname kernel;
  if (uname(&kernel) == 0) info.versions["kernel"] = kernel.release;
  info.environment = RecordedEnvironment(environment);
  if (const auto treatment = environment.find(env::kTreatment); treatment != environment.end()) {
    info.treatment = treatment->second;
  }
  const env::Rank rank = RankIn(environment);
  info.rank = std::max(0, rank.rank);
  info.ranks = rank.size;
  return info;
}

}  // namespace loopscope
