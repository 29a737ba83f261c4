#include "profiler/core/timeline/collectives.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/core/timeline/communication.h"

namespace loopscope {
namespace {

using Key = std::tuple<std::string, std::string, int>;  // group, operation, phase or -1

struct Row {
  CollectiveTimes times;
  std::vector<Interval> spans;
};

class Rows {
 public:
  CollectiveTimes& Add(std::string group, std::string operation, std::optional<Part> phase, Interval span) {
    const Key key{group, operation, phase ? static_cast<int>(*phase) : -1};
    Row& row = rows_[key];
    if (row.times.count++ == 0) {
      row.times.group = std::move(group);
      row.times.operation = std::move(operation);
      row.times.phase = phase;
    }
    row.spans.push_back(span);
    return row.times;
  }
  // `only`: time in which the rank did nothing but communicate.
  std::vector<CollectiveTimes> Take(const IntervalSet& window, const IntervalSet& only) {
    std::vector<CollectiveTimes> all;
    for (auto& [key, row] : rows_) {
      const IntervalSet spans = IntervalSet(std::move(row.spans)).Intersect(window);
      row.times.total_ns = spans.total_ns();
      row.times.exposed_ns = spans.Intersect(only).total_ns();
      all.push_back(std::move(row.times));
    }
    std::ranges::stable_sort(all, [](const CollectiveTimes& a, const CollectiveTimes& b) {
      return std::pair(a.exposed_ns, a.total_ns) > std::pair(b.exposed_ns, b.total_ns);
    });
    return all;
  }
  bool empty() const { return rows_.empty(); }

 private:
  std::map<Key, Row> rows_;
};

IntervalSet WindowOf(const Timeline& timeline) {
  std::vector<Interval> steps;
  for (const std::uint32_t step : timeline.steady()) steps.push_back(timeline.steps()[step].time);
  if (!steps.empty() || timeline.devices().empty()) return IntervalSet(std::move(steps));
  IntervalSet all;
  for (const DeviceTimeline& device : timeline.devices()) all = all.Union(device.window());
  return all;
}

void AddDevices(const Timeline& timeline, Rows& rows) {
  const Trace& trace = timeline.trace();
  ForEachWork(timeline, [&](const DeviceTimeline& device, std::uint32_t i, const DeviceEvent& event) {
    if (event.kind != DeviceKind::kCommunication || event.group >= trace.collectives.size()) return;
    const Collective& one = trace.collectives[event.group];
    const EventRef launch = device.launch(i);
    const auto phase = launch.thread == kNone ? std::nullopt : PhaseAt(timeline, timeline.event(launch).start_ns);
    CollectiveTimes& times = rows.Add(GroupText(trace, one.group, one.purpose),
                                      PlainOperation(trace.text(one.operation)), phase, {event.start_ns, event.end_ns});
    times.ranks = std::max(times.ranks, one.ranks);
    times.bytes += event.bytes;
    const double factor = BusFactor(times.operation, one.ranks);
    if (event.bytes == 0 || factor == 0) return;
    times.sum_ns += event.duration_ns();
    times.bus_bytes += factor * static_cast<double>(event.bytes);
  });
}

// Ranges of a backend say when, the operators that asked for them how much.
void AddBackend(const Timeline& timeline, Rows& rows) {
  const Trace& trace = timeline.trace();
  std::map<std::string, std::uint64_t> bytes;  // by operation, of operators whose size was recorded
  std::map<std::string, std::uint64_t> sized, seen;
  for (const HostCollective& one : HostCollectives(timeline)) {
    const std::string operation = PlainOperation(one.operation);
    ++seen[operation];
    if (!one.sized()) continue;
    bytes[operation] += static_cast<std::uint64_t>(one.bytes);
    ++sized[operation];
  }
  ForEachBackendRange(timeline, [&](const Event& event) {
    const int step = timeline.step_at(event.start_ns);
    if (step < 0 || !std::ranges::binary_search(timeline.steady(), static_cast<std::uint32_t>(step))) return;
    const std::string_view name = trace.text(event.name);
    const std::size_t colon = name.find(':');
    const std::string operation = PlainOperation(name.substr(colon + 1));
    CollectiveTimes& times = rows.Add(std::string(name.substr(0, colon)), operation, PhaseAt(timeline, event.start_ns),
                                      {event.start_ns, event.end_ns});
    if (sized[operation] > 0 && sized[operation] == seen[operation]) times.bytes += bytes[operation] / sized[operation];
  });
}

}  // namespace

std::string OfGroup(std::string_view operation, std::string_view group) {
  std::string text(operation);
  if (!group.empty()) text.append(" of group ").append(group);
  return text;
}

std::string GroupText(const Trace& trace, StringId group, StringId purpose) {
  const std::string name(trace.text(group));
  return purpose == 0 ? name : name + " (" + std::string(trace.text(purpose)) + ")";
}

std::string PlainOperation(std::string_view operation) {
  std::string plain;
  for (const char letter : operation) {
    if (letter != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  for (const char* one : {"allreduce", "allgather", "reducescatter", "alltoall", "barrier", "broadcast", "reduce"}) {
    if (plain.find(one) != plain.npos) return one;
  }
  return plain;
}

std::optional<Part> PhaseAt(const Timeline& timeline, std::int64_t host_ns) {
  const auto lies_in = [&](Part part) {
    const auto all = timeline.part(part).intervals();
    const auto after = std::ranges::upper_bound(all, host_ns, {}, &Interval::start_ns);
    return after != all.begin() && (after - 1)->end_ns > host_ns;
  };
  for (const Part part : {Part::kBackward, Part::kOptimizer, Part::kForward}) {
    if (lies_in(part)) return part;
  }
  // While the host waits for a collective it is in no part that computes: one before a backward pass of its step
  // belongs to the forward pass.
  const int step = timeline.step_at(host_ns);
  if (step < 0 || lies_in(Part::kLoaderWait)) return std::nullopt;
  const auto passes = timeline.part(Part::kBackward).intervals();
  const auto next = std::ranges::upper_bound(passes, host_ns, {}, &Interval::start_ns);
  const std::int64_t end_ns = timeline.steps()[static_cast<std::size_t>(step)].time.end_ns;
  if (next == passes.end() || next->start_ns >= end_ns) return std::nullopt;
  return Part::kForward;
}

double BusFactor(std::string_view plain_operation, int ranks) {
  if (ranks < 2) return 0;
  const double n = ranks;
  if (plain_operation == "allreduce") return 2 * (n - 1) / n;
  const bool parts =
      plain_operation == "allgather" || plain_operation == "reducescatter" || plain_operation == "alltoall";
  return parts ? (n - 1) / n : 1;
}

std::vector<CollectiveTimes> CollectivesOf(const Timeline& timeline) {
  Rows rows;
  AddDevices(timeline, rows);
  if (rows.empty() && timeline.training_thread() != kNone) AddBackend(timeline, rows);
  if (rows.empty()) return {};
  return rows.Take(WindowOf(timeline), OnlyCommunicating(timeline));
}

}  // namespace loopscope
