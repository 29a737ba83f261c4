// Times are comparable only for the same work.
#pragma once

#include <string>

#include "profiler/core/launch.h"
#include "profiler/core/treatment.h"

namespace loopscope {

// What launches must have in common for comparable times.
struct SameWork {
  Metric step_metric = Metric::kStepTime;  // kSampleTime: samples per step may differ
  bool epochs = true;                      // as many steps in each epoch
};

// The same clock (of an optimizer, whatever its class), and, unless they are taken per sample (kSampleTime), the same
// samples per step and as many steps between epochs. Empty when so, else the reason.
std::string UnequalWork(const LaunchResult& reference, const LaunchResult& result, SameWork same = {});

// `result`, as kNotComparable when its work differs from the reference's.
LaunchResult HeldTo(const LaunchResult& reference, LaunchResult result, SameWork same = {});

}  // namespace loopscope
