// forms.json: what trials of other forms of operators measured after a run, next to its captures.
#pragma once

#include <filesystem>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

inline constexpr char kFormsJsonName[] = "forms.json";

// Entries that are damaged are left out; none where there is no such file.
std::vector<MeasuredGain> ReadFormsJson(const std::filesystem::path& path);

}  // namespace loopscope
