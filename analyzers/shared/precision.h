// In which types a program's layers compute, what that costs, and what a narrower type gains.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzers/shared/evidence.h"
#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

// Convolutions and matrix products whose tensors are of one type.
struct LayerTime {
  double share = 0;   // of the detailed steps: operators take as long there as elsewhere, the gaps between do not
  CallSites sites;    // in the forward pass, whose lines choose the type; in total over the detailed steps
  CallSites updates;  // in an optimizer's update (Muon's): not layers
  // "float64 layers: 12 % of the step in the forward pass", the part with more time first.
  std::vector<Evidence> Describe(std::string_view type) const;
  // Percent of the step at one of `sites`.
  double SitePct(const CallSites::Site& site) const { return 100 * site.ms / detailed_ms; }
  double detailed_ms = 0;
};

// What outermost convolutions and matrix products cost (see OpCost) in which one has inputs that `of_type` accepts:
// under autocast the outer operator has float32 inputs, and the one inside it their 16-bit copies.
LayerTime MeasureLayers(const Timeline& timeline, const std::function<bool(EventRef)>& of_type);

// The rule fp32-compute on a GPU, where kernel names show the type of their operands.

// `timeline` has devices. At least 20 % of the step in float32 products and convolutions is a finding.
std::vector<Finding> JudgeFp32OnDevices(const Timeline& timeline);

// Gains that the probes measured in the program itself, at the end of its run (wire::GainRecord).

// Time with the change over time without it, for all measured work, each item weighted by how often the steps do it.
// Over 1: the change makes it slower. Absent: nothing was measured.
std::optional<double> MeasuredRatio(const Trace& trace, std::string_view change);

}  // namespace loopscope
