#include "profiler/system/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "profiler/core/printable.h"

namespace loopscope {
namespace {

constexpr int kMostColumns = 120, kLeastColumns = 20;

bool HasLongWord(std::string_view line, std::size_t columns) {
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    if (DisplayWidth(word) > columns) return true;
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  return false;
}

void AppendFolded(std::string_view line, std::size_t columns, std::string& folded) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string_view text = line.substr(indent);
  if (DisplayWidth(line) <= columns || indent + 8 > columns || HasLongWord(text, columns - indent)) {
    folded += line;
    return;
  }
  std::size_t lines = 0;
  for (const std::string& part : Wrap(text, columns - indent)) {
    if (lines++ > 0) folded += '\n';
    folded += std::string(indent, ' ') + part;
  }
}

// Each line for itself.
std::string PrintableLines(std::string_view text) {
  constexpr std::size_t kLongestLine = 100'000;
  std::string printable;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (at > 0) printable += '\n';
    printable += Printable(text.substr(at, end - at), kLongestLine);
    at = end + 1;
  }
  return printable;
}

}  // namespace

bool WantsColor(int descriptor, bool no_color) {
  const char* const unwanted = std::getenv("NO_COLOR");
  return isatty(descriptor) && !no_color && !(unwanted != nullptr && *unwanted);
}

int ColumnsOf(int descriptor) {
  winsize size{};
  const bool known = isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > kLeastColumns ? size.ws_col : kPlainColumns;
}

Output StandardOutput(bool no_color) {
  Output output;
  output.color = WantsColor(STDOUT_FILENO, no_color);
  output.columns = std::clamp(ColumnsOf(STDOUT_FILENO), kPlainColumns, kMostColumns);
  return output;
}

void Print(const Output& output) {
  Write(stdout, output.bytes);
}

void Write(std::FILE* stream, std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stream);
}

std::string Folded(std::string_view text, int columns) {
  std::string folded;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (at > 0) folded += '\n';
    AppendFolded(text.substr(at, end - at), static_cast<std::size_t>(columns), folded);
    at = end + 1;
  }
  return folded;
}

void Say(const std::string& text) {
  const std::string printable = PrintableLines(text);
  const std::string shown = isatty(STDERR_FILENO) ? Folded(printable, ColumnsOf(STDERR_FILENO)) : printable;
  Write(stderr, shown + "\n");
}

}  // namespace loopscope
