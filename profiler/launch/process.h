// Starts one program, follows it to its end and leaves no process behind but what it meant to leave.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/containment/containment.h"
#include "profiler/system/signals.h"

namespace loopscope {

struct ProcessSpec {
  std::vector<std::string> command;       // at least one word; the first is looked up in PATH
  std::vector<std::string> environment;   // all of it, "NAME=value"
  const ContainedWorld* world = nullptr;  // null: on the real file system, in our working folder
  std::string prepare;                    // a shell command that runs before it, in the same world
  std::vector<std::string> prepare_environment;
  std::filesystem::path output;   // file for what it prints; empty: passed through
  bool stdout_to_stderr = false;  // passed through, all of it to stderr
  bool throw_away = false;        // a trial: no stdin, ended at once by an interrupt and with us
  double timeout_s = 0;           // 0: none
  // Asked when the program has ended by itself: true leaves processes in a session of their own alone. Empty: all end.
  std::function<bool()> leaves_daemons;
  // Polled with the seconds since the start: true ends the program, which counts as a normal end.
  std::function<bool(double)> enough;
};

struct ProcessEnd {
  enum class How { kExited, kSignaled, kTimeout, kInterrupted, kNotStarted };
  How how = How::kNotStarted;
  int status = 0;             // as a shell reports it: 128 + signal; 127 not found, 126 cannot be executed
  int error = 0;              // kNotStarted: errno
  std::string reason;         // kNotStarted: the step that failed; empty: exec itself
  std::string tail;           // the last lines that it printed, where they were seen
  std::int64_t start_ns = 0;  // CLOCK_MONOTONIC, just before it was forked
  double wall_s = 0;

  bool ok() const { return how == How::kExited && status == 0; }
};

// The program's descendants are ended with it, also those that left its process group. An interrupt is forwarded once;
// a second one kills.
ProcessEnd RunProcess(const ProcessSpec& spec, Signals& signals);

}  // namespace loopscope
