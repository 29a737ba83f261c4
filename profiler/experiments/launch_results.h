// What a launch shows besides its times: whether what it was asked to apply took effect, and whether it did the same
// work as another, without which times cannot be compared.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/launch.h"
#include "profiler/core/trace/trace.h"
#include "profiler/core/treatment.h"

namespace loopscope {

// What launches report about the settings they were asked to apply.
std::vector<Applied> AppliedUnder(std::string_view key, std::span<const Applied> applied);

// Why a requested setting changed nothing, from the launch's reports under its key; empty: it did.
std::string WhyNotApplied(std::string_view key, std::span<const Applied> applied);

// Whether applying it failed, in any of its places.
bool FailedToApply(std::string_view key, std::span<const Applied> applied);

// Whether the program has the value now: it was changed, or had it before. `why`: see
// WhyNotApplied.
enum class Taken { kChanged, kHadIt, kNot };
Taken TakenUp(std::string_view key, std::string_view value, std::span<const Applied> applied, std::string& why);

// Times are comparable only for the same work.

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
