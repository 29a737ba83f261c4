// All analyzers, in the order of analyzers.def.
#pragma once

#include <span>
#include <string_view>

#include "profiler/core/analyzer.h"

namespace loopscope {

std::span<const Analyzer* const> AllAnalyzers();

}  // namespace loopscope
