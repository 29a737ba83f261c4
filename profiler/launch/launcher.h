// Starts the user's program under the probes: each launch has its own folder, environment and, in trials, file
// system.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/containment/containment.h"
#include "profiler/containment/shared_caches.h"
#include "profiler/core/launch_target.h"
#include "profiler/core/result.h"
#include "profiler/launch/launch_environment.h"
#include "profiler/launch/probe_paths.h"
#include "profiler/launch/process.h"
#include "profiler/launch/turn_taking.h"

namespace loopscope {

// One of the commands that are launched.
struct Side {
  std::vector<std::string> command;
  std::filesystem::path folder = {};  // where it starts; empty: our own working folder
  Environment environment = {};       // set over our own

  // The command with its program as a path from our own working folder, for messages and look-ups.
  std::vector<std::string> Resolved() const;
};

// Settings shared by all launches.
struct LaunchSetup {
  std::vector<Side> sides;  // by LaunchSpec::side
  ProbePaths probes;
  std::filesystem::path scratch;           // private; each launch gets <scratch>/launches/<nnn>-<label>, but for
  std::filesystem::path recording;         // the real run: where this is not empty, it is recorded here
  std::filesystem::path kept;              // where failed launches are moved, or all with `keep`
  std::optional<Containment> containment;  // for trials; empty: the real run, with the user's terminal and files
  std::string prepare;                     // shell command before each launch
  bool keep = false;
  bool stdout_to_stderr = false;
};

struct Launched {
  TargetByOutput by_output;         // of a launch with a target
  std::filesystem::path directory;  // run.json, captures, and output.txt of a trial
  ProcessEnd end;
  // Nonzero: the command's exit status when the probe ended the training process inside it (a notebook's kernel, whose
  // client takes that for a failure). `end` then says 0.
  int status_after_end = 0;
};

class ProgramLauncher {
 public:
  ProgramLauncher(LaunchSetup setup, Signals& signals)
      : setup_(std::move(setup)), signals_(signals), caches_(setup_.scratch / "caches") {}

  // Starts the program and waits for its end. Error (exit 2): the launch cannot be set up.
  Result<Launched> Start(const LaunchSpec& spec);

  // The same for experiments: reads the capture, and deletes or keeps the folder. Never fails: see
  // LaunchResult::status.
  LaunchResult Launch(const LaunchSpec& spec);

  // Side by side: Launcher::SideBySide. One of our processes follows each of them. Errors: the machine's memory may not
  // hold them all (each is counted as twice the fullest one launched so far); one that was launched had several ranks.
  Result<std::vector<LaunchResult>> LaunchTogether(std::span<const LaunchSpec> specs);

  // Whether to try LaunchTogether: the programs are contained, so that none sees another's writes, there is no
  // --prepare command, and no GPU, whose memory all would share.
  bool CanTakeTurns() const;

  const LaunchSetup& setup() const { return setup_; }

 private:
  Result<std::filesystem::path> MakeFolder(const LaunchSpec& spec);
  Result<Launched> StartIn(const std::filesystem::path& folder, const LaunchSpec& spec);
  TurnTaker StartKeeper(const LaunchSpec& spec, int among);
  LaunchResult LaunchIn(const Result<std::filesystem::path>& folder, const LaunchSpec& spec);
  std::filesystem::path PutAway(const std::filesystem::path& directory, bool failed);

  LaunchSetup setup_;
  Signals& signals_;
  SharedCaches caches_;
  int launches_ = 0;
  // Over the launches so far.
  double fullest_bytes_ = 0;  // LaunchResult::peak_bytes
  bool several_ranks_ = false;
};

// LaunchResult::status before the capture is read.
LaunchStatus StatusOf(const ProcessEnd& end, const std::vector<std::string>& command);

// "block 3, ALL-amp" as part of a file name: "block-3-ALL-amp".
std::string FileLabel(std::string_view label);

}  // namespace loopscope
