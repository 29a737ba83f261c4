#include "profiler/commands/command_table.h"

namespace loopscope {

// Each at the end of its own file.
extern const Command kRunCommand, kProveCommand, kAbCommand, kSweepCommand, kGateCommand, kBisectCommand,
    kAaCheckCommand, kHistoryCommand, kReportCommand, kCompareCommand, kRulesCommand, kTreatmentsCommand,
    kDoctorCommand;

Commands AllCommands() {
  static constexpr const Command* kAll[] = {&kRunCommand,    &kProveCommand,   &kAbCommand,      &kSweepCommand,
                                            &kGateCommand,   &kBisectCommand,  &kAaCheckCommand, &kHistoryCommand,
                                            &kReportCommand, &kCompareCommand, &kRulesCommand,   &kTreatmentsCommand,
                                            &kDoctorCommand};
  return kAll;
}

}  // namespace loopscope
