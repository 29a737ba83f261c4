// What launches report about the settings they were asked to apply.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

std::vector<Applied> AppliedUnder(std::string_view key, std::span<const Applied> applied);

// Why a requested setting changed nothing, from the launch's reports under its key; empty: it did.
std::string WhyNotApplied(std::string_view key, std::span<const Applied> applied);

// Whether applying it failed, in any of its places.
bool FailedToApply(std::string_view key, std::span<const Applied> applied);

// Whether the program has the value now: it was changed, or had it before. `why`: see
// WhyNotApplied.
enum class Taken { kChanged, kHadIt, kNot };
Taken TakenUp(std::string_view key, std::string_view value, std::span<const Applied> applied, std::string& why);

}  // namespace loopscope
