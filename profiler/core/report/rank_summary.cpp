#include "profiler/core/report/rank_summary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "profiler/core/timeline/collectives.h"
#include "profiler/core/timeline/communication.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr std::size_t kMaxCollectives = 1'000'000;

double Ms(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

// "" for operations that ranks do not enter together.
std::string Synchronizing(std::string_view operation) {
  const std::string plain = PlainOperation(operation);
  for (const char* one : {"allreduce", "allgather", "reducescatter", "alltoall", "barrier"}) {
    if (plain == one) return plain;
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

class CollectiveNames {
 public:
  explicit CollectiveNames(const Trace& trace) : trace_(trace) {}

  // Index of the collective's name in names(); kNone for one that ranks do not enter together.
  std::uint32_t Of(std::uint32_t collective) {
    const auto [known, added] = by_collective_.try_emplace(collective, kNone);
    if (!added || collective >= trace_.collectives.size()) return known->second;
    const Collective& one = trace_.collectives[collective];
    return known->second = Of(GroupText(trace_, one.group, one.purpose), trace_.text(one.operation));
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
  const auto in_steady = [&](std::int64_t time_ns) {
    const int step = timeline.step_at(time_ns);
    return step >= 0 && steady[static_cast<std::size_t>(step)];
  };
  std::vector<std::pair<std::int64_t, RankCollective>> all;
  for (const DeviceTimeline& device : timeline.devices()) {
    const std::vector<DeviceEvent>& events = trace.devices[device.index()].events;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const DeviceEvent& event = events[i];
      if (event.kind != DeviceKind::kCommunication || event.group >= trace.collectives.size()) continue;
      const std::uint32_t name = names.Of(event.group);
      if (name == kNone || all.size() >= kMaxCollectives) continue;
      const Collective& collective = trace.collectives[event.group];
      RankCollective one{name, collective.sequence, event.duration_ns(), 0, in_steady(event.start_ns)};
      const EventRef launch = device.launch(i);
      if (launch.thread != kNone) one.phase = PhaseAt(timeline, timeline.event(launch).start_ns);
      one.bytes = event.bytes;
      one.ranks = collective.ranks;
      all.emplace_back(event.start_ns, one);
    }
  }
  if (all.empty()) {
    ForEachBackendRange(timeline, [&](const Event& event) {
      const std::string_view text = trace.text(event.name);
      const std::uint32_t name = names.Of(text.substr(0, text.find(':')), text);
      if (name == kNone || all.size() >= kMaxCollectives) return;
      RankCollective one{name, 0, event.duration_ns(), 0, in_steady(event.start_ns)};
      one.phase = PhaseAt(timeline, event.start_ns);
      all.emplace_back(event.start_ns, one);
    });
  }
  std::ranges::stable_sort(all, {}, [](const auto& one) { return one.first; });
  std::int64_t covered_ns = std::numeric_limits<std::int64_t>::min();
  for (auto& [start_ns, collective] : all) {
    const std::int64_t end_ns = start_ns + collective.length_ns;
    collective.added_ns = std::max<std::int64_t>(0, end_ns - std::max(start_ns, covered_ns));
    covered_ns = std::max(covered_ns, end_ns);
    summary.collectives.push_back(collective);
  }
  summary.names = names.Take();
}

constexpr std::size_t kMaxEntered = 10'000;  // the last ones: more than a flight recorder keeps

std::vector<RankEntered> EnteredOf(const Trace& trace) {
  std::vector<RankEntered> all;
  const std::size_t first = trace.entered.size() - std::min(trace.entered.size(), kMaxEntered);
  for (std::size_t i = first; i < trace.entered.size(); ++i) {
    const EnteredCollective& one = trace.entered[i];
    RankEntered entered;
    entered.group = GroupText(trace, one.group, one.purpose);
    entered.operation = trace.text(one.operation);
    entered.sequence = one.sequence;
    entered.entered_ns = one.entered_ns;
    entered.ended_ns = one.ended_ns;
    entered.bytes = one.bytes;
    entered.ended = one.ended;
    entered.between_two = one.between_two;
    if (one.stack < trace.stacks.size() && !trace.stacks[one.stack].frames.empty()) {
      entered.where = trace.stacks[one.stack].frames.front();
    }
    all.push_back(std::move(entered));
  }
  return all;
}

constexpr std::size_t kFirstLosses = 8;

std::vector<double> FirstLosses(const Trace& trace) {
  std::vector<double> losses;
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kLoss && losses.size() < kFirstLosses) {
      losses.push_back(std::bit_cast<double>(mark.value));
    }
  }
  return losses;
}

void AddWhere(const Timeline& timeline, EventRef ref, std::optional<Where>& where) {
  if (where) return;
  if (const Where* known = timeline.where(ref)) where = *known;
}

RankOutput OutputOf(const Timeline& timeline) {
  RankOutput output;
  std::vector<bool> wrote(timeline.steps().size());
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread() || !event.is_range(RangeCategory::kOutput)) return;
    output.ms_per_step += Ms(event.duration_ns());
    wrote[static_cast<std::size_t>(timeline.step_at(event.start_ns))] = true;
    AddWhere(timeline, ref, output.where);
  });
  const auto steps = static_cast<double>(timeline.steady().size());
  output.ms_per_step /= steps;
  output.steps_share = static_cast<double>(std::ranges::count(wrote, true)) / steps;
  return output;
}

// Each backward pass sums the map of used parameters over the ranks: one integer per parameter. Each parameter that got
// a gradient has a node that accumulates it.
UnusedSearch UnusedSearchOf(const Timeline& timeline, const std::vector<HostCollective>& collectives) {
  constexpr std::string_view kSearch = "reducer::search_unused_parameters";
  UnusedSearch search;
  std::map<int, std::pair<std::int64_t, std::int64_t>> passes;  // by pass: parameters, and those with a gradient
  for (const HostCollective& one : collectives) {
    if (one.in_backward() && one.sized() && one.dtype == "i32") passes[one.pass].first += one.elements;
  }
  const auto spans = timeline.part(Part::kBackward).intervals();
  timeline.ForEachSteady([&](EventRef ref) {
    const std::string_view name = timeline.name(ref);
    const Event& event = timeline.event(ref);
    if (event.kind != EventKind::kOp) return;
    if (name.ends_with(kSearch)) {
      ++search.per_step;
      search.ms_per_step += Ms(event.duration_ns());
      AddWhere(timeline, ref, search.where);
    } else if (ops::IsAccumulateNode(name)) {
      for (auto& [pass, counts] : passes) {
        const Interval& span = spans[static_cast<std::size_t>(pass)];
        if (event.start_ns >= span.start_ns && event.start_ns < span.end_ns) ++counts.second;
      }
    }
  });
  const auto steps = static_cast<double>(timeline.steady().size());
  search.per_step /= steps;
  search.ms_per_step /= steps;
  search.passes_checked = static_cast<int>(passes.size());
  search.passes_unused = static_cast<int>(
      std::ranges::count_if(passes, [](const auto& one) { return one.second.second < one.second.first; }));
  return search;
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
  if (!summary.devices.empty()) summary.why_no_devices = timeline.device_coverage().why_not;
  AddCollectives(timeline, summary);
  summary.entered = EnteredOf(timeline.trace());
  summary.all_steps = static_cast<int>(timeline.steps().size());
  if (!timeline.steps().empty()) {
    summary.trained = {timeline.steps().front().time.start_ns, timeline.steps().back().time.end_ns};
  }
  summary.facts = timeline.trace().facts;
  summary.knobs = timeline.trace().knobs;
  summary.first_losses = FirstLosses(timeline.trace());
  if (summary.steps == 0) return summary;
  const std::vector<HostCollective> collectives = HostCollectives(timeline);
  summary.gradient_exchanges =
      static_cast<double>(std::ranges::count_if(collectives, &HostCollective::in_backward)) / summary.steps;
  summary.unused_search = UnusedSearchOf(timeline, collectives);
  summary.output = OutputOf(timeline);
  summary.mean_step_ms = timeline.mean_step_ms();
  if (timeline.loader_known()) summary.loader_wait_ms = timeline.part_ms(Part::kLoaderWait);
  const IntervalSet communicating = OnlyCommunicating(timeline);
  // Without device records, the host's calls show when exchanges were requested, not when they ran.
  const bool shown = !timeline.device_coverage().used || timeline.device_coverage().why_not.empty();
  summary.communication_seen = !summary.collectives.empty() || (shown && !communicating.intervals().empty());
  for (const std::uint32_t index : timeline.steady()) {
    const Interval& step = timeline.steps()[index].time;
    summary.own_step_ms.push_back(static_cast<float>(Ms(step.length() - communicating.total_ns(step))));
  }
  summary.communication_ms =
      timeline.devices().empty() ? MsInAStep(timeline, communicating) : timeline.part_ms(Part::kCommunication);
  return summary;
}

}  // namespace loopscope
