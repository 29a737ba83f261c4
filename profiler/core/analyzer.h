// The analyzer seam: one rule is one file in analyzers/ that ends in one such constant, one line in analyzers.def, and
// the text of the rule beside it (analyzers/<stem>.md).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

struct Analyzer {
  std::string_view id;        // "host-sync"
  std::string_view question;  // "Does the loop make the device wait for the host?"
  std::vector<Finding> (*run)(const Timeline&);
  bool without_steps = false;  // what it looks for is a fact of the whole trace where no step was seen
};

}  // namespace loopscope
