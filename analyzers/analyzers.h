// All analyzers, in the order of analyzers.def.
#pragma once

#include <span>
#include <string_view>

#include "profiler/core/analyzer.h"

namespace loopscope {

std::span<const Analyzer* const> AllAnalyzers();

// Null when there is none of that id.
const Analyzer* FindAnalyzer(std::string_view id);

}  // namespace loopscope
