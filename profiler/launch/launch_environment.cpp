#include "profiler/launch/launch_environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

#include "probes/environment.h"
#include "probes/preload_fit.h"
#include "profiler/core/host.h"
#include "profiler/core/launch_text.h"
#include "profiler/core/printable.h"
#include "profiler/launch/probe_build.h"
#include "profiler/launch/program.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {
namespace {

constexpr double kDefaultTraceSeconds = 120;

constexpr std::array<std::string_view, 18> kRecordedPrefixes = {
    "OMP_",           "MKL_",        "KMP_",         "GOMP_",        "OPENBLAS_",        "CUDA_",
    "CUDNN_",         "CUBLAS_",     "NCCL_",        "GLOO_",        "TORCH_",           "PYTORCH_",
    "TORCHINDUCTOR_", "TOKENIZERS_", "SLURM_PROCID", "SLURM_NTASKS", "OMPI_COMM_WORLD_", "NVIDIA_"};
constexpr std::array<std::string_view, 8> kRecordedNames = {
    "RANK",        "WORLD_SIZE", "LOCAL_RANK",   "LOCAL_WORLD_SIZE",
    "MASTER_ADDR", "LD_PRELOAD", "DNNL_VERBOSE", "ONEDNN_MAX_CPU_ISA"};
std::string_view ModeText(LaunchMode mode) {
  switch (mode) {
    case LaunchMode::kTrace:
      return env::kModeTrace;
    case LaunchMode::kClock:
      return env::kModeClock;
    case LaunchMode::kCheck:
      break;
  }
  return env::kModeCheck;
}

void SetProbeVariables(const LaunchSpec& spec, const LaunchPlace& place, Environment& environment) {
  // A nested run must inherit the user's own settings, not the outer run's.
  constexpr std::array<std::string_view, 5> kOfTheUser = {env::kNccl, env::kCuptiDump, env::kCuptiAll,
                                                          env::kCaptureLimit, env::kRankTimeout};
  std::erase_if(environment, [&](const auto& one) {
    return one.first.starts_with("LOOPSCOPE_") && std::ranges::find(kOfTheUser, one.first) == kOfTheUser.end();
  });
  environment[env::kRunDir] = place.captures;
  environment[env::kLaunchDir] = place.files;
  environment[env::kMode] = ModeText(spec.mode);
  environment[env::kWarmup] = std::to_string(spec.warmup);
  environment[env::kSteps] = std::to_string(spec.steps);
  if (spec.mode == LaunchMode::kTrace) {
    environment[env::kTime] = fmt::format("{:g}", spec.time_s > 0 ? spec.time_s : kDefaultTraceSeconds);
    environment[env::kUntil] = "epoch";
    if (spec.all_operators) environment[env::kAllOps] = "0";
  }
  if (spec.max_capture_bytes > 0) environment[env::kCaptureLimit] = std::to_string(spec.max_capture_bytes);
  if (!spec.clock.empty()) environment[env::kClock] = spec.clock;
  if (!spec.treatment.empty()) environment[env::kTreatment] = TreatmentSettings(spec.treatment);
  if (spec.target) {
    environment[env::kTarget] = fmt::format("{}{}{:.17g}", spec.target->target.metric,
                                            spec.target->target.at_least ? ">=" : "<=", spec.target->target.value);
    environment["PYTHONUNBUFFERED"] = "1";  // its output is read while it runs
  }
  if (spec.live) {
    environment[env::kLiveTreatment] = LiveTreatmentText(*spec.live);
    environment[env::kLive] = LiveText(*spec.live);
    if (spec.live->seconds > 0) environment[env::kLiveSeconds] = fmt::format("{:.3f}", spec.live->seconds);
  }
  if (spec.turn_steps > 0) environment[env::kTurns] = std::to_string(spec.turn_steps);
  if (spec.seed) environment[env::kSeed] = std::to_string(*spec.seed);
  // Python's string hashes order its sets: same seed in every arm, unless the user set one.
  if (spec.seed) environment.emplace("PYTHONHASHSEED", std::to_string(*spec.seed % (1ull << 32)));
  if (spec.hash_samples) environment[env::kSampleRng] = "hash";
}

// Names that the trackers document.
void SilenceTrackers(const LaunchPlace& place, Environment& environment) {
  environment["WANDB_MODE"] = "disabled";
  environment["WANDB_DIR"] = place.files;
  environment["MLFLOW_TRACKING_URI"] = "file:" + (place.files / "mlruns").native();
  environment["NEPTUNE_MODE"] = "debug";
  environment["CLEARML_OFFLINE_MODE"] = "1";
}

}  // namespace

namespace {

// The allocator's settings, "a:1,b:[2:3,4:5],c:6", cut at the commas between them.
std::vector<std::string_view> SettingsIn(std::string_view list) {
  std::vector<std::string_view> settings;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    if (i > begin) settings.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return settings;
}

// The list with one item set, keeping the user's other items.
std::string WithItem(std::string_view list, std::string_view item, bool on) {
  const std::string key = std::string(item) + ":";
  std::string merged;
  for (const std::string_view setting : SettingsIn(list)) {
    if (!setting.starts_with(key)) merged.append(setting).append(",");
  }
  return merged.append(key).append(on ? "True" : "False");
}

void Set(const EnvironmentVariable& variable, const std::string& value, Environment& environment) {
  const std::string name(variable.name), newer_name(variable.newer_name);
  std::string& text = environment[!newer_name.empty() && environment.contains(newer_name) ? newer_name : name];
  text = variable.item.empty() ? value : WithItem(text, variable.item, value == "on");
}

}  // namespace

namespace {

bool HoldsSanitizer(std::string_view list) {
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find_first_of(": "));
    if (IsSanitizer(entry)) return true;
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
  }
  return false;
}

}  // namespace

Environment LaunchEnvironment(const Environment& base, const LaunchSpec& spec, const LaunchPlace& place,
                              const ProbePaths& probes) {
  Environment environment = base;
  SetProbeVariables(spec, place, environment);
  const auto put_first = [&](const char* name, const std::filesystem::path& path) {
    std::string& list = environment[name];
    list = list.empty() ? path.native() : path.native() + ":" + list;
  };
  const bool traced = spec.mode == LaunchMode::kTrace;
  std::string& preload = environment[env::kPreload] = probes.preload;
  // Probes of frequent calls, and a collector, would add to the time of a timed trial.
  if (traced && !probes.calls.empty()) preload += ":" + probes.calls.native();
  std::string& list = environment["LD_PRELOAD"];
  // A sanitizer's library refuses to start after another library.
  if (HoldsSanitizer(list)) {
    list += ":" + preload;
  } else {
    put_first("LD_PRELOAD", preload);
  }
  if (const auto cache = ProbeCache(probes); !cache.empty()) environment[env::kProbeCache] = cache;
  if (!probes.python.empty()) put_first("PYTHONPATH", probes.python);
  // Keep another tool's value; an empty one counts as unset.
  const auto put_where_free = [&](const char* name, const std::filesystem::path& path) {
    std::string& text = environment[name];
    if (text.empty()) text = path.native();
  };
  if (!probes.nvtx.empty()) put_where_free("NVTX_INJECTION64_PATH", probes.nvtx);
  if (traced && !probes.cupti.empty()) put_where_free("CUDA_INJECTION64_PATH", probes.cupti);
  const auto asked = environment.find(env::kNccl);
  if (traced && !probes.nccl.empty() && asked != environment.end() && asked->second == "1") {
    put_where_free("NCCL_PROFILER_PLUGIN", probes.nccl);
  }
  if (place.throw_away) SilenceTrackers(place, environment);
  for (const auto& [key, value] : spec.treatment) {
    const Treatment* const treatment = FindTreatment(key);
    if (treatment == nullptr) continue;
    for (const EnvironmentVariable& variable : treatment->environment) Set(variable, value, environment);
  }
  return environment;
}

std::string WhyNotPreloaded(const std::vector<std::string>& command) {
  const Program program = InspectProgram(command.front());
  switch (program.path.empty() ? PreloadFit::kFits : PreloadFitOf(program.path.c_str())) {
    case PreloadFit::kFits:
      return "";
    case PreloadFit::kOtherMachine:
      return "it is not a 64-bit program of this machine";
    case PreloadFit::kOtherLibc:
      return "it uses another C library (musl), which cannot load the probes";
    case PreloadFit::kSanitizer:
      break;
  }
  return "it is built with a sanitizer, whose library has to be the first of all: measure a build without";
}

void LeaveOutPreloaded(const Environment& base, Environment& environment) {
  environment.erase(env::kPreload);
  environment.erase("LD_PRELOAD");
  if (const auto own = base.find("LD_PRELOAD"); own != base.end()) environment.insert(*own);
}

Environment RecordedEnvironment(const Environment& environment) {
  Environment recorded;
  for (const auto& [name, value] : environment) {
    const auto begins = [&name = name](std::string_view prefix) { return name.starts_with(prefix); };
    const bool matters = std::ranges::any_of(kRecordedPrefixes, begins) ||
                         std::ranges::find(kRecordedNames, name) != kRecordedNames.end();
    if (matters && !SoundsSecret(name)) recorded[name] = Redacted(value);
  }
  return recorded;
}

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
