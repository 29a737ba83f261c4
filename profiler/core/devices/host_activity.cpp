#include "profiler/core/devices/host_activity.h"

#include <algorithm>
#include <utility>

#include "profiler/core/devices/device_links.h"
#include "profiler/core/devices/device_timeline.h"

namespace loopscope {
namespace {

bool Issues(const Event& event) {
  if (event.kind == EventKind::kOp) return true;
  switch (static_cast<RangeCategory>(event.sub)) {
    case RangeCategory::kUser:
    case RangeCategory::kLoader:
    case RangeCategory::kEvaluation:
    case RangeCategory::kWait:
      return false;
    default:
      return true;
  }
}

// Merges intervals that touch or are at most `gap_ns` apart.
IntervalSet Bridged(std::vector<Interval> intervals, std::int64_t gap_ns) {
  for (Interval& one : intervals) one.end_ns += gap_ns;
  const IntervalSet wide(std::move(intervals));
  std::vector<Interval> bridged(wide.intervals().begin(), wide.intervals().end());
  for (Interval& one : bridged) one.end_ns -= gap_ns;
  return IntervalSet(std::move(bridged));
}

// One thread's share of HostActivity, in lists.
struct Collected {
  std::vector<Interval> communication, copies, syncs, issuing;
  std::vector<HostActivity::Blocking> blocking;
  std::int64_t covered_ns = INT64_MIN;  // by what this thread issued so far

  void Add(const Event& event, HostCallReader& calls) {
    const Interval time{event.start_ns, event.end_ns};
    if (event.is_range(RangeCategory::kCommunication)) communication.push_back(time);
    if (event.is_range(RangeCategory::kCopyToDevice)) copies.push_back(time);
    const bool sync = event.is_range(RangeCategory::kSync);
    if (sync || event.is_range(RangeCategory::kDeviceCall)) {
      const HostCall call = calls.Read(event);
      if (call == HostCall::kCopyToDevice) copies.push_back(time);
      if (call == HostCall::kWait) syncs.push_back(time);
      if (call != HostCall::kIssue) blocking.push_back({time, call == HostCall::kCopyToDevice});
    }
    if (!Issues(event) || event.end_ns <= covered_ns) return;
    // Merged on the fly: one interval per op of a long trace is too many to keep.
    const bool goes_on = covered_ns != INT64_MIN && event.start_ns <= covered_ns + kMaxIssueGapNs;
    covered_ns = event.end_ns;
    goes_on ? void(issuing.back().end_ns = event.end_ns) : issuing.push_back(time);
  }
};

}  // namespace

HostActivity HostActivityOf(const HostView& view) {
  const DeviceCopies copies(view.trace);
  Collected all;
  // Without a training thread any thread may be the one that launches.
  std::vector<std::uint32_t> threads(view.threads.begin(), view.threads.end());
  for (std::uint32_t t = 0; view.threads.empty() && t < view.trace.threads.size(); ++t) {
    threads.push_back(t);
  }
  for (const std::uint32_t thread : threads) {
    HostCallReader calls(copies);
    all.covered_ns = INT64_MIN;
    for (const Event& event : view.trace.threads[thread].events) all.Add(event, calls);
  }
  std::ranges::sort(all.blocking, {}, [](const HostActivity::Blocking& one) { return one.time.start_ns; });
  HostActivity host;
  host.loader = view.loader_wait;
  host.communication = IntervalSet(std::move(all.communication));
  host.copies = IntervalSet(std::move(all.copies));
  host.syncs = IntervalSet(std::move(all.syncs));
  host.issuing = Bridged(std::move(all.issuing), kMaxIssueGapNs);
  host.blocking = std::move(all.blocking);
  return host;
}

}  // namespace loopscope
