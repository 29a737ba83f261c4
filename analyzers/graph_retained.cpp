#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr int kMinCrossings = 3;                       // consecutive steps whose sum keeps the previous step's graph
constexpr double kNegligibleBytesPerStep = 16 * 1024;  // slower growth is not urgent
constexpr std::size_t kStretches = 4;      // of the steady steps: memory that grows steadily does so in each
constexpr double kMinShareOfGrowth = 0.5;  // of the mean, in each stretch

// The operators that a running sum or mean is made of.
bool IsArithmetic(std::string_view name) {
  if (!name.starts_with("aten::")) return false;
  name.remove_prefix(6);
  if (name.ends_with('_')) name.remove_suffix(1);
  constexpr std::string_view kNames[] = {"add", "sub", "rsub", "mul", "div", "lerp"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// How many steps a sum reaches back: each addition or product is linked to those that made its inputs.
class Chains {
 public:
  explicit Chains(const Timeline& timeline) : timeline_(timeline), links_(timeline.trace(), IsArithmetic) {
    timeline.ForEachDetailed([&](EventRef ref) {
      const Event& event = timeline.event(ref);
      if (links_.Has(event) && (event.flags & wire::kOpGraph)) Link(ref);
    });
  }

  // The operators that reach back `kMinCrossings` steps or more, by call site.
  const CallSites& sites() const { return sites_; }

 private:
  void Link(EventRef ref) {
    int crossings = -1;
    bool reaches_back = false;  // directly, by an input that reaches back farthest
    for (const std::uint32_t sequence : timeline_.input_producers(ref)) {
      const EventRef producer = timeline_.producer(sequence);
      if (!Exists(producer) || !links_.Has(timeline_.event(producer))) continue;
      const int step = timeline_.step_at(timeline_.event(ref).start_ns);
      const int made = timeline_.step_at(timeline_.event(producer).start_ns);
      if (made > step || timeline_.event(producer).start_ns >= timeline_.event(ref).start_ns) continue;
      const auto before = crossings_.find(producer.index);
      const int through = (before == crossings_.end() ? 0 : before->second) + (made < step ? 1 : 0);
      if (through > crossings) reaches_back = false;
      if (through >= crossings) reaches_back |= made < step;
      crossings = std::max(crossings, through);
    }
    if (crossings < 0) return;
    crossings_[ref.index] = crossings;
    if (crossings >= kMinCrossings && reaches_back) sites_.Add(timeline_.where(ref));
  }

  const Timeline& timeline_;
  NameSet links_;

  std::unordered_map<std::uint32_t, int> crossings_;  // by event of the training thread
  CallSites sites_;
};

// Mean growth of the resident memory per step between two readings; empty when no step lies between them.
std::optional<double> GrowthBytesPerStep(const Timeline& timeline, const Mark& first, const Mark& last) {
  const auto between = [&](const Step& step) {
    return step.time.end_ns > first.time_ns && step.time.end_ns <= last.time_ns;
  };
  const auto steps = std::ranges::count_if(timeline.steps(), between);
  if (steps == 0) return std::nullopt;
  const SkippedTime& skipped = timeline.trace().quality.skipped;
  const bool over_skipped = first.time_ns < skipped.time.end_ns && last.time_ns >= skipped.time.end_ns;
  return (static_cast<double>(last.value) - static_cast<double>(first.value)) /
         (static_cast<double>(steps) + (over_skipped ? static_cast<double>(skipped.steps) : 0));
}

struct Growth {
  double bytes_per_step = 0;
  bool steady = false;
};

// Growth over the steady steps; empty when memory was not read at two of them.
std::optional<Growth> GrowthOf(const Timeline& timeline) {
  const std::int64_t from = timeline.steps()[timeline.steady().front()].time.start_ns;
  const std::int64_t to = timeline.steps()[timeline.steady().back()].time.end_ns;
  // Host memory does not show tensors that live on a device.
  const std::vector<Mark>& marks = timeline.trace().marks;
  const auto held = std::ranges::find(marks, MarkKind::kDeviceBytes, &Mark::kind);
  const bool on_device = held != marks.end();
  const MarkKind kind = on_device ? MarkKind::kDeviceBytes : MarkKind::kResidentBytes;
  std::vector<Mark> read;
  std::ranges::copy_if(timeline.trace().marks, std::back_inserter(read), [&](const Mark& mark) {
    return mark.kind == kind && (!on_device || mark.name == held->name) && mark.time_ns >= from && mark.time_ns <= to;
  });
  if (read.empty()) return std::nullopt;
  const std::optional<double> mean = GrowthBytesPerStep(timeline, read.front(), read.back());
  if (!mean) return std::nullopt;
  Growth growth{*mean, read.size() > kStretches && *mean > 0};
  for (std::size_t i = 0; i < kStretches && growth.steady; ++i) {
    const Mark &first = read[i * (read.size() - 1) / kStretches],
               &last = read[(i + 1) * (read.size() - 1) / kStretches];
    growth.steady = GrowthBytesPerStep(timeline, first, last).value_or(0) >= kMinShareOfGrowth * *mean;
  }
  return growth;
}

std::vector<Finding> Run(const Timeline& timeline) {
  const Chains chains(timeline);
  const std::optional<Growth> growth = GrowthOf(timeline);
  const bool grows = growth && growth->bytes_per_step >= kNegligibleBytesPerStep;
  if (chains.sites().empty()) {
    if (grows && growth->steady) {
      return {Finding::CannotTell(fmt::format("memory grows by {:.2f} MB per step, and no sum was seen that holds it",
                                              growth->bytes_per_step / 1e6))};
    }
    if (timeline.trace().run.source != "capture") {
      return {Finding::CannotTell("the trace does not say which operator made another's input")};
    }
    if (timeline.detail_steps() > kMinCrossings) return {};
    return {Finding::CannotTell(fmt::format("the detail window holds {}, and a chain over {} is asked for",
                                            Counted(static_cast<std::uint64_t>(timeline.detail_steps()), "timed step"),
                                            kMinCrossings))};
  }
  Finding finding;
  finding.severity = growth && !grows ? Severity::kLow : Severity::kMedium;
  finding.title = "a sum over the steps keeps every step's graph alive";
  if (grows) finding.title += fmt::format(": memory grows by {:.2f} MB per step", growth->bytes_per_step / 1e6);
  finding.evidence = chains.sites().Describe([&](const CallSites::Site& site) {
    return fmt::format("adds to a sum that holds the graphs of {} or more earlier steps, seen {}", kMinCrossings,
                       Counted(site.count, "time"));
  });
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kGrowth}};

}  // namespace

extern const Analyzer kGraphRetained{
    .id = "graph-retained", .question = "Does a running sum keep old graphs alive?", .run = Run, .claims = kClaims};

}  // namespace loopscope
