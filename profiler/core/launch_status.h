// How a launch ended.
#pragma once

#include <string>
#include <string_view>

namespace loopscope {

enum class LaunchEnd {
  kOk,
  kExit,           // detail: the exit status
  kSignal,         // detail: its number
  kNoSteps,        // the window never opened or never closed
  kTimeout,        // it was ended
  kInterrupted,    // by the user
  kTookNoTurns,    // side by side with others, it did not wait for its turn: the times of all of them are invalid
  kNotComparable,  // its work differs from what it is compared with; detail: how
  kOther           // detail: why it could not be started or followed
};

struct LaunchStatus {
  LaunchEnd end = LaunchEnd::kOk;
  std::string detail = {};

  std::string Text()
      const;  // "ok", "exit 1", "signal 9", "no steps", "not comparable: 8 samples per step instead of 4"
  static LaunchStatus Of(std::string_view text);  // as Text() writes it
};

}  // namespace loopscope
