// Command-line options of `gate`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/options.h"
#include "profiler/core/result.h"

namespace CLI {
class App;
}

namespace loopscope {

std::optional<Undecided> ParseUndecided(std::string_view text);

// "NAME=value"
std::optional<std::pair<std::string, std::string>> ParseVariable(std::string_view text);

// Options of `gate` that other experiments do not share.
void AddGate(CLI::App& app, Options& options);
// --against-dir and --against-env, for `first`.
void AddOtherSide(CLI::App& app, Options& options, const char* first);
void AddSensitivity(CLI::App& app, Options& options, const char* text);  // --max-slowdown

// Fills in options.gate.workloads. Error (exit 2): nothing to gate, nothing to gate against, or they do not pair up.
Result<void> FindWorkloads(Options& options);

}  // namespace loopscope
