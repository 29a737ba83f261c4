// All importers, in the order of importers.def, and the one that fits an input.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "profiler/core/importer.h"

namespace loopscope {

std::span<const Importer* const> AllImporters();

// Reads the file or run folder at `path` with the importer that knows it; `process` as in Input. Errors: nothing there,
// unknown format, and those of that importer.
Result<Trace> ReadAnyTrace(const std::filesystem::path& path, std::uint32_t process = 0);

}  // namespace loopscope
