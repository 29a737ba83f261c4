#include "profiler/commands/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "profiler/core/printable.h"
#include "profiler/system/terminal.h"

namespace loopscope {
namespace {

constexpr int kBarColumns = 20;

double Share(const Progress& progress) {
  return progress.total > 0 ? std::clamp(static_cast<double>(progress.done) / progress.total, 0.0, 1.0) : 0;
}

}  // namespace

std::string TimeText(double seconds) {
  const long whole = std::lround(std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string ProgressLine(const Progress& progress, int columns) {
  const int full = static_cast<int>(Share(progress) * kBarColumns);
  std::string line = fmt::format("[{}{}] {}/{}", std::string(full, '#'), std::string(kBarColumns - full, '-'),
                                 progress.done, progress.total);
  if (progress.seconds_left >= 0) line += fmt::format("  {} left", TimeText(progress.seconds_left));
  if (!progress.what.empty()) line += "  " + progress.what;
  return Printable(line, static_cast<std::size_t>(std::max(columns, 1)));
}

ProgressBar::ProgressBar(bool quiet, bool no_color)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO)), color_(WantsColor(STDERR_FILENO, no_color)) {}

void ProgressBar::Clear() {
  if (drawn_) Write(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

void ProgressBar::Say(const std::string& line) {
  if (quiet_) return;
  Clear();
  loopscope::Say(line);
}

void ProgressBar::Show(const Progress& progress) {
  if (quiet_) return;
  if (terminal_) {
    const std::string line = ProgressLine(progress, ColumnsOf(STDERR_FILENO) - 1);
    Write(stderr, fmt::format("\r\033[K{}{}{}", color_ ? "\033[36m" : "", line, color_ ? "\033[0m" : ""));
    std::fflush(stderr);
    drawn_ = true;
    return;
  }
  // In a log a line per tenth is enough; before the plan is made each launch is one.
  const int tenth = progress.total > 0 ? progress.done * 10 / progress.total : 0;
  if (tenth == last_tenth_ && progress.done != progress.total) return;
  last_tenth_ = tenth;
  Write(stderr, ProgressLine(progress, 200) + "\n");
}

}  // namespace loopscope
