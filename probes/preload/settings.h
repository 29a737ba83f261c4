// What the launcher asks of the probes (probes/environment.h): its settings, read from the environment once, and the
// metric that it waits for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "probes/preload/run_window.h"

namespace loopscope {

enum class Mode { kTrace, kClock, kCheck };

struct Settings {
  const char* run_dir = nullptr;  // null: the program was not launched to be measured
  Mode mode = Mode::kTrace;
  WindowSettings window;
  std::string_view clock;         // the step clock that all launches share; empty: choose
  std::uint64_t limit_bytes = 0;  // of the capture; 0: the writer's default
  std::uint64_t rank_timeout_ns = 0;
  std::optional<std::uint64_t> seed;  // of this rank; none: the program's random numbers are not seeded
  bool several_ranks = false;         // this process is one of them
};

Settings ReadSettings() noexcept;

// The program reported a metric: if it is the awaited one and has reached its target, notifies the launcher, which ends
// the program.
void NoteMetric(const char* name, double value) noexcept;

}  // namespace loopscope
