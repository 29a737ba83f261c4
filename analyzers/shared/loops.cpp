#include "analyzers/shared/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyzers/shared/devices.h"

namespace loopscope {
namespace {

constexpr double kMinGainPct = 5;       // of the step, that a fix is expected to gain
constexpr double kMinRepeats = 0.5;     // of the turns in which a line of the loop runs an operator
constexpr double kMinShortShare = 0.5;  // of the time in the loop's operators
constexpr double kShortOpUs = 20;       // see small-batch: most of such an operator's time does not depend on its size
// Calling an operator and recording its node: what one operator on all rows saves for each row.
constexpr std::int64_t kCallNs = 5'000;

bool Holds(const std::set<CodeLine>& lines, std::span<const Where> frames) {
  return std::ranges::any_of(frames, [&](const Where& frame) { return lines.contains(CodeLineOf(frame)); });
}

// Totals over the detailed steps.
struct Work {
  double forward_ops = 0;       // outermost ones
  double ms = 0, short_ms = 0;  // in operators
  double backward_ms = 0, all_backward_ms = 0;
  double forward_calls_ms = 0, backward_calls_ms = 0;  // what one operator on all rows would save
  CallSites sites;
};

using Refs = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // thread and index

bool IsBackward(const Timeline& timeline, EventRef ref) {
  return ref.thread != timeline.training_thread() || timeline.inside(ref, RangeCategory::kBackward);
}

EventRef OutermostOp(const Timeline& timeline, EventRef ref) {
  while (!timeline.outermost_op(ref)) ref.index = timeline.parent(ref);
  return ref;
}

// The loop's outermost operators in the forward pass, counted by line.
Refs ForwardOps(const Timeline& timeline, const std::set<CodeLine>& lines, CallSites& sites) {
  Refs refs;
  ForEachForward(timeline, [&](EventRef ref) {
    const std::span<const Where> frames = FramesOf(timeline, ref);
    const auto line = std::ranges::find_if(frames, [&](const Where& one) { return lines.contains(CodeLineOf(one)); });
    if (line == frames.end()) return;
    refs.insert({ref.thread, ref.index});
    sites.Add(&*line, Ms(timeline.event(ref).duration_ns()));
  });
  return refs;
}

// Calls `visit` for operators of the backward pass that run a node, with the outermost operators around it and around
// what made it.
void ForEachNode(const Timeline& timeline, const std::function<void(EventRef top, EventRef by)>& visit) {
  timeline.ForEachDetailed([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.kind != EventKind::kOp || event.sequence == kNone || !IsBackward(timeline, ref)) return;
    const EventRef made = timeline.producer(event.sequence);
    if (made.index != kNone) visit(OutermostOp(timeline, ref), OutermostOp(timeline, made));
  });
}

// The outermost operators of the backward pass that run a node which one of `forward` made.
Refs BackwardOps(const Timeline& timeline, const Refs& forward) {
  Refs refs;
  ForEachNode(timeline, [&](EventRef top, EventRef by) {
    if (forward.contains({by.thread, by.index})) refs.insert({top.thread, top.index});
  });
  return refs;
}

Work Measure(const Timeline& timeline, const std::set<CodeLine>& lines) {
  Work work;
  const Refs forward = ForwardOps(timeline, lines, work.sites), backward = BackwardOps(timeline, forward);
  work.forward_ops = static_cast<double>(forward.size());
  timeline.ForEachDetailed([&](EventRef ref) {
    if (timeline.event(ref).kind != EventKind::kOp) return;
    const EventRef top = OutermostOp(timeline, ref);
    const bool outermost = top.index == ref.index, of_backward = IsBackward(timeline, ref);
    const double ms = Ms(timeline.event(ref).duration_ns()), own_ms = Ms(timeline.self_ns(ref));
    if (outermost && of_backward) work.all_backward_ms += ms;
    if (!(of_backward ? backward : forward).contains({top.thread, top.index})) return;
    work.ms += own_ms;
    work.short_ms += own_ms * 1e3 < kShortOpUs ? own_ms : 0;
    (of_backward ? work.backward_calls_ms : work.forward_calls_ms) += std::min(own_ms, Ms(kCallNs));
    if (outermost && of_backward) work.backward_ms += ms;
  });
  return work;
}

// In an average step: the loop's lines in the forward pass, and the host's time between their operators.
std::pair<double, double> ForwardMs(const Timeline& timeline, const std::set<CodeLine>& lines) {
  double all_ms = 0, between_ms = 0;
  for (const LineShare& line : timeline.lines()) {
    const std::vector<Stack>& stacks = timeline.trace().stacks;
    if (line.part != Part::kForward || line.stack >= stacks.size() || !Holds(lines, stacks[line.stack].frames))
      continue;
    all_ms += line.ms;
    between_ms += line.in_operator ? 0 : line.ms;
  }
  return {all_ms, between_ms};
}

}  // namespace

CodeLine CodeLineOf(const Where& where) {
  return {where.path, where.function, where.line};
}

// The user's frames of an operator, innermost first.
std::span<const Where> FramesOf(const Timeline& timeline, EventRef ref) {
  const EventDetail* detail = timeline.detail(ref);
  const std::vector<Stack>& stacks = timeline.trace().stacks;
  if (detail == nullptr || detail->stack >= stacks.size()) return {};
  return stacks[detail->stack].frames;
}

ForwardLines::ForwardLines(const Timeline& timeline) : timeline_(timeline) {
  ForEachNode(timeline, [&](EventRef top, EventRef by) {
    const std::span<const Where> frames = FramesOf(timeline, by);
    if (!frames.empty()) backward_.try_emplace({top.thread, top.index}, &frames.front());
  });
}

const Where* ForwardLines::Of(EventRef ref) const {
  if (!IsBackward(timeline_, ref)) return timeline_.where(ref);
  const EventRef top = OutermostOp(timeline_, ref);
  const auto found = backward_.find({top.thread, top.index});
  return found == backward_.end() ? nullptr : found->second;
}

// Calls `visit` for each outermost operator of the forward pass in the detailed steps.
void ForEachForward(const Timeline& timeline, const std::function<void(EventRef)>& visit) {
  const IntervalSet& forward = timeline.part(Part::kForward);
  timeline.ForEachDetailed([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread() || !timeline.outermost_op(ref)) return;
    if (forward.total_ns({event.start_ns, event.end_ns}) > 0) visit(ref);
  });
}

double ShareOfPass(const Timeline& timeline) {
  int passes = 0;
  timeline.ForEachDetailed([&](EventRef ref) {
    passes += timeline.event(ref).is_range(RangeCategory::kBackward) && !timeline.inside(ref, RangeCategory::kBackward);
  });
  return 1.0 / std::max(passes, timeline.detail_steps());
}

std::set<CodeLine> LinesOfLoops(const Timeline& timeline, const std::map<CodeLine, double>& turns, LoopBody body) {
  std::map<std::pair<std::string, std::string>, double> functions;  // path and name: times
  for (const auto& [line, times] : turns) {
    double& most = functions[{std::get<0>(line), std::get<1>(line)}];
    most = std::max(most, times);
  }
  const double share = ShareOfPass(timeline);
  std::map<std::pair<CodeLine, StringId>, double> runs;
  ForEachForward(timeline, [&](EventRef ref) {
    if (body == LoopBody::kOutsideModules && !ModuleOf(timeline, ref).empty()) return;
    for (const Where& frame : FramesOf(timeline, ref)) {
      if (!functions.contains({frame.path, frame.function})) continue;
      runs[{CodeLineOf(frame), timeline.event(ref).name}] += share;
      break;
    }
  });
  std::set<CodeLine> lines;
  for (const auto& [key, count] : runs) {
    const CodeLine& line = key.first;
    if (count >= kMinRepeats * functions[{std::get<0>(line), std::get<1>(line)}]) lines.insert(line);
  }
  return lines;
}

std::optional<LoopCost> MeasureLoop(const Timeline& timeline, const std::set<CodeLine>& lines) {
  Work work = Measure(timeline, lines);
  if (work.ms <= 0 || work.short_ms < kMinShortShare * work.ms) return std::nullopt;
  const auto [forward_ms, between_ms] = ForwardMs(timeline, lines);
  const double steps = timeline.detail_steps();
  const double backward_ms =
      work.all_backward_ms > 0 ? timeline.part_ms(Part::kBackward) * work.backward_ms / work.all_backward_ms : 0;
  const double ms = forward_ms + backward_ms;
  const double gain_ms = std::min(ms, between_ms + std::min(forward_ms, work.forward_calls_ms / steps) +
                                          std::min(backward_ms, work.backward_calls_ms / steps));
  return LoopCost{work.forward_ops / steps, ms, gain_ms, steps, std::move(work.sites)};
}

std::optional<Finding> LoopFinding(const Timeline& timeline, const LoopCost& cost, std::string title,
                                   std::string_view per_operator) {
  if (SharePct(timeline, cost.gain_ms) < kMinGainPct) return std::nullopt;
  Finding finding = CostingAtMost(timeline, cost.ms, std::move(title));
  if (!OnDevice(timeline)) finding.expected_gain_ms = cost.gain_ms;
  finding.evidence = cost.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("{:.0f} operators per step, {}", static_cast<double>(site.count) / cost.steps, per_operator);
  });
  return finding;
}

}  // namespace loopscope
