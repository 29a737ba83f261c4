// Shared by the seams (analyzers, importers, treatments, formats): finds a constant by its id. seam_list.inc makes
// their lists.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace loopscope {

// Null when none has that id.
template <class Kind>
const Kind* FindById(std::span<const Kind* const> all, std::string_view id) {
  const auto found = std::ranges::find_if(all, [&](const Kind* one) { return one->id == id; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace loopscope
