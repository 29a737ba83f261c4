#include "profiler/launch/run_info.h"

#include <fmt/chrono.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "probes/environment.h"
#include "profiler/core/host.h"

namespace loopscope {
namespace {

int Number(const Environment& environment, const char* name, int otherwise) {
  const auto found = environment.find(name);
  return found == environment.end() ? otherwise : std::atoi(found->second.c_str());
}

}  // namespace

RunInfo RunInfoOf(const std::vector<std::string>& command, const Environment& environment) {
  const Host host = ThisHost();
  RunInfo info;
  info.command = command;
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
  info.rank = Number(environment, "RANK", 0);
  info.ranks = Number(environment, "WORLD_SIZE", 1);
  return info;
}

}  // namespace loopscope
