// Starts one program, follows it to its end, and ends the processes that it did not mean to leave.
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

// What is started, and how it is isolated from us.
enum class Role {
  kTraining,  // the user's own, in our place: terminal, process group and descriptors as it would have them alone,
              // every signal that can be is passed on, and what it leaves working after its own end goes on
  kTrial,     // a throw-away run: reads /dev/null, has no descriptor above 2, ends at once on an interrupt, and with us
  kTool,      // does our work: reads /dev/null, gets signals as a training does, is asked to end when we end
};

struct ProcessSpec {
  std::vector<std::string> command;       // at least one word; the first is looked up in PATH
  std::vector<std::string> environment;   // all of it, "NAME=value"
  const ContainedWorld* world = nullptr;  // null: on the real file system, in our working folder
  std::string prepare;                    // a shell command that runs before it, in the same world
  std::vector<std::string> prepare_environment;
  std::filesystem::path output;   // file for what it prints; empty: passed through
  bool stdout_to_stderr = false;  // passed through, all of it to stderr
  Role role = Role::kTraining;
  // 0: none. A trial that has ended by itself is given the rest of it to see its descendants end.
  double timeout_s = 0;
  // Not if others wait for this one's turn to end.
  bool waits_for_left = true;
  // Called at the program's end: whether a probe ended it (a bounded run). Empty: it ended by itself.
  std::function<bool()> was_ended;
  // Polled with the seconds since the start: true ends the program, which counts as a normal end.
  std::function<bool(double)> enough;
};

struct ProcessEnd {
  enum class How { kExited, kSignaled, kTimeout, kInterrupted, kNotStarted };
  How how = How::kNotStarted;
  int status = 0;             // as a shell reports it: 128 + signal; 127 not found, 126 cannot be executed
  int error = 0;              // kNotStarted: errno
  std::string reason;         // kNotStarted: the step that failed; empty: exec itself
  std::string tail;           // the last lines that it printed, where they are in a file
  bool shown = false;         // what it printed has gone where it would go without us
  std::int64_t start_ns = 0;  // CLOCK_MONOTONIC, just before it was forked
  double wall_s = 0;
  std::string full;               // one of our folders that is full, the likely cause if the program failed
  std::vector<std::string> left;  // names of processes that outlived the program and that we ended

  bool ok() const { return how == How::kExited && status == 0; }
};

// Descendants of a training that ended by itself go on; those of a trial are waited for. In all other cases they are
// ended with the program, even if they left its process group.
ProcessEnd RunProcess(const ProcessSpec& spec, Signals& signals);

// Destination of a program's output: a file, or where it would go without us. Nothing is passed on by this process:
// the program, and what it leaves working, go on when we end.
class ProcessStreams {
 public:
  // `file`: where both streams go; empty: they are the program's own. `merge`: stdout goes where stderr goes.
  ProcessStreams(const std::filesystem::path& file, bool merge);
  ~ProcessStreams();
  ProcessStreams(const ProcessStreams&) = delete;
  ProcessStreams& operator=(const ProcessStreams&) = delete;

  void InChild() const noexcept;  // after fork: puts the streams in place
  std::string Tail() const;       // after the end: the last lines, where a file holds them

 private:
  std::filesystem::path file_;
  bool merge_ = false;
  int file_fd_ = -1;
};

}  // namespace loopscope
