#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>

#include "profiler/core/printable.h"
#include "reports/html/data.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr int kAround = 2;
constexpr std::size_t kColumns = 160;
constexpr std::uintmax_t kMostBytes = 4'000'000;

// A report may come from elsewhere: it must not pull any file of this machine into a page that is passed on.
bool IsSource(const fs::path& path) {
  constexpr std::array<std::string_view, 13> kExtensions = {".py",  ".pyx", ".cpp", ".cc",  ".cxx", ".c",  ".cu",
                                                            ".cuh", ".h",   ".hpp", ".hxx", ".ipp", ".inl"};
  const std::string extension = path.extension();
  return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

// Seconds since the epoch of a time like "2026-11-21T09:00:00Z".
std::optional<std::time_t> SecondsOf(const std::string& started) {
  std::tm time{};
  const char* const end = strptime(started.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (end == nullptr) return std::nullopt;
  return timegm(&time);
}

// Why the file cannot be quoted; empty when it can.
std::string Obstacle(const fs::path& path, const RunInfo& run) {
  if (!IsSource(path)) return "not a source file that is quoted";
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return "the source is not here (any more)";
  if (static_cast<std::uintmax_t>(facts.st_size) > kMostBytes) return "the source is too large to quote";
  const std::optional<std::time_t> started = SecondsOf(run.started);
  if (!started) return "when the run began is not known, so the source may have changed since";
  if (facts.st_mtime > *started) return "the source has changed since the run";
  return "";
}

std::string Untabbed(const std::string& line) {
  std::string text;
  for (const char byte : line) byte == '\t' ? text.append(4 - text.size() % 4, ' ') : text.append(1, byte);
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return Printable(text, kColumns);
}

}  // namespace

SourceQuote QuoteSource(const Where& where, const RunInfo& run) {
  SourceQuote quote;
  if (where.line <= 0 || where.path.empty()) return quote;
  const fs::path path = fs::path(run.working_directory) / where.path;
  quote.why_not = Obstacle(path, run);
  if (!quote.why_not.empty()) return quote;
  std::ifstream file(path, std::ios::binary);
  const int first = std::max(1, where.line - kAround), last = where.line > 1000000 ? where.line : where.line + kAround;
  std::string line;
  for (int number = 1; number <= last && std::getline(file, line); ++number) {
    if (number >= first) quote.lines.push_back(Untabbed(RedactedSource(line)));
  }
  if (first + static_cast<int>(quote.lines.size()) <= where.line) {
    return {0, {}, "the source has no such line (any more)"};
  }
  quote.first_line = first;
  return quote;
}

}  // namespace loopscope
