#include "analyzers/forms/step_calls.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <tuple>

#include "analyzers/shared/events.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostOnAWay = 24;  // calls

// Depth first through `next`, at most kMostOnAWay calls deep.
bool Walk(const StepCalls& calls, std::uint32_t at, std::vector<std::uint32_t> Call::*next, std::string_view passes,
          std::string_view goals, Calls& way, std::vector<bool>& seen) {
  for (const std::uint32_t one : calls[at].*next) {
    if (seen[one]) continue;
    seen[one] = true;
    way.push_back(one);
    if (IsOneOf(calls[one].name, goals)) return true;
    const bool passed = IsOneOf(calls[one].name, passes) && way.size() < kMostOnAWay;
    if (passed && Walk(calls, one, next, passes, goals, way, seen)) return true;
    way.pop_back();
  }
  return false;
}

Calls Way(const StepCalls& calls, std::uint32_t at, std::vector<std::uint32_t> Call::*next, std::string_view passes,
          std::string_view goals) {
  Calls way;
  std::vector<bool> seen(calls.all().size());
  Walk(calls, at, next, passes, goals, way, seen);
  return way;
}

// "f32[8]!" of "f32[8]!#3".
std::string WithoutLeaves(std::string_view inputs) {
  std::string text;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    text += inputs[i];
    if (inputs[i] != '!' || i + 1 >= inputs.size() || inputs[i + 1] != '#') continue;
    for (++i; i + 1 < inputs.size() && inputs[i + 1] >= '0' && inputs[i + 1] <= '9';) ++i;
  }
  return text;
}

}  // namespace

std::span<const std::int64_t> Call::sizes(std::size_t i) const {
  if (i >= inputs.size() || !inputs[i].is_tensor || !inputs[i].defined) return {};
  return inputs[i].sizes;
}

std::optional<double> Call::number(std::size_t i) const {
  if (i >= inputs.size() || inputs[i].is_tensor) return std::nullopt;
  double number = 0;
  const std::string_view said = inputs[i].scalar;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), number);
  if (error != std::errc() || end != said.data() + said.size()) return std::nullopt;
  return number;
}

StepCalls::StepCalls(const Timeline& timeline) : timeline_(timeline) {
  if (timeline.detail_steps() == 0) return;
  AddCalls();
  AddBackwardTimes();
  AddEdges();
  AddAlike();
}

void StepCalls::AddCalls() {
  int passes = 0;
  timeline_.ForEachDetailed([&](EventRef ref) {
    passes += timeline_.event(ref).is_range(RangeCategory::kBackward) ? 1 : 0;
    if (ref.thread != timeline_.training_thread() || !timeline_.outermost_op(ref)) return;
    const std::string_view name = timeline_.name(ref);
    if (ops::IsBackwardNode(name)) return;
    Call& call = calls_.emplace_back();
    call.ref = ref;
    call.name = name;
    call.text = WithoutLeaves(timeline_.inputs(ref));
    call.inputs = ParseInputs(timeline_.inputs(ref));
    call.ms = MsPerDetailStep(timeline_, Ms(timeline_.event(ref).duration_ns()));
    call.step = timeline_.step_at(timeline_.event(ref).start_ns);
    call.pass = passes;
    call.in_optimizer = timeline_.inside(ref, RangeCategory::kOptimizer);
    call.in_backward = timeline_.inside(ref, RangeCategory::kBackward);
  });
}

// kNone where it is none of them, or within none.
std::uint32_t StepCalls::CallOf(EventRef ref) const {
  if (ref.thread != timeline_.training_thread()) return kNone;
  EventRef outermost = ref;
  for (std::uint32_t up = timeline_.parent(ref); up != kNone; up = timeline_.parent({ref.thread, up})) {
    if (timeline_.event({ref.thread, up}).kind == EventKind::kOp) outermost.index = up;
  }
  const auto found =
      std::ranges::lower_bound(calls_, outermost.index, {}, [](const Call& one) { return one.ref.index; });
  if (found == calls_.end() || found->ref.index != outermost.index) return kNone;
  return static_cast<std::uint32_t>(found - calls_.begin());
}

// The engine's event of a node, or the node's own inside it, has the sequence number.
void StepCalls::AddBackwardTimes() {
  std::optional<EventRef> added;  // events come in order: a node's own follow it
  timeline_.ForEachDetailed([&](EventRef ref) {
    const Event& event = timeline_.event(ref);
    if (event.kind != EventKind::kOp || event.sequence == kNone) return;
    EventRef node{kNone, kNone};
    for (std::uint32_t at = ref.index; at != kNone && !Exists(node); at = timeline_.parent({ref.thread, at})) {
      if (ops::IsBackwardNode(timeline_.name({ref.thread, at}))) node = {ref.thread, at};
    }
    if (!Exists(node) || (added && added->thread == node.thread && added->index == node.index)) return;
    const EventRef made_by = timeline_.producer(event.sequence);
    const std::uint32_t call = made_by.thread == kNone ? kNone : CallOf(made_by);
    if (call == kNone || timeline_.event(made_by).start_ns >= timeline_.event(node).start_ns) return;
    calls_[call].ms += MsPerDetailStep(timeline_, Ms(timeline_.event(node).duration_ns()));
    added = node;
  });
}

void StepCalls::AddEdges() {
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    for (const std::uint32_t sequence : timeline_.input_producers(calls_[i].ref)) {
      const EventRef made_by = timeline_.producer(sequence);
      const std::uint32_t from = made_by.thread == kNone ? kNone : CallOf(made_by);
      if (from == kNone || from >= i || std::ranges::find(calls_[i].from, from) != calls_[i].from.end()) continue;
      calls_[i].from.push_back(from);
      calls_[from].to.push_back(i);
    }
  }
}

void StepCalls::AddAlike() {
  std::map<std::tuple<int, int, bool, std::string_view, std::optional<Where>>, std::uint32_t> known;
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    const Where* const place = where(i);
    const bool apart = calls_[i].in_backward || calls_[i].in_optimizer;
    const auto [group, added] = known.try_emplace({calls_[i].step, calls_[i].pass, apart, calls_[i].name,
                                                   place != nullptr ? std::optional(*place) : std::nullopt},
                                                  static_cast<std::uint32_t>(alike_.size()));
    if (added) alike_.emplace_back();
    calls_[i].alike = group->second;
    alike_[group->second].push_back(i);
  }
}

bool IsOneOf(std::string_view name, std::string_view names) {
  if (name.starts_with("aten::")) name.remove_prefix(6);
  while (!names.empty()) {
    const std::string_view one = names.substr(0, names.find(' '));
    if (name == one) return true;
    names.remove_prefix(std::min(one.size() + 1, names.size()));
  }
  return false;
}

Calls Up(const StepCalls& calls, std::uint32_t at, std::string_view passes, std::string_view goals) {
  return Way(calls, at, &Call::from, passes, goals);
}

Calls Down(const StepCalls& calls, std::uint32_t at, std::string_view passes, std::string_view goals) {
  return Way(calls, at, &Call::to, passes, goals);
}

Calls MadeBy(const StepCalls& calls, std::uint32_t at, std::string_view names) {
  Calls made;
  Calls open = calls[at].from;
  while (!open.empty() && made.size() < kMostOnAWay) {
    const std::uint32_t one = open.back();
    open.pop_back();
    if (!IsOneOf(calls[one].name, names) || std::ranges::find(made, one) != made.end()) continue;
    made.push_back(one);
    open.insert(open.end(), calls[one].from.begin(), calls[one].from.end());
  }
  return made;
}

std::optional<std::uint32_t> Next(const StepCalls& calls, std::uint32_t at, std::string_view names) {
  for (const std::uint32_t one : calls[at].to) {
    const bool shaped =
        SameSizes(calls[one].sizes(0), calls[at].sizes(0)) || SameSizes(calls[one].sizes(1), calls[at].sizes(0));
    if (shaped && IsOneOf(calls[one].name, names)) return one;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Previous(const StepCalls& calls, std::uint32_t at, std::string_view names) {
  for (const std::uint32_t one : calls[at].from) {
    if (IsOneOf(calls[one].name, names) && SameSizes(calls[one].sizes(0), calls[at].sizes(0))) return one;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Before(const StepCalls& calls, std::uint32_t at, std::string_view names,
                                    std::uint32_t most) {
  for (std::uint32_t i = at; i-- > 0 && at - i <= most && calls[i].step == calls[at].step;) {
    if (IsOneOf(calls[i].name, names)) return i;
  }
  return std::nullopt;
}

bool IsNumber(const Call& call, std::size_t i) {
  if (i >= call.inputs.size()) return false;
  return call.inputs[i].is_tensor ? call.inputs[i].sizes.empty() : !call.inputs[i].scalar.empty();
}

std::optional<std::size_t> DimOf(std::int64_t dim, std::size_t dims) {
  const std::int64_t place = dim < 0 ? dim + static_cast<std::int64_t>(dims) : dim;
  if (place < 0 || place >= static_cast<std::int64_t>(dims)) return std::nullopt;
  return static_cast<std::size_t>(place);
}

std::vector<std::int64_t> NumbersOf(const Call& call, std::size_t i) {
  if (i >= call.inputs.size() || call.inputs[i].is_tensor) return {};
  std::vector<std::int64_t> numbers;
  const std::string_view text = call.inputs[i].scalar;
  for (const char *at = text.data(), *const end = at + text.size(); at < end;) {
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.push_back(number);
    at = error == std::errc() ? rest : at + 1;
  }
  return numbers;
}

Calls Repeated(const StepCalls& calls, std::uint32_t at, bool same_inputs) {
  Calls all;
  for (const std::uint32_t one : calls.alike()[calls[at].alike]) {
    if (!same_inputs || calls[one].text == calls[at].text) all.push_back(one);
  }
  return all.front() == at ? all : Calls{};
}

double Elements(std::span<const std::int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0,
                         [](double product, std::int64_t size) { return product * static_cast<double>(size); });
}

bool SameSizes(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  return std::ranges::equal(a, b);
}

}  // namespace loopscope
