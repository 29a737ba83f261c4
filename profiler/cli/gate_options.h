// What `gate` takes on its command line.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/result.h"

namespace CLI {
class App;
}

namespace loopscope {

struct Options;

// A command, and what it is gated against; without that, recorded counters are all there is.
struct Workload {
  std::vector<std::string> command, against;
};

enum class Undecided { kTell, kFail, kPass };  // exit 3, 1 or 0

struct GateOptions {
  std::vector<std::string> against, further;  // --against and --workload, each as it was typed
  double max_slowdown = 0.05;
  Undecided undecided = Undecided::kTell;
  bool strict_counters = false, accept = false;
  std::filesystem::path baseline;
  std::filesystem::path record;     // folder of the history
  std::vector<Workload> workloads;  // from all of the above
};

std::optional<Undecided> ParseUndecided(std::string_view text);

// "NAME=value"
std::optional<std::pair<std::string, std::string>> ParseVariable(std::string_view text);

// What `gate` takes besides the options that it shares with other experiments.
void AddGate(CLI::App& app, Options& options);
// --against-dir and --against-env, of `first`.
void AddOtherSide(CLI::App& app, Options& options, const char* first);
void AddSensitivity(CLI::App& app, Options& options, const char* text);  // --max-slowdown

// Fills in options.gate.workloads. Error (exit 2): nothing to gate, nothing to gate against, or they do not pair up.
Result<void> FindWorkloads(Options& options);

}  // namespace loopscope
