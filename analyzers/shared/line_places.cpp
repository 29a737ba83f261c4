#include "analyzers/shared/line_places.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

#include "profiler/core/timeline/line_pieces.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kWorthNaming = 0.2;  // of a place's time, beside what takes most of it

std::optional<Where> PlaceOfStack(const Trace& trace, std::uint32_t stack) {
  if (stack >= trace.stacks.size()) return std::nullopt;
  const Stack& taken = trace.stacks[stack];
  if (!taken.frames.empty()) return taken.frames.front();
  if (!taken.library.empty()) return taken.library.front();
  return std::nullopt;
}

// One place for all functions on a line: a comprehension, a lambda and the function around them.
std::optional<Where> LineOf(const std::optional<Where>& place) {
  if (!place || place->line <= 0) return place;
  return Where{place->path, place->line, ""};
}

// Keeps the outermost of a line's functions: "<listcomp>" and "<lambda>" are inside.
void Name(const std::string& function, std::optional<Where>& place) {
  const auto inside = [](const std::string& name) { return name.empty() || name.front() == '<'; };
  if (!place) return;
  const bool outer = inside(place->function) && !inside(function);
  const bool alike = inside(place->function) == inside(function);
  if (outer || (alike && (place->function.empty() || function < place->function))) place->function = function;
}

struct Hint {
  std::string_view call, text;
};
constexpr std::string_view kHoldLocksBriefly = "hold a lock only while what it protects is read or written";
// By prefix of the call's name.
constexpr std::array kHints = {
    Hint{"gc.", "collect now and then, or call gc.freeze() after start-up"},
    Hint{"torch.tensor", "stack the arrays first (numpy.stack) and use torch.from_numpy"},
    Hint{"torch.as_tensor", "stack the arrays first (numpy.stack) and use torch.from_numpy"},
    Hint{"torch.FloatTensor", "stack the arrays first (numpy.stack) and use torch.from_numpy"},
    Hint{"torch.Tensor.tolist", "keep the values in a tensor, and read them together now and then"},
    Hint{"numpy.histogram", "log histograms every some hundred steps"},
    Hint{"torch.utils.tensorboard", "log less often, or from another thread"},
    Hint{"torch.save", "save less often, or from a copy in another thread"},
    Hint{"copy.deepcopy", "copy tensors with torch._foreach_copy_ into buffers made once"},
    Hint{"pickle.", "send tensors instead of objects, and less often"},
    Hint{"torch.distributed.distributed_c10d", "send tensors instead of objects, and less often"},
    Hint{"json.", "collect the values and write them every some steps"},
    Hint{wire::kThreadWait, kHoldLocksBriefly},
    Hint{"lock.acquire", kHoldLocksBriefly},
    Hint{"RLock.acquire", kHoldLocksBriefly},
    Hint{"print", "print every some steps"},
    Hint{"logging.", "log every some steps"},
    Hint{"time.sleep", "do not sleep in the loop"},
    Hint{"random.choices", "draw indices with torch.multinomial or numpy, many at a time"},
    Hint{"sorted", "keep the data in order (bisect, heapq) instead of sorting it in each step"},
    Hint{"list.pop", "use collections.deque, whose left end is as quick as its right one"},
    Hint{"list.insert", "use collections.deque, whose left end is as quick as its right one"},
    Hint{"aten::cat", "write into a tensor that is large enough, instead of growing one in each step"},
};

}  // namespace

std::vector<PlaceTime> PlacesOf(const Timeline& timeline, std::span<const LineShare> lines, std::optional<Part> part) {
  struct Group {
    PlaceTime place;
    std::map<std::string, double> what;
  };
  std::map<std::optional<Where>, Group> groups;
  for (const LineShare& line : lines) {
    if (part && line.part != *part) continue;
    const std::optional<Where> place = PlaceOfStack(timeline.trace(), line.stack);
    Group& group = groups[LineOf(place)];
    if (!group.place.where) group.place.where = LineOf(place);
    if (place) Name(place->function, group.place.where);
    group.place.ms += line.ms;
    group.place.operators_ms += line.in_operator ? line.ms : 0;
    group.what[std::string(ops::Shown(timeline.trace().text(line.what)))] += line.ms;
  }
  std::vector<PlaceTime> places;
  for (auto& [where, group] : groups) {
    group.place.what = std::ranges::max_element(group.what, {}, [](const auto& one) { return one.second; })->first;
    for (const auto& [name, ms] : group.what) {
      if (!name.empty() && name != group.place.what && ms >= kWorthNaming * group.place.ms)
        group.place.also.push_back(name);
    }
    places.push_back(std::move(group.place));
  }
  std::ranges::stable_sort(places, std::ranges::greater{}, &PlaceTime::ms);
  return places;
}

std::vector<PlaceTime> SampledPlaces(const Timeline& timeline, std::span<const Interval> within) {
  const Trace& trace = timeline.trace();
  std::vector<LineShare> lines;
  for (const Interval& stretch : within) {
    LineShare open;
    std::int64_t since_ns = stretch.start_ns;
    const auto close = [&](std::int64_t time_ns) {
      open.ms = static_cast<double>(time_ns - since_ns) / 1e6;
      if (open.ms > 0) lines.push_back(open);
      since_ns = time_ns;
    };
    timeline.ForEach(timeline.training_thread(), stretch, [&](EventRef ref) {
      const Event& event = timeline.event(ref);
      const EventDetail* const detail = timeline.detail(ref);
      const auto of_range = trace.range_stacks.find(std::uint64_t{ref.thread} << 32 | ref.index);
      const std::uint32_t stack = detail != nullptr && detail->stack != kNone ? detail->stack
                                  : of_range != trace.range_stacks.end()      ? of_range->second
                                                                              : kNone;
      if (stack == kNone || event.start_ns < since_ns) return;
      close(event.start_ns);
      open = {.stack = stack, .what = event.name, .in_operator = event.kind == EventKind::kOp};
    });
    close(stretch.end_ns);
  }
  return PlacesOf(timeline, lines);
}

std::vector<LineShare> LinesOfWork(const Timeline& timeline, std::span<const Interval> within, bool without_training) {
  std::vector<LineShare> lines = LinesIn(timeline, within);
  const bool ranks = timeline.trace().run.ranks > 1;
  std::erase_if(lines, [&](const LineShare& line) {
    const bool trains = line.part == Part::kForward || line.part == Part::kBackward || line.part == Part::kOptimizer;
    const bool waits = line.part == Part::kBackward || line.part == Part::kCommunication;
    return line.part == Part::kLoaderWait || (ranks && waits) || (without_training && trains);
  });
  return lines;
}

double UpdatesIn(const Timeline& timeline, std::span<const Interval> within) {
  double count = 0;
  for (const Interval& one : within) {
    timeline.ForEach(timeline.training_thread(), one, [&](EventRef ref) {
      const Event& event = timeline.event(ref);
      count += event.is_range(RangeCategory::kOptimizer) && event.start_ns >= one.start_ns;
    });
  }
  return count;
}

double OperatorsIn(const Timeline& timeline, std::span<const Interval> within) {
  double count = 0;
  for (const Interval& one : within) {
    timeline.ForEach(timeline.training_thread(), one, [&](EventRef ref) { count += timeline.outermost_op(ref); });
  }
  return count;
}

double TotalMs(std::span<const LineShare> lines) {
  double ms = 0;
  for (const LineShare& line : lines) ms += line.ms;
  return ms;
}

std::vector<Interval> WithOperators(const Timeline& timeline, std::span<const Interval> stretches) {
  std::vector<Interval> recorded;
  std::ranges::copy_if(stretches, std::back_inserter(recorded), [&](const Interval& one) {
    const int step = timeline.step_at(one.start_ns);
    return step >= 0 && timeline.steps()[static_cast<std::size_t>(step)].operators;
  });
  return recorded.empty() ? std::vector<Interval>(stretches.begin(), stretches.end()) : recorded;
}

std::string WhatText(const PlaceTime& place) {
  return place.what.empty() ? "code of its own" : place.what;
}

std::string HintFor(const PlaceTime& place) {
  const auto found = std::ranges::find_if(kHints, [&](const Hint& hint) { return place.what.starts_with(hint.call); });
  return found == kHints.end() ? "" : "; " + std::string(found->text);
}

}  // namespace loopscope
