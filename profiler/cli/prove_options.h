// Command-line options of `prove` that other experiments do not share, and --fail-on.
#pragma once

namespace CLI {
class App;
}

namespace loopscope {

struct Options;

void AddProve(CLI::App& app, Options& options);
void AddFailOn(CLI::App& app, Options& options);  // `run`, `report` and `gate`

}  // namespace loopscope
