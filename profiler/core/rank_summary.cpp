#include "profiler/core/rank_summary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace loopscope {
namespace {

constexpr std::size_t kMaxCollectives = 1'000'000;

double Ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

// "_allgather_base", "all_gather_into_tensor" and "AllGather" → "allgather"; "" for what ranks do not enter together.
std::string Synchronizing(std::string_view operation) {
  std::string plain;
  for (const char letter : operation) {
    if (letter != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  for (const char* one : {"allreduce", "allgather", "reducescatter", "alltoall", "barrier"}) {
    if (plain.find(one) != plain.npos) return one;
  }
  return "";
}

RankDevice DeviceOf(const Timeline& timeline, const DeviceTimeline& device) {
  const Device& recorded = timeline.trace().devices[device.index()];
  const double parts = std::max<double>(static_cast<double>(timeline.steady().size()), 1);
  const DeviceTimes times = device.times();
  RankDevice summary{recorded.name, recorded.ordinal};
  summary.span_ms = Ms(times.span) / parts;
  summary.busy_ms = Ms(times.busy) / parts;
  summary.compute_ms = Ms(times.compute) / parts;
  summary.memory_ms = Ms(times.memory) / parts;
  summary.communication_ms = Ms(times.communication) / parts;
  const IntervalSet exposed = device.communication().Subtract(device.compute()).Subtract(device.memory());
  summary.exposed_ms = Ms(exposed.Intersect(device.window()).total_ns()) / parts;
  return summary;
}

// As PyTorch names the ranges on its backends' own threads: "gloo:all_reduce", from the start to the last rank's part.
bool IsBackendRange(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
}

// What the probe's NCCL plugin wrote, with the device's times. PyTorch's own operator of that name only enqueues.
bool IsPluginRange(const Event& event, std::string_view name) {
  return event.is_range(RangeCategory::kCommunication) && name.starts_with("nccl:");
}

// Calls `visit` for each of them in the training process.
template <class Visit>
void ForEachBackendRange(const Timeline& timeline, const Visit& visit) {
  const Trace& trace = timeline.trace();
  if (timeline.training_thread() == kNone) return;
  std::vector<bool> named(trace.strings.size());
  for (std::size_t i = 0; i < named.size(); ++i)
    named[i] = IsBackendRange(trace.strings[i]) || trace.strings[i].starts_with("nccl:");
  if (std::ranges::find(named, true) == named.end()) return;
  for (const Thread& thread : trace.threads) {
    if (thread.pid != trace.threads[timeline.training_thread()].pid) continue;
    for (const Event& event : thread.events) {
      if (event.name >= named.size() || !named[event.name]) continue;
      const std::string_view name = trace.text(event.name);
      if (IsBackendRange(name) || IsPluginRange(event, name)) visit(event);
    }
  }
}

// While a backend communicated and the training thread ran no operator, it waited.
IntervalSet HostOnlyCommunicating(const Timeline& timeline) {
  std::vector<Interval> communicating, working;
  ForEachBackendRange(timeline, [&](const Event& event) { communicating.push_back({event.start_ns, event.end_ns}); });
  const IntervalSet& calls = timeline.part(Part::kCommunication);
  if (communicating.empty()) return calls;
  for (const Event& event : timeline.trace().threads[timeline.training_thread()].events) {
    if (event.flags & wire::kOpOutermost && event.kind == EventKind::kOp) {
      working.push_back({event.start_ns, event.end_ns});
    }
  }
  return IntervalSet(std::move(communicating)).Subtract(IntervalSet(std::move(working))).Union(calls);
}

// Time in which a device, or without devices the training thread, did nothing but communicate.
IntervalSet OnlyCommunicating(const Timeline& timeline) {
  if (timeline.devices().empty()) return HostOnlyCommunicating(timeline);
  IntervalSet communicating, working;
  for (const DeviceTimeline& device : timeline.devices()) {
    communicating = communicating.Union(device.communication());
    working = working.Union(device.compute()).Union(device.memory());
  }
  return communicating.Subtract(working);
}

class CollectiveNames {
 public:
  explicit CollectiveNames(const Trace& trace) : trace_(trace) {}

  // Index of the collective's name in names(); kNone for one that ranks do not enter together.
  std::uint32_t Of(std::uint32_t collective) {
    const auto [known, added] = by_collective_.try_emplace(collective, kNone);
    if (!added || collective >= trace_.collectives.size()) return known->second;
    const Collective& one = trace_.collectives[collective];
    return known->second = Of(trace_.text(one.group), trace_.text(one.operation));
  }
  std::uint32_t Of(std::string_view group, std::string_view operation) {
    const std::string synchronizing = Synchronizing(operation);
    if (synchronizing.empty()) return kNone;
    const std::string name = std::string(group) + " " + synchronizing;
    const auto at = std::ranges::find(names_, name);
    const auto index = static_cast<std::uint32_t>(at - names_.begin());
    if (at == names_.end()) names_.push_back(name);
    return index;
  }
  std::vector<std::string> Take() { return std::move(names_); }

 private:
  const Trace& trace_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_collective_;
  std::vector<std::string> names_;
};

void AddCollectives(const Timeline& timeline, RankSummary& summary) {
  const Trace& trace = timeline.trace();
  CollectiveNames names(trace);
  std::vector<bool> steady(timeline.steps().size());
  for (const std::uint32_t step : timeline.steady()) steady[step] = true;
  std::vector<std::pair<std::int64_t, RankCollective>> all;
  for (const Device& device : trace.devices) {
    for (const DeviceEvent& event : device.events) {
      if (event.kind != DeviceKind::kCommunication || event.group >= trace.collectives.size()) continue;
      const std::uint32_t name = names.Of(event.group);
      if (name == kNone || all.size() >= kMaxCollectives) continue;
      const int step = timeline.step_at(event.start_ns);
      all.emplace_back(event.start_ns, RankCollective{name, trace.collectives[event.group].sequence,
                                                      event.duration_ns(), step >= 0 && steady[step]});
    }
  }
  if (all.empty()) {
    ForEachBackendRange(timeline, [&](const Event& event) {
      const std::string_view text = trace.text(event.name);
      const std::uint32_t name = names.Of(text.substr(0, text.find(':')), text);
      if (name == kNone || all.size() >= kMaxCollectives) return;
      const int step = timeline.step_at(event.start_ns);
      all.emplace_back(event.start_ns, RankCollective{name, 0, event.duration_ns(), step >= 0 && steady[step]});
    });
  }
  std::ranges::stable_sort(all, {}, [](const auto& one) { return one.first; });
  for (const auto& [start_ns, collective] : all) summary.collectives.push_back(collective);
  summary.names = names.Take();
}

}  // namespace

double RankSummary::own_ms() const {
  if (own_step_ms.empty()) return 0;
  return std::accumulate(own_step_ms.begin(), own_step_ms.end(), 0.0) / static_cast<double>(own_step_ms.size());
}

double RankSummary::exposed_ms() const {
  return own_step_ms.empty() ? 0 : mean_step_ms - own_ms();
}

RankSummary SummarizeRank(const Timeline& timeline, std::string input) {
  RankSummary summary;
  summary.input = std::move(input);
  summary.run = timeline.trace().run;
  if (summary.run.ranks <= 1) summary.run.rank = -1;
  summary.events = timeline.trace().quality.events;
  summary.steps = static_cast<int>(timeline.steady().size());
  summary.why_no_steps = timeline.why_no_steps();
  for (const DeviceTimeline& device : timeline.devices()) summary.devices.push_back(DeviceOf(timeline, device));
  AddCollectives(timeline, summary);
  if (summary.steps == 0) return summary;
  summary.mean_step_ms = timeline.mean_step_ms();
  if (timeline.loader_known()) summary.loader_wait_ms = timeline.part_ms(Part::kLoaderWait);
  summary.communication_ms = timeline.part_ms(Part::kCommunication);
  const IntervalSet communicating = OnlyCommunicating(timeline);
  summary.communication_seen = !summary.collectives.empty() || !communicating.intervals().empty();
  for (const std::uint32_t index : timeline.steady()) {
    const Interval& step = timeline.steps()[index].time;
    summary.own_step_ms.push_back(static_cast<float>(Ms(step.length() - communicating.total_ns(step))));
  }
  return summary;
}

}  // namespace loopscope
