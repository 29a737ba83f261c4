// What the launcher asks of the probes, read from the environment once (probes/environment.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "probes/preload/window.h"

namespace loopscope {

enum class Mode { kTrace, kClock, kCheck };

struct Settings {
  const char* run_dir = nullptr;  // null: the program was not launched to be measured
  Mode mode = Mode::kTrace;
  WindowSettings window;
  std::string_view clock;         // the step clock that all launches share; empty: choose
  std::uint64_t limit_bytes = 0;  // of the capture; 0: the writer's default
  std::uint64_t rank_timeout_ns = 0;
  bool several_ranks = false;  // this process is one of them
};

Settings ReadSettings() noexcept;

// This process's rank as launchers tell it, and how many there are; rank -1 when it is not one of several.
struct Rank {
  int rank = -1, size = 1;
};
Rank ReadRank() noexcept;

}  // namespace loopscope
