// Output for people: colours on a terminal only, lines of its width there and of 80 columns elsewhere.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "profiler/core/format.h"

namespace loopscope {

constexpr int kPlainColumns = 80;

// False with `no_color` or NO_COLOR, or when `descriptor` is not a terminal.
bool WantsColor(int descriptor, bool no_color);
// The width of the terminal at `descriptor`; 80 if it is not one.
int ColumnsOf(int descriptor);

// Empty output for standard output: 80 to 120 columns.
Output StandardOutput(bool no_color = false);
void Print(const Output& output);

// Writes text as it is. Output errors (closed, full) never abort the run.
void Write(std::FILE* stream, std::string_view text) noexcept;

// `text` as printed on standard error: folded at spaces on a terminal, where a line's continuations keep its
// indentation. In a log every line stays whole, so that a search finds it; so does a line with a word wider than the
// terminal, so that a path can be copied. Say() makes it printable: names of files and the like come from outside.
std::string Folded(std::string_view text, int columns);
void Say(const std::string& text);

}  // namespace loopscope
