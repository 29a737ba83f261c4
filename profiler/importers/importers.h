// All importers, in the order of importers.def.
#pragma once

#include <span>
#include <string_view>

#include "profiler/core/importer.h"

namespace loopscope {

std::span<const Importer* const> AllImporters();

// Null when there is none of that id.
const Importer* FindImporter(std::string_view id);

}  // namespace loopscope
