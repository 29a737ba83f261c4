#include "profiler/launch/target_watch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "probes/environment.h"

namespace loopscope {
namespace {

// std::regex recurses for every character: a longer line could exhaust the stack.
constexpr std::size_t kMostColumns = 2000;

}  // namespace

bool Meets(const Target& target, double value) {
  return target.at_least ? value >= target.value : value <= target.value;
}

double BetterOf(const Target& target, const std::optional<double>& best, double value) {
  if (!best || !std::isfinite(*best)) return value;
  return target.at_least ? std::max(*best, value) : std::min(*best, value);
}

TargetFollower::TargetFollower(const TargetWatch& watch, std::filesystem::path folder, std::filesystem::path output)
    : watch_(watch), mark_(folder / env::kTargetFile), output_(std::move(output)) {
  if (!watch.regex.empty()) regex_.emplace(watch.regex);
}

bool TargetFollower::Reached(double now_s) {
  std::error_code error;
  if (!regex_) return std::filesystem::exists(mark_, error);
  ReadOutput(now_s);
  return reached_s_.has_value();
}

void TargetFollower::ReadOutput(double now_s) {
  if (!stream_.is_open()) stream_.open(output_, std::ios::binary);
  if (!stream_.is_open()) return;
  stream_.clear();  // position of the last end of file
  char block[16 * 1024];
  do {
    stream_.read(block, sizeof block);
    for (std::streamsize at = 0; at < stream_.gcount(); ++at) {
      // A progress bar overwrites its line.
      if (block[at] == '\n' || block[at] == '\r') {
        ReadLine(now_s);
        line_.clear();
      } else if (line_.size() < kMostColumns) {
        line_ += block[at];
      }
    }
  } while (stream_.gcount() > 0 && !reached_s_);
}

void TargetFollower::ReadLine(double now_s) {
  std::smatch match;
  if (reached_s_ || !std::regex_search(line_, match, *regex_)) return;
  const std::string text = match[1];
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) {
    ++unreadable_;
    return;
  }
  best_ = BetterOf(watch_.target, best_, value);
  if (Meets(watch_.target, value)) reached_s_ = now_s;
}

}  // namespace loopscope
