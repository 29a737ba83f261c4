// Nsight Systems: the processes in an export, and what to do with its files that are not exports.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "profiler/core/result.h"

namespace loopscope {

// The fact of a trace whose file holds several processes that trained: their pids, for Input::process ("111,112").
inline constexpr std::string_view kProcessesFact = "trace.processes";

// What to do with Nsight Systems' own report files (.nsys-rep, .qdrep, .qdstrm), which have to be exported; by name.
std::optional<Error> NsysReportFile(const std::filesystem::path& path);

}  // namespace loopscope
