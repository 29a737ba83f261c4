// The commands there are: name, help and what they take.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profiler/commands/options.h"

namespace loopscope {

struct Command {
  std::string_view id, summary;
  std::string_view usage, example;     // usage without "loopscope"
  bool reports;                        // --json, --format …
  bool launches;                       // -o, --warmup …
  bool diagnoses;                      // --time
  bool experiments;                    // --blocks …
  bool program;                        // takes `-- CMD`
  int inputs;                          // words before it: 0, at most 1, or -1 for any number
  Result<int> (*run)(const Options&);  // the exit code
};

std::span<const Command> AllCommands();
const Command* FindCommand(std::string_view id);  // null when there is none
std::string GeneralHelp();

Result<int> RunCommand(const Options& options);
Result<int> ProveCommand(const Options& options);
Result<int> AbCommand(const Options& options);
Result<int> SweepCommand(const Options& options);
Result<int> GateCommand(const Options& options);
Result<int> AaCheckCommand(const Options& options);
Result<int> HistoryCommand(const Options& options);
Result<int> ReportCommand(const Options& options);
Result<int> CompareCommand(const Options& options);
Result<int> RulesCommand(const Options& options);
Result<int> TreatmentsCommand(const Options& options);
Result<int> DoctorCommand(const Options& options);

}  // namespace loopscope
