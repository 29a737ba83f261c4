// Markdown laid out for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace loopscope {

// `markdown` with paragraphs and list items of at most `columns` (at least 20); it means the same. Code and headings
// stay as they are.
std::string Reflowed(std::string_view markdown, std::size_t columns);

}  // namespace loopscope
