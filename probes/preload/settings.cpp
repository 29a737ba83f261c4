#include "probes/preload/settings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probes/environment.h"

namespace loopscope {
namespace {

// Slightly more than the default length of a run.
constexpr std::uint64_t kAllOps = 64;
// If recording ops slows steps down: the detail window and the steps after it that reveal this.
constexpr std::uint64_t kEarlyOps = 16;
// The default length of a run, and how much longer short steps may take to reach it.
constexpr std::uint64_t kLeastOps = 50, kMoreNs = 2'000'000'000;

std::uint64_t Number(const char* name, std::uint64_t otherwise) noexcept {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  return *end == '\0' ? value : otherwise;
}

std::uint64_t Nanoseconds(const char* name, double otherwise_s) noexcept {
  const char* text = std::getenv(name);
  const double seconds = text != nullptr && *text != '\0' ? std::strtod(text, nullptr) : otherwise_s;
  return seconds > 0 ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
}

std::string_view Text(const char* name) noexcept {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

}  // namespace

Settings ReadSettings() noexcept {
  // A program that sets its process title overwrites its initial environment.
  static char run_dir[PATH_MAX];
  Settings settings;
  const char* const set = std::getenv(env::kRunDir);
  if (set == nullptr || *set == '\0') return settings;
  std::snprintf(run_dir, sizeof run_dir, "%s", set);
  settings.run_dir = run_dir;
  const std::string_view mode = Text(env::kMode);
  if (mode == env::kModeClock) settings.mode = Mode::kClock;
  if (mode == env::kModeCheck) settings.mode = Mode::kCheck;
  const bool traces = settings.mode == Mode::kTrace;
  settings.window.warmup = Number(env::kWarmup, 10);
  settings.window.steps = Number(env::kSteps, 0);
  settings.window.detail = traces ? Number(env::kDetail, 5) : 0;
  settings.window.all_ops = traces ? Number(env::kAllOps, kAllOps) : 0;
  settings.window.early_ops = std::min(settings.window.all_ops, kEarlyOps);
  settings.window.least_ops = traces ? kLeastOps : 0;
  settings.window.more_ns = kMoreNs;
  settings.window.until_epoch = traces && Text(env::kUntil) == "epoch";
  settings.window.time_ns = Nanoseconds(env::kTime, 120);
  settings.clock = Text(env::kClock);
  if (const std::string_view seed = Text(env::kSeed); !seed.empty()) {
    settings.seed = Number(env::kSeed, 0) + static_cast<std::uint64_t>(std::max(0, env::ReadRank().rank));
  }
  settings.limit_bytes = Number(env::kCaptureLimit, 0);
  settings.rank_timeout_ns = Nanoseconds(env::kRankTimeout, 30);
  settings.several_ranks = env::ReadRank().rank >= 0;
  settings.window.ends_together = settings.several_ranks;
  return settings;
}

namespace {

// The launcher reads a printed metric as it appears: whole lines must not wait for a buffer to fill.
__attribute__((constructor)) void PrintByLine() {
  if (std::getenv(env::kTarget) != nullptr) setvbuf(stdout, nullptr, _IOLBF, 0);
}

bool Reached(const char* target, const char* name, double value) noexcept {
  const char* sign = std::strpbrk(target, "<>");
  if (sign == nullptr || std::strlen(name) != static_cast<std::size_t>(sign - target)) return false;
  if (std::strncmp(target, name, static_cast<std::size_t>(sign - target)) != 0) return false;
  const double wanted = std::strtod(sign + 2, nullptr);
  return *sign == '>' ? value >= wanted : value <= wanted;
}

}  // namespace

void NoteMetric(const char* name, double value) noexcept {
  const char* target = std::getenv(env::kTarget);
  const char* folder = std::getenv(env::kRunDir);
  if (target == nullptr || folder == nullptr || !Reached(target, name, value)) return;
  char path[4096];
  if (std::snprintf(path, sizeof path, "%s/%s", folder, env::kTargetFile) >= static_cast<int>(sizeof path)) return;
  const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}

}  // namespace loopscope
