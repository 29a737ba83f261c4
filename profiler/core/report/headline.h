// What the first sentence of a report is about: the largest explained cause of lost time, or that there is none.
#pragma once

#include <optional>
#include <string>

#include "profiler/core/report/report.h"

namespace loopscope {

struct Headline {
  enum class Kind {
    kNoSteps,      // nothing could be measured
    kFinding,      // what a rule found
    kUnexplained,  // a part of the step that no rule explains and whose lines are not known
    kNothing,      // no rule found anything that matters
    kUnknown,      // most rules lack what they need
  };
  Kind kind = Kind::kNoSteps;
  const Finding* finding = nullptr;  // one of the report's
  std::optional<Where> where;        // the place to look at
  std::optional<Where> library;      // where that only calls a library: the library's line
  std::string what;                  // what runs there; may be empty
  std::string part;                  // of the step, where it is about one: "other"
  bool of_run = false;               // ms and share are of what lies outside of plain steps
  double ms = 0;                     // per step
  double share_pct = 0;              // of the run as far as it was seen; a bound where the finding's cost is one
};

Headline HeadlineOf(const Report& report);

}  // namespace loopscope
