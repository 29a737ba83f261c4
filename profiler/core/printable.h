// Text from outside (paths, names, output of programs) made safe to print, and laid out in terminal columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace loopscope {

// Valid UTF-8 on one line, at most `max_columns` wide (cut with "…"). Tabs and line ends become spaces; control
// characters, escape sequences, invisible and direction-changing characters and invalid bytes become U+FFFD.
std::string Printable(std::string_view text, std::size_t max_columns = 500);

// Columns that printable text takes on a terminal. Combining marks count as one, so the result is never too small.
std::size_t DisplayWidth(std::string_view printable);

// Wraps text into lines of at most `columns` (at least 8), at spaces, and within a word only if it is longer than a
// line. Lines have no trailing space; the result is never empty.
std::vector<std::string> Wrap(std::string_view printable, std::size_t columns);

// The command as a shell would read it back: quoted where needed, printable, without secrets.
std::string ShellQuoted(const std::vector<std::string>& command, std::size_t max_columns = 500);

}  // namespace loopscope
