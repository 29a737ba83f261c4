#include "profiler/importers/kineto/run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "profiler/importers/json/cursor.h"
#include "profiler/importers/shared/names.h"

namespace loopscope {
namespace {

constexpr std::array<std::string_view, 5> kOfTraces{"traceEvents", "deviceProperties", "distributedInfo",
                                                    "baseTimeNanoseconds", "displayTimeUnit"};
constexpr std::array<std::string_view, 1> kOfEvents{"ph"};

// Looks at the members of an object whose opening bracket is taken, up to one of the keys.
template <std::size_t kKeys>
bool MayHold(JsonCursor& cursor, const std::array<std::string_view, kKeys>& keys) {
  do {
    cursor.SkipBlanks();
    if (cursor.done()) return true;
    if (cursor.Next() != '"') return false;
    std::string_view key;
    if (!cursor.String(key) || std::ranges::find(keys, key) != keys.end()) return true;
    if (!cursor.Take(':')) return cursor.done();
    const char first = cursor.Next();
    if (!cursor.Skip()) return cursor.done() || first == '"' || first == '{' || first == '[';
  } while (cursor.Take(','));
  return cursor.done();
}

}  // namespace

bool MayBeKineto(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  std::string padded(head);
  padded.append(kJsonPadding, '\0');
  JsonCursor cursor(std::string_view(padded).substr(0, head.size()));
  if (cursor.Take('{')) return MayHold(cursor, kOfTraces);
  if (!cursor.Take('[')) return false;
  cursor.SkipBlanks();
  return cursor.done() || (cursor.Take('{') && MayHold(cursor, kOfEvents));
}

namespace {

using nlohmann::json;

constexpr std::int64_t kMaxBaseNs = std::int64_t{1} << 61;
constexpr std::int64_t kEarliestNs = 1'000'000'000'000'000'000;  // 2001: smaller times do not count from 1970

json Member(const KinetoMembers& members, std::string_view key) {
  for (const auto& [name, raw] : members) {
    if (name == key) return json::parse(raw, nullptr, false);
  }
  return {};
}

int WholeOf(const json& object, const char* key, int otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return otherwise;
  const std::int64_t value = found->get<std::int64_t>();
  return value < 0 || value > 1'000'000'000 ? otherwise : static_cast<int>(value);
}

std::string TextOf(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// 12080 → "12.8".
std::string CudaVersion(std::int64_t number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

void AddRank(const KinetoMembers& members, Trace& trace) {
  const json distributed = Member(members, "distributedInfo");
  trace.run.rank = WholeOf(distributed, "rank", 0);
  trace.run.ranks = std::max(WholeOf(distributed, "world_size", 1), trace.run.rank + 1);
  const std::string nccl = TextOf(distributed, "nccl_version");
  if (!nccl.empty()) trace.run.versions["nccl"] = nccl;
}

// The file lists all GPUs of the machine; those that did something belong to the run.
void AddDevices(const KinetoMembers& members, Trace& trace) {
  const json properties = Member(members, "deviceProperties");
  for (Device& device : trace.devices) {
    for (const json& one : properties.is_array() ? properties : json::array()) {
      if (WholeOf(one, "id", -1) == static_cast<int>(device.ordinal)) device.name = TextOf(one, "name");
    }
    if (!device.name.empty()) trace.run.gpus.push_back(device.name);
  }
}

void AddStart(Trace& trace) {
  std::int64_t first_ns = INT64_MAX;
  for (const Thread& thread : trace.threads) first_ns = std::min(first_ns, thread.events.front().start_ns);
  if (first_ns < kEarliestNs || first_ns == INT64_MAX) return;
  trace.run.started =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(first_ns / 1'000'000'000)));
}

}  // namespace

std::int64_t KinetoBaseNs(const KinetoMembers& members) {
  const json base = Member(members, "baseTimeNanoseconds");
  if (!base.is_number_integer()) return 0;
  const std::int64_t base_ns = base.get<std::int64_t>();
  return base_ns < 0 || base_ns > kMaxBaseNs ? 0 : base_ns;
}

void AddKinetoMetadata(const KinetoMembers& members, Trace& trace) {
  trace.run.source = "kineto";
  AddRank(members, trace);
  AddDevices(members, trace);
  AddStart(trace);
  for (const auto& [key, name] :
       {std::pair{"cuda_runtime_version", "cuda"}, std::pair{"cuda_driver_version", "cuda driver"}}) {
    const json value = Member(members, key);
    if (value.is_number_integer() && value.get<std::int64_t>() > 0) {
      trace.run.versions[name] = CudaVersion(value.get<std::int64_t>());
    }
  }
}

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
