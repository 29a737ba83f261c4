// The knobs that every program has: what they mean, when they have no effect, when they cannot train.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/common/knobs/knobs.h"
#include "workloads/common/settings.h"

namespace loopscope::train {

std::vector<Knob> CommonKnobs(CommonSettings& settings);

// Why a knob has no effect with these settings.
Knobs::Reason CommonIdle(const CommonSettings& settings, std::string_view key);

// Why these settings cannot train together on `samples` samples, which `samples_key` names.
Knobs::Reason CommonConflict(const CommonSettings& settings, int samples, std::string_view samples_key);

}  // namespace loopscope::train
