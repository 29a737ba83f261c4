// What goes to a person: colours on a terminal only, lines of its width there and of 80 columns elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "profiler/core/format.h"

namespace loopscope {

constexpr int kPlainColumns = 80;

// False where `no_color`, NO_COLOR or something else than a terminal behind `descriptor` says so.
bool WantsColor(int descriptor, bool no_color);
// Of the terminal behind `descriptor`; 80 without one.
int ColumnsOf(int descriptor);

// Empty output for standard output: 80 to 120 columns.
Output StandardOutput(bool no_color = false);
void Print(const Output& output);

// `text` as it is said on standard error: folded at spaces on a terminal, where a line's continuations keep its
// indentation. In a log every line stays whole, so that a search finds it, and so does one with a word that fits no
// line, so that a path can be copied.
std::string Folded(std::string_view text, int columns);
void Say(const std::string& text);

}  // namespace loopscope
