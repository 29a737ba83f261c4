// What the seams (analyzers, importers, treatments, formats) share: looking a constant up by its id. Their lists are
// made by seam_list.inc.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace loopscope {

// Null when there is none of that id.
template <class Kind>
const Kind* FindById(std::span<const Kind* const> all, std::string_view id) {
  const auto found = std::ranges::find_if(all, [&](const Kind* one) { return one->id == id; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace loopscope
