// The analyzer seam: one rule is one file in analyzers/ that ends in one such constant, one line in analyzers.def, and
// the text of the rule beside it (analyzers/<stem>.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// What must have been recorded for a rule to be clear: without it, a rule that finds nothing reports cannot-tell.
enum AnalyzerNeed : std::uint8_t {
  kNeedsNothing = 0,      // the loop and the facts are enough
  kNeedsOps = 1 << 0,     // operators
  kNeedsPasses = 1 << 1,  // what the forward and backward pass compute, as operators or kernels
  // Free processors: its findings may really be waits for a processor, so it cannot tell if its finding costs less than
  // 1.5 times what the training thread waited for one.
  kNeedsQuiet = 1 << 2,
  // The cost of operators, which on a device needs its records: the host's time in them is only that of their launches.
  kNeedsCosts = 1 << 3,
};

struct Analyzer {
  std::string_view id;        // "host-sync"
  std::string_view question;  // "Does the loop make the device wait for the host?"
  std::vector<Finding> (*run)(const Timeline&);
  unsigned needs = kNeedsOps;          // AnalyzerNeed
  bool without_steps = false;          // judges the whole trace if there are no steps
  bool of_host = false;                // costs training-thread time, which a busy device hides
  std::span<const Claim> claims = {};  // added to the claims of each of its findings
  double usual_share = 0.5;            // see Finding
  bool whatever_runs = false, setting = false;
};

}  // namespace loopscope
