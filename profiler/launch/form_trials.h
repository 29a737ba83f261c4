// Runs other forms of a program's operators beside its own, in a process of its interpreter, once it has ended.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/launch/probe_paths.h"
#include "profiler/system/signals.h"

namespace loopscope {

struct FormWork {
  std::string form, work;  // Form::id, Match::work
};

// As many as three seconds allow, in this order; what was measured is left as forms.json in `folder` too. Empty where
// the program is none of Python, its interpreter is no longer there, or the trials fail: that is no fault of the run.
std::vector<MeasuredGain> TryForms(const std::vector<FormWork>& works, const Trace& trace, const ProbePaths& probes,
                                   const std::filesystem::path& folder, Signals& signals);

}  // namespace loopscope
