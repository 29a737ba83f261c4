// A launch as text: what it is recognised by, what travels to the program, and its result between two processes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/core/launch.h"

namespace loopscope {

// "loader.workers=4;amp=bf16"
std::string TreatmentText(const std::vector<std::pair<std::string, std::string>>& treatment);
// Of live pairs: what env::kLiveTreatment and env::kLive say.
std::string LiveTreatmentText(const LiveSchedule& live);
std::string LiveText(const LiveSchedule& live);

std::string SpecText(const LaunchSpec& spec);  // all that makes two launches the same, the label included

// A result as one line of JSON, and back; nothing where the text is cut short.
std::string ResultText(const LaunchResult& result);
std::optional<LaunchResult> ResultOf(std::string_view text);

}  // namespace loopscope
