#include "profiler/importers/capture/device_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace loopscope {
namespace {

constexpr std::size_t kMinSamples = 3;  // about as many seconds
constexpr double kMinSlowedShare = 0.1;

struct Samples {
  std::size_t all = 0, slowed = 0;
  double least_mhz = 1e9, most_mhz = 0;
};

std::map<std::string, Samples> SamplesOf(const Trace& trace) {
  std::map<std::string, Samples> by_device;
  for (const Mark& mark : trace.marks) {
    if (mark.kind != MarkKind::kDeviceSample) continue;
    const std::string_view name = trace.text(mark.name);
    const std::size_t blank = name.find(' ');
    if (blank == name.npos) continue;
    Samples& samples = by_device[std::string(name.substr(0, blank))];
    const std::string_view what = name.substr(blank + 1);
    const auto value = std::bit_cast<double>(mark.value);
    if (what == "slowed") {
      ++samples.all;
      samples.slowed += value != 0;
    } else if (what == "sm_clock_mhz") {
      samples.least_mhz = std::min(samples.least_mhz, value);
      samples.most_mhz = std::max(samples.most_mhz, value);
    }
  }
  return by_device;
}

}  // namespace

std::vector<std::string> SlowedDevices(const Trace& trace) {
  std::vector<std::string> lines;
  for (const auto& [device, samples] : SamplesOf(trace)) {
    const double share = samples.all == 0 ? 0 : static_cast<double>(samples.slowed) / static_cast<double>(samples.all);
    if (samples.all < kMinSamples || share < kMinSlowedShare) continue;
    std::string line = fmt::format("{} was held back by power, heat or its board in {:.0f} % of {} samples", device,
                                   100 * share, samples.all);
    if (samples.most_mhz > 0) line += fmt::format(" (clock {:.0f} to {:.0f} MHz)", samples.least_mhz, samples.most_mhz);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace loopscope
