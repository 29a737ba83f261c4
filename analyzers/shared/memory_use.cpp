#include "analyzers/shared/memory_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "analyzers/shared/devices.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

std::uint64_t BytesOf(std::optional<std::int64_t> number) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, number.value_or(0)));
}

std::uint64_t PeakOf(const Trace& trace, std::string_view name) {
  std::uint64_t peak = 0;
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kPeakBytes && trace.text(mark.name) == name) peak = std::max(peak, mark.value);
  }
  return peak;
}

void SayUnknown(MemoryUse& use) {
  if (use.peak_bytes == 0) use.why_unknown = fmt::format("the peak of {} was not recorded", use.name);
  if (use.limit_bytes == 0) use.why_unknown = fmt::format("how much there is of {} was not recorded", use.name);
}

MemoryUse OfDevice(const Trace& trace, std::uint32_t number) {
  MemoryUse use{.name = fmt::format("cuda:{}", number)};
  use.peak_bytes = PeakOf(trace, use.name);
  use.limit_bytes = BytesOf(NumberFact(trace, "device.{}.memory_bytes", std::to_string(number)));
  use.name = fmt::format("the memory of {}", use.name);
  SayUnknown(use);
  return use;
}

// For devices that did work; if that was not recorded, for those whose memory was used.
std::set<std::uint32_t> NumbersOf(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  std::set<std::uint32_t> numbers;
  for (const DeviceTimeline& device : timeline.devices()) numbers.insert(trace.devices[device.index()].ordinal);
  if (!numbers.empty()) return numbers;
  for (const Mark& mark : trace.marks) {
    constexpr std::string_view kDevice = "cuda:";
    const std::string_view name = trace.text(mark.name);
    if (mark.kind != MarkKind::kPeakBytes || !name.starts_with(kDevice)) continue;
    std::uint32_t number = 0;
    std::from_chars(name.data() + kDevice.size(), name.data() + name.size(), number);
    numbers.insert(number);
  }
  return numbers;
}

}  // namespace

MemoryUse MemoryUseOf(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  if (!OnDevice(timeline)) {
    MemoryUse use{.name = "this machine's memory"};
    use.peak_bytes = PeakOf(trace, "host");
    use.limit_bytes = BytesOf(NumberFact(trace, "memory.limit_bytes"));
    SayUnknown(use);
    return use;
  }
  MemoryUse fullest;
  for (const std::uint32_t number : NumbersOf(timeline)) {
    MemoryUse use = OfDevice(trace, number);
    if (!use.known()) return use;
    if (fullest.name.empty() || use.pct() > fullest.pct()) fullest = use;
  }
  if (!fullest.name.empty()) return fullest;
  return {.name = "the GPU's memory", .why_unknown = "the peak of the GPU's memory was not recorded"};
}

std::string BytesText(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.1f} GB", bytes / 1e9) : fmt::format("{:.0f} MB", bytes / 1e6);
}

std::string UseText(const MemoryUse& use) {
  return fmt::format("{} of {} ({:.0f} %)", BytesText(static_cast<double>(use.peak_bytes)),
                     BytesText(static_cast<double>(use.limit_bytes)), use.pct());
}

}  // namespace loopscope
