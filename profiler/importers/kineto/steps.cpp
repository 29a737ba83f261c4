#include "profiler/importers/kineto/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "profiler/importers/shared/nvtx_names.h"

namespace loopscope {
namespace {

constexpr std::size_t kMinSteps = 3;  // with fewer, a user's own range is not taken for a step

struct StepRange {
  std::int64_t start_ns, end_ns;
  StringId name;
  std::uint32_t thread;
  std::size_t events = 0;  // of its thread that begin inside
};

struct Group {
  int likeness = 0;
  std::vector<StepRange> ranges;
  std::size_t overlapping = 0;  // began before the previous one ended, which is cut there
  std::size_t inside = 0;       // inside another: left out
};

bool Better(const Group& a, const Group& b) {
  return std::pair(a.likeness, a.ranges.size()) > std::pair(b.likeness, b.ranges.size());
}

void CountEvents(const Trace& trace, StepRange& range) {
  const auto starts_before = [](const Event& event, std::int64_t time) { return event.start_ns < time; };
  const std::vector<Event>& events = trace.threads[range.thread].events;
  const auto first = std::lower_bound(events.begin(), events.end(), range.start_ns, starts_before);
  range.events = static_cast<std::size_t>(std::lower_bound(first, events.end(), range.end_ns, starts_before) - first);
}

// The ranges of the surest kind, with one name (its number aside), on one thread; only the outermost ones.
Group StepRanges(const Trace& trace) {
  std::vector<int> likeness(trace.strings.size());
  bool any = false;
  for (std::size_t i = 0; i < trace.strings.size(); ++i) any |= (likeness[i] = StepLikeness(trace.strings[i])) > 0;
  std::map<std::pair<std::uint32_t, std::string_view>, Group> groups;
  for (std::uint32_t t = 0; any && t < trace.threads.size(); ++t) {
    for (const Event& event : trace.threads[t].events) {
      if (likeness[event.name] == 0 || !event.is_range(RangeCategory::kUser)) continue;
      Group& group = groups[{t, StepStem(trace.strings[event.name])}];
      group.likeness = likeness[event.name];
      if (!group.ranges.empty() && event.start_ns < group.ranges.back().end_ns) {
        StepRange& before = group.ranges.back();
        const bool inside = event.end_ns <= before.end_ns;
        ++(inside ? group.inside : group.overlapping);
        if (inside) continue;
        before.end_ns = event.start_ns;
      }
      group.ranges.push_back({event.start_ns, event.end_ns, event.name, t});
    }
  }
  Group best;
  for (auto& [key, group] : groups) {
    const bool kineto = key.second == "ProfilerStep";
    if (!kineto && group.ranges.size() < kMinSteps) continue;
    group.likeness += kineto;
    if (Better(group, best)) best = std::move(group);
  }
  for (StepRange& range : best.ranges) CountEvents(trace, range);
  return best;
}

// Drops the first and the last range if the start and the end of the recording cut them off.
void DropCutOff(Trace& trace, std::vector<StepRange>& ranges) {
  if (ranges.size() < kMinSteps) return;
  std::vector<std::size_t> counts;
  for (const StepRange& range : ranges) counts.push_back(range.events);
  std::ranges::nth_element(counts, counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2));
  const std::size_t median = counts[counts.size() / 2];
  const auto drop = [&](auto at) {
    if (at->events * 2 >= median) return;
    trace.quality.warnings.push_back(trace.strings[at->name] + " was cut off by the recording and is left out");
    ranges.erase(at);
  };
  drop(ranges.end() - 1);
  drop(ranges.begin());
}

void WarnOfOverlaps(const Group& group, std::string_view stem, Quality& quality) {
  if (group.overlapping > 0) {
    quality.warnings.push_back(fmt::format(
        "{} of {} ranges {} begin before the one before them ends: each step is taken to end where the next begins",
        group.overlapping, group.ranges.size(), stem));
  }
  if (group.inside > 0) {
    quality.warnings.push_back(fmt::format("{} of {} ranges {} lie inside another and are not counted as steps",
                                           group.inside, group.inside + group.ranges.size(), stem));
  }
}

bool IsFirstOfProgram(std::string_view name) {
  const std::string_view number = name.substr(StepStem(name).size());
  return number == "#0";
}

void MarkRanges(Trace& trace, Group group) {
  WarnOfOverlaps(group, StepStem(trace.strings[group.ranges.front().name]), trace.quality);
  DropCutOff(trace, group.ranges);
  const StepRange first = group.ranges.front();
  const auto name = static_cast<StringId>(trace.strings.size());
  trace.strings.push_back(std::string(StepStem(trace.strings[first.name])));
  const bool enough = group.ranges.size() >= kMinSteps;
  // Time before the first whole step is not a step; a recording that begins later is past its warm-up.
  if (enough) trace.marks.push_back({first.start_ns, MarkKind::kStepEnd, name, 0, first.thread});
  const bool cold = IsFirstOfProgram(trace.strings[first.name]);
  if (enough && !cold) trace.marks.push_back({first.start_ns, MarkKind::kMeasureBegin, name, 0, first.thread});
  for (const StepRange& range : group.ranges) {
    trace.marks.push_back({range.end_ns, MarkKind::kStepEnd, name, 0, range.thread});
  }
  const StepRange& last = group.ranges.back();
  trace.marks.push_back({last.end_ns, MarkKind::kMeasureEnd, name, group.ranges.size(), last.thread});
}

// Assume that the optimizer with most time has most parameters.
void MarkOptimizer(Trace& trace) {
  std::map<std::pair<std::uint32_t, StringId>, std::int64_t> times_ns;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    for (const Event& event : trace.threads[t].events) {
      if (event.is_range(RangeCategory::kOptimizer)) times_ns[{t, event.name}] += event.duration_ns();
    }
  }
  if (times_ns.empty()) return;
  const auto [thread, optimizer] =
      std::ranges::max_element(times_ns, {}, [](const auto& one) { return one.second; })->first;
  const auto name = static_cast<StringId>(trace.strings.size());
  trace.strings.push_back("optimizer:" + trace.strings[optimizer]);
  std::int64_t covered_to = INT64_MIN;
  for (const Event& event : trace.threads[thread].events) {
    if (!event.is_range(RangeCategory::kOptimizer) || event.name != optimizer || event.start_ns < covered_to) continue;
    covered_to = event.end_ns;
    trace.marks.push_back({event.end_ns, MarkKind::kStepEnd, name, 0, thread});
  }
}

}  // namespace

void AddKinetoSteps(Trace& trace) {
  Group steps = StepRanges(trace);
  if (steps.ranges.empty()) {
    MarkOptimizer(trace);
  } else {
    MarkRanges(trace, std::move(steps));
  }
  std::ranges::stable_sort(trace.marks, {}, &Mark::time_ns);
}

}  // namespace loopscope
