// The commands: name, help, what they take, and what runs them.
#pragma once

#include "profiler/cli/command.h"
#include "profiler/cli/options.h"

namespace loopscope {

Commands AllCommands();

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
