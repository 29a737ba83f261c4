// Command-line options of the experiments: those of `prove` alone, of `prove --target`, of `sweep`, and --fail-on.
#pragma once

#include <string>

#include "profiler/cli/options.h"
#include "profiler/core/result.h"

namespace CLI {
class App;
}

namespace loopscope {

void AddProve(CLI::App& app, Options& options);
void AddFailOn(CLI::App& app, Options& options);  // `run`, `report` and `gate`

void AddSweep(CLI::App& app, Options& options);
void AddTarget(CLI::App& app, Options& options);  // --target and --metric-regex

// "accuracy=0.9", "accuracy>=0.9", "loss<=0.3"; with "=", a name that holds loss, error, perplexity or ppl must fall.
Result<Target> ParseTarget(const std::string& text);

// Fills in options.target.target. Error (exit 2): no target for a regex, a regex that is invalid or has no group, or a
// target without the treatments to compare (--only).
Result<void> CheckTarget(Options& options);

}  // namespace loopscope
