// run.json: what the launcher records about a run, next to its captures.
#pragma once

#include <filesystem>

#include "profiler/core/result.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

inline constexpr char kRunJsonName[] = "run.json";

// Replaces the file atomically: a reader sees the old or the new one, never a part.
Result<void> WriteRunJson(const std::filesystem::path& path, const RunInfo& run);

// Fields that the file lacks keep their defaults. Errors: no such file, not JSON, a newer schema.
Result<RunInfo> ReadRunJson(const std::filesystem::path& path);

}  // namespace loopscope
