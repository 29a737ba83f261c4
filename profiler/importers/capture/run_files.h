// The files beside a run's captures: run.json, what the launcher records about the run, and forms.json, what trials of
// other forms of operators measured after it.
#pragma once

#include <filesystem>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

inline constexpr char kRunJsonName[] = "run.json";

// Replaces the file atomically: a reader sees the old or the new one, never a part.
Result<void> WriteRunJson(const std::filesystem::path& path, const RunInfo& run);

// Fields that the file lacks keep their defaults. Errors: no such file, not JSON, a newer schema.
Result<RunInfo> ReadRunJson(const std::filesystem::path& path);

inline constexpr char kFormsJsonName[] = "forms.json";

// Entries that are damaged are left out; none where there is no such file.
std::vector<MeasuredGain> ReadFormsJson(const std::filesystem::path& path);

}  // namespace loopscope
