#include "profiler/cli/definitions.h"

namespace loopscope {

Result<void> ApplyDefinitions(const std::string& definitions, Report& report) {
  if (definitions == "loopscope") return {};
  if (definitions != "hta") {
    return Error{"unknown definitions `" + definitions + "`", "--definitions", "choose one of: loopscope, hta"};
  }
  if (!report.timeline) {
    return Error{"a finished report's figures cannot be given by other definitions", "--definitions hta",
                 "name the trace itself"};
  }
  report.gpu = GpuFactsByHta(*report.timeline);
  return {};
}

}  // namespace loopscope
