// A launch as text: its identity, what is passed to the program, and its result on the way between two processes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/launch.h"

namespace loopscope {

// "loader.workers=4;amp=bf16"
std::string TreatmentSettings(const std::vector<std::pair<std::string, std::string>>& treatment);
// For live pairs: the values of env::kLiveTreatment and env::kLive.
std::string LiveTreatmentText(const LiveSchedule& live);
std::string LiveText(const LiveSchedule& live);

std::string SpecText(const LaunchSpec& spec);  // everything that identifies a launch, the label included

// A result as one line of JSON, and back; nullopt when the text is truncated.
std::string ResultText(const LaunchResult& result);
std::optional<LaunchResult> ResultOf(std::string_view text);

}  // namespace loopscope
