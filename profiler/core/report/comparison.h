// Two runs side by side: what changed per step. Two runs are not an experiment: nothing here claims that a change is
// more than noise.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// A host op or a device kernel, by name, per steady step.
struct OpChange {
  std::string name;
  bool device = false;
  std::string change;                  // "appeared", "vanished", "slower", "faster"
  double before_ms = 0, after_ms = 0;  // self time, without callees
  double before_count = 0, after_count = 0;
};

struct FindingName {
  std::string id, rule, title;
};

struct Comparison {
  std::string before, after;                  // what was compared, as it was named
  std::vector<std::string> obstacles;         // why the two cannot be compared: "another CPU: … against …"
  std::vector<std::string> differences;       // what else differs: versions, environment, command
  std::optional<double> before_ms, after_ms;  // mean step
  std::optional<double> before_sample_ms, after_sample_ms;  // mean step / samples in it
  std::array<std::optional<double>, kParts> parts_before_ms, parts_after_ms;
  std::string why_no_ops;     // one sentence when ops could not be compared
  std::vector<OpChange> ops;  // by the size of the change, largest first
  int ops_left_out = 0;       // smaller changes
  std::vector<FindingName> new_findings, gone_findings;
};

}  // namespace loopscope
