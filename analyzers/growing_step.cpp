#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/events.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/line_places.h"
#include "analyzers/shared/processors.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/statistics/series.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/core/trace/facts.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinRisePct = 25;  // over the window
// Applies if no operator takes longer, or one does for the same work: the processor may have slowed down, or another
// program started.
constexpr double kMinUnexplainedPct = 100;
constexpr double kVeryLong = 10;            // times the median step
constexpr double kMinOperatorShare = 0.15;  // of the rise
constexpr double kMinMoreCalls = 1.1;       // times as many calls at last as at first, or
constexpr double kMinLonger = 1.5;          // times the time of each call

// Length of each step. With a device, part of the host's time is a wait for its queue, short until the queue is full.
// So use the device work that the step launches plus the device's idle time in it.
std::vector<double> LengthsMs(const Timeline& timeline) {
  std::vector<double> lengths;
  if (DevicesKnown(timeline)) {
    const std::vector<double> all = DeviceMsByStep(timeline);
    for (const std::uint32_t index : timeline.undisturbed()) lengths.push_back(all[index]);
    return lengths;
  }
  for (const std::uint32_t index : timeline.undisturbed()) {
    lengths.push_back(Ms(timeline.steps()[index].time.length()));
  }
  return lengths;
}

// Drops steps that hold other work: one so much longer than the rest would dominate any mean.
std::vector<double> WithoutVeryLong(std::vector<double> lengths) {
  const double median = Median(lengths);
  std::erase_if(lengths, [&](double one) { return one > kVeryLong * median; });
  return lengths;
}

struct Operator {
  double ms = 0, count = 0, within = 0;    // per step: of the calls themselves, and of operators that they call
  std::map<std::uint32_t, double> shapes;  // calls per step by the hash of the inputs' shapes, 0 where not recorded
};
using Operators = std::map<StringId, Operator>;

// Outermost operators, and nodes of the backward pass, of the training thread.
Operators MeasureOperators(const Timeline& timeline, const OpCost& cost, std::span<const std::uint32_t> steps) {
  Operators found;
  const double each = 1 / static_cast<double>(steps.size());
  for (const std::uint32_t index : steps) {
    Operator* outer = nullptr;
    std::int64_t outer_end_ns = 0;
    timeline.ForEach(timeline.training_thread(), timeline.steps()[index].time, [&](EventRef ref) {
      const Event& event = timeline.event(ref);
      if (!timeline.outermost_op(ref)) {
        if (outer != nullptr && event.kind == EventKind::kOp && event.end_ns <= outer_end_ns) outer->within += each;
        return;
      }
      outer = &found[event.name];
      outer_end_ns = event.end_ns;
      outer->ms += cost.Ms(ref) * each;
      outer->count += each;
      outer->shapes[event.shape_hash] += each;
    });
  }
  return found;
}

// The operator whose time rises most from the first third of the steps to the last.
struct Grown {
  StringId name = 0;
  Operator before, after;
  double rise_ms() const { return after.ms - before.ms; }
  // What the further calls take, each as long as one does on average over both thirds.
  double rise_by_calls_ms() const {
    const double calls = before.count + after.count;
    return calls > 0 ? (after.count - before.count) * (before.ms + after.ms) / calls : 0;
  }
  bool more_calls() const { return after.count + after.within > kMinMoreCalls * (before.count + before.within); }
  // As many calls on inputs of the same shapes.
  bool same_work() const {
    return !after.shapes.empty() && std::ranges::all_of(after.shapes, [&](const auto& shape) {
      const auto first = before.shapes.find(shape.first);
      return shape.first != 0 && first != before.shapes.end() && shape.second <= kMinMoreCalls * first->second;
    });
  }
  // How many times as long each call takes as at first.
  double longer() const {
    const double first_ms = before.ms * after.count;
    return first_ms > 0 ? after.ms * before.count / first_ms : HUGE_VAL;
  }
};

// Growth of all other operators for the same calls: on a machine that slows down, or is shared with other programs, all
// of them take longer.
double Slowdown(const Operators& early, const Operators& late, StringId without) {
  double before_ms = 0, after_ms = 0;
  for (const auto& [name, one] : late) {
    const auto first = early.find(name);
    if (name == without || first == early.end() || one.count <= 0) continue;
    before_ms += first->second.ms;
    after_ms += one.ms * first->second.count / one.count;
  }
  return before_ms > 0 ? std::max(after_ms / before_ms, 1.0) : 1;
}

struct Thirds {
  Operators early, late;
};

Thirds MeasureThirds(const Timeline& timeline, std::span<const std::uint32_t> steps) {
  const std::size_t third = steps.size() / 3;
  if (third == 0) return {};
  const OpCost cost(timeline);
  return {MeasureOperators(timeline, cost, steps.first(third)), MeasureOperators(timeline, cost, steps.last(third))};
}

Grown FindGrown(const Timeline& timeline) {
  std::vector<std::uint32_t> steps;
  std::ranges::copy_if(timeline.undisturbed(), std::back_inserter(steps),
                       [&](std::uint32_t index) { return timeline.steps()[index].operators; });
  const auto [early, late] = MeasureThirds(timeline, steps);
  const auto is_backward = [&](StringId name) { return ops::IsBackwardNode(timeline.trace().text(name)); };
  Grown grown;
  for (const auto& [name, after] : late) {
    const auto before = early.find(name);
    const Grown one{name, before == early.end() ? Operator{} : before->second, after};
    // A backward node takes longer only if the forward pass does too, or if hooks were added to it.
    const bool does_more =
        one.more_calls() || (!is_backward(name) && one.longer() > kMinLonger * Slowdown(early, late, name));
    if (does_more && one.rise_ms() > grown.rise_ms()) grown = one;
  }
  return grown;
}

// The operator whose further calls take most.
Grown FindMoreCalled(const Timeline& timeline, std::span<const std::uint32_t> steps) {
  const auto [early, late] = MeasureThirds(timeline, steps);
  Grown most;
  for (const auto& [name, after] : late) {
    const auto before = early.find(name);
    const Grown one{name, before == early.end() ? Operator{} : before->second, after};
    if (one.rise_by_calls_ms() > most.rise_by_calls_ms()) most = one;
  }
  return most;
}

// Operators of the training thread, by step. Recording details changes their time, not their number.
std::vector<double> OperatorsByStep(const Timeline& timeline, std::span<const std::uint32_t> steps) {
  std::vector<double> counts;
  for (const std::uint32_t index : steps) {
    double& count = counts.emplace_back();
    timeline.ForEach(timeline.training_thread(), timeline.steps()[index].time,
                     [&](EventRef ref) { count += timeline.event(ref).kind == EventKind::kOp; });
  }
  return counts;
}

// The line where the operator runs longest; without an operator, the costliest line of the loop's own code.
std::optional<Where> PlaceOfGrown(const Timeline& timeline, const Grown& grown, bool is_operator) {
  std::vector<LineShare> lines;
  std::ranges::copy_if(timeline.lines(), std::back_inserter(lines), [&](const LineShare& line) {
    return is_operator ? line.in_operator && line.what == grown.name : line.part == Part::kOther && !line.in_operator;
  });
  for (const PlaceTime& place : PlacesOf(timeline, lines)) {
    if (place.where) return place.where;
  }
  return std::nullopt;
}

// Input sizes of the operator's calls, in the first and in the last step with details. Empty if they do not
// grow.
std::string GrownInputs(const Timeline& timeline, StringId name) {
  std::int64_t first = 0, last = 0;
  int first_step = -1, last_step = -1;
  timeline.ForEachDetailed([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.kind != EventKind::kOp || event.name != name || !timeline.outermost_op(ref)) return;
    const int step = timeline.step_at(event.start_ns);
    std::int64_t elements = 0;
    for (const TensorText& tensor : TensorsOf(timeline.inputs(ref))) elements += tensor.elements();
    if (first_step < 0) first_step = step;
    if (step != last_step) last = 0;
    last_step = step;
    last += elements;
    if (step == first_step) first += elements;
  });
  if (last_step <= first_step || first <= 0 || last <= first) return "";
  return fmt::format("its inputs grow, from {} numbers to {} in {} steps", first, last, last_step - first_step);
}

// Why steps get longer, if the recording shows it, and what to do about it.
struct Cause {
  std::string text, advice;
  std::optional<Evidence> evidence;  // with the place to change
};

Cause CauseOf(const Timeline& timeline, const Grown& grown, bool is_operator) {
  const bool backward = ops::IsBackwardNode(timeline.trace().text(grown.name));
  const auto hooks = PlaceOf(FactOf(timeline.trace(), "hooks.where"));
  if (hooks && (!is_operator || (grown.more_calls() && !backward))) {
    return {"; hooks are registered again and again, and each runs in every pass",
            "Register hooks once, before the loop, or remove them when they have done their work "
            "(handle.remove()).",
            Evidence{"registers hooks on a module that has many of them already", 1, hooks}};
  }
  if (is_operator && backward && grown.more_calls()) {
    return {
        "; each backward pass goes through more of earlier steps' graphs",
        "Detach what is carried from one step to the next (state.detach(), loss.item()), so that a backward pass ends "
        "at its own step.",
        std::nullopt};
  }
  const std::string inputs = is_operator ? GrownInputs(timeline, grown.name) : "";
  return {inputs.empty() ? "" : "; " + inputs, "", std::nullopt};
}

std::string CallsText(const Timeline& timeline, const Grown& grown) {
  return fmt::format("{}: {:.3g} calls and {} per step at first, {:.3g} calls and {} at last",
                     timeline.trace().text(grown.name), grown.before.count, MsText(grown.before.ms), grown.after.count,
                     MsText(grown.after.ms));
}

// Growth that the steps' lengths do not show, since the processor's speed changes more than they do: by the operators'
// number. The cost is that of lengths that rise, half of the rise.
std::vector<Finding> GrowthByCalls(const Timeline& timeline) {
  if (DevicesKnown(timeline)) return {};  // operators take the host's time, which the device may hide
  const std::span<const std::uint32_t> steps = timeline.steady();
  const std::vector<double> counts = OperatorsByStep(timeline, steps);
  const std::optional<Trend> trend = FindTrend(counts);
  if (!trend || trend->change_pct < kMinRisePct) return {};
  const Grown grown = FindMoreCalled(timeline, steps);
  if (grown.rise_by_calls_ms() < kMinRisePct / 100 * timeline.mean_step_ms()) return {};
  const Cause cause = CauseOf(timeline, grown, true);
  const std::size_t third = std::max<std::size_t>(counts.size() / 3, 1);
  Finding finding = Costing(
      timeline, grown.rise_by_calls_ms() / 2,
      fmt::format("steps run more and more operators: from {:.0f} to {:.0f} within {} steps, most of it in {}{}",
                  Mean(std::span(counts).first(third)), Mean(std::span(counts).last(third)), counts.size(),
                  timeline.trace().text(grown.name), cause.text));
  finding.advice = cause.advice;
  if (ops::IsBackwardNode(timeline.trace().text(grown.name))) {
    finding.claims = {{Time::kGrowth, Standing::kGivesWay}};
  }
  if (cause.evidence) finding.evidence.push_back(*cause.evidence);
  finding.severity = std::max(SeverityOfShare(finding.cost_pct), Severity::kMedium);
  finding.evidence.push_back(
      {CallsText(timeline, grown), 1, PlaceOfGrown(timeline, grown, true), grown.rise_by_calls_ms()});
  return {std::move(finding)};
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why = WhyDevicesUnknown(timeline)) return {*why};
  const std::vector<double> lengths = WithoutVeryLong(LengthsMs(timeline));
  const std::optional<Trend> trend = FindTrend(lengths);
  if (!trend || trend->change_pct < kMinRisePct) {
    std::vector<Finding> found = GrowthByCalls(timeline);
    if (found.empty() && lengths.size() < kFewestForTrend) {
      return {Finding::CannotTell(fmt::format("only {} were not slowed down by recording: too few to see a trend",
                                              Counted(lengths.size(), "step")))};
    }
    return found;
  }
  const std::size_t third = std::max<std::size_t>(lengths.size() / 3, 1);
  const double early_ms = Mean(std::span(lengths).first(third)), late_ms = Mean(std::span(lengths).last(third));
  if (late_ms < early_ms * (1 + kMinRisePct / 200)) return GrowthByCalls(timeline);
  const Grown grown = FindGrown(timeline);
  if (!grown.more_calls() && OthersInterfere(timeline)) {
    return {Finding::CannotTell("steps get longer without more calls, as they do where other programs come up")};
  }
  if (grown.same_work() && trend->change_pct < kMinUnexplainedPct) {
    return {
        Finding::CannotTell(fmt::format("steps get longer as {} does on inputs of the same shapes: so it does where "
                                        "the processor slows down",
                                        timeline.trace().text(grown.name)))};
  }
  const std::size_t first = std::max<std::size_t>(lengths.size() / 10, 1);
  const bool is_operator = grown.rise_ms() > kMinOperatorShare * (late_ms - early_ms);
  if (!is_operator && trend->change_pct < kMinUnexplainedPct) return {};
  const Cause cause = CauseOf(timeline, grown, is_operator);
  Finding finding = Costing(
      timeline, std::max((late_ms - early_ms) / 2, Mean(lengths) - Mean(std::span(lengths).first(first))),
      fmt::format("steps get longer: from {} to {} within {} steps{}{}", MsText(early_ms), MsText(late_ms),
                  lengths.size(),
                  is_operator ? fmt::format(", most of it in {}", timeline.trace().text(grown.name)) : "", cause.text));
  finding.advice = cause.advice;
  // Growth in the forward pass is not caused by kept graphs.
  const bool in_forward = is_operator && !ops::IsBackwardNode(timeline.trace().text(grown.name));
  if (!in_forward) finding.claims = {{Time::kGrowth, Standing::kGivesWay}};
  if (cause.evidence) finding.evidence.push_back(*cause.evidence);
  finding.severity = std::max(SeverityOfShare(trend->change_pct / 2), Severity::kMedium);
  if (is_operator) {
    finding.evidence.push_back({CallsText(timeline, grown), 1, PlaceOfGrown(timeline, grown, true), grown.rise_ms()});
  } else {
    finding.evidence.push_back({"no operator of the step takes much longer than before: the program's own code does", 1,
                                PlaceOfGrown(timeline, grown, false)});
  }
  return {std::move(finding)};
}

constexpr std::array kClaims = {Claim{Time::kAnyLine, Standing::kDoubted}};

}  // namespace

extern const Analyzer kGrowingStep{.id = "growing-step",
                                   .question = "Do steps get longer as the run goes on?",
                                   .run = Run,
                                   .needs = kNeedsOps | kNeedsQuiet,
                                   .claims = kClaims,
                                   .whatever_runs = true};

}  // namespace loopscope
