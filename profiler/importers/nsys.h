// Nsight Systems: what to do with its files that are not exports.
#pragma once

#include <filesystem>
#include <optional>

#include "profiler/core/result.h"

namespace loopscope {

// What to do with Nsight Systems' own report files (.nsys-rep, .qdrep, .qdstrm), which have to be exported; by name.
std::optional<Error> NsysReportFile(const std::filesystem::path& path);

}  // namespace loopscope
