// The first sentence of a report, the same in every format (see wording.h).
#pragma once

#include <string>

#include "profiler/core/report/headline.h"

namespace loopscope {

std::string HeadlineText(const Report& report);
std::string_view HeadlineKindName(HeadlineKind kind);  // "finding", "place", "whole_part" …, as in the report's JSON

// "replay.py:37 in sample (library.py:12 in fit)".
std::string PlacesText(const std::optional<Where>& where, const std::optional<Where>& library,
                       const std::string& directory);
std::string PhaseText(std::string_view phase);  // "start of an epoch", "loader wait"

}  // namespace loopscope
