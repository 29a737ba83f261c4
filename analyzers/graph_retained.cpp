#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analyzers/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/op_names.h"

namespace loopscope {
namespace {

constexpr int kMinCrossings = 3;                       // steps in a row whose sum holds the step before
constexpr double kNegligibleBytesPerStep = 16 * 1024;  // growth below this is no reason to hurry

// How many steps a sum reaches back: each addition is linked to the one that made its first input.
class Chains {
 public:
  explicit Chains(const Timeline& timeline) {
    const NameSet adds(timeline.trace(), ops::IsAccumulate);
    timeline.ForEachDetailed([&](EventRef ref) {
      const Event& event = timeline.event(ref);
      const EventDetail* detail = timeline.detail(ref);
      if (!adds.Has(event) || !(event.flags & wire::kOpGraph) || !detail) return;
      Link(timeline, adds, ref, timeline.producer(detail->producer));
    });
  }

  // The additions that reach back `kMinCrossings` steps or more, by call site.
  const CallSites& sites() const { return sites_; }

 private:
  void Link(const Timeline& timeline, const NameSet& adds, EventRef ref, EventRef producer) {
    if (!Exists(producer) || !adds.Has(timeline.event(producer))) return;
    const int step = timeline.step_at(timeline.event(ref).start_ns);
    const int made = timeline.step_at(timeline.event(producer).start_ns);
    if (made > step || timeline.event(producer).start_ns >= timeline.event(ref).start_ns) return;
    const auto before = crossings_.find(producer.index);
    const int crossings = (before == crossings_.end() ? 0 : before->second) + (made < step ? 1 : 0);
    crossings_[ref.index] = crossings;
    if (crossings >= kMinCrossings && made < step) sites_.Add(timeline.where(ref));
  }

  std::unordered_map<std::uint32_t, int> crossings_;  // by event of the training thread
  CallSites sites_;
};

// Mean growth of the resident memory per step, from the first steady step to the last; empty when it was not recorded.
std::optional<double> GrowthBytesPerStep(const Timeline& timeline) {
  const std::int64_t from = timeline.steps()[timeline.steady().front()].time.start_ns;
  const std::int64_t to = timeline.steps()[timeline.steady().back()].time.end_ns;
  std::optional<double> first, last;
  int marks = 0;
  for (const Mark& mark : timeline.trace().marks) {
    if (mark.kind != MarkKind::kResidentBytes || mark.time_ns < from || mark.time_ns > to) continue;
    last = static_cast<double>(mark.value);
    if (!first) first = last;
    ++marks;
  }
  if (marks < 2) return std::nullopt;
  return (*last - *first) / (marks - 1);
}

std::vector<Finding> Run(const Timeline& timeline) {
  const Chains chains(timeline);
  if (chains.sites().empty()) {
    if (timeline.detail_steps() > kMinCrossings) return {};
    return {Finding::CannotTell(fmt::format("the detail window holds {}, and a chain over {} is asked for",
                                            Counted(static_cast<std::uint64_t>(timeline.detail_steps()), "timed step"),
                                            kMinCrossings))};
  }
  const std::optional<double> growth = GrowthBytesPerStep(timeline);
  const bool grows = growth && *growth >= kNegligibleBytesPerStep;
  Finding finding;
  finding.severity = growth && !grows ? Severity::kLow : Severity::kMedium;
  finding.title = "a sum over the steps keeps every step's graph alive";
  if (grows) finding.title += fmt::format(": memory grows by {:.2f} MB per step", *growth / 1e6);
  finding.evidence = chains.sites().Describe([&](const CallSites::Site& site) {
    return fmt::format("adds to a sum that holds the graphs of {} or more earlier steps, seen {}", kMinCrossings,
                       Counted(site.count, "time"));
  });
  return {finding};
}

}  // namespace

extern const Analyzer kGraphRetained;
const Analyzer kGraphRetained{
    .id = "graph-retained", .question = "Does a running sum keep old graphs alive?", .run = Run};

}  // namespace loopscope
