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
  // Processors that are free: what it finds is time that a wait for a processor may be as well, so it cannot tell where
  // its finding costs less than 1.5 times what the training thread waited for one.
  kNeedsQuiet = 1 << 2,
  // What operators cost, which on a device only its records tell: the host's time in them is that of their launches.
  kNeedsCosts = 1 << 3,
};

struct Analyzer {
  std::string_view id;        // "host-sync"
  std::string_view question;  // "Does the loop make the device wait for the host?"
  std::vector<Finding> (*run)(const Timeline&);
  unsigned needs = kNeedsOps;  // AnalyzerNeed
  bool without_steps = false;  // it judges the whole trace when no steps were seen
  bool of_host = false;        // it costs time of the training thread, which a device that has work does not notice
  std::span<const Claim> claims = {};  // of each of its findings, beside the finding's own
  double usual_share = 0.5;            // see Finding
  bool whatever_runs = false, setting = false;
};

}  // namespace loopscope
