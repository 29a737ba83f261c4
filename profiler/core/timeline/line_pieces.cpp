#include "profiler/core/timeline/line_pieces.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace loopscope {
namespace {

bool WaitsOrWrites(const Event& event) {
  return event.is_range(RangeCategory::kPause) || event.is_range(RangeCategory::kOutput);
}

// Index of the first of `by_start` that ends after time_ns.
template <class Items, class TimeOf>
std::size_t FirstEndingAfter(const Items& by_start, std::int64_t time_ns, TimeOf time_of) {
  return static_cast<std::size_t>(
      std::ranges::partition_point(by_start, [&](const auto& one) { return time_of(one).end_ns <= time_ns; }) -
      by_start.begin());
}

using LineTimes = std::map<std::tuple<std::uint32_t, StringId, Part, bool>, double>;  // ns

std::vector<LineShare> Sorted(const LineTimes& rows) {
  std::vector<LineShare> lines;
  for (const auto& [row, ns] : rows) {
    const auto& [stack, what, part, in_operator] = row;
    if (ns > 0) lines.push_back({stack, what, part, in_operator, ns / 1e6, 0});
  }
  std::ranges::stable_sort(lines, std::ranges::greater{}, &LineShare::ms);
  return lines;
}

}  // namespace

std::vector<LineShare> LinesIn(const Timeline& timeline, std::span<const Interval> within) {
  LineTimes rows;
  const LinePieces pieces(timeline);
  for (const Interval& one : within) {
    pieces.ForEach(one, [&](const LinePiece& piece) {
      const auto ns = static_cast<double>(piece.time.length());
      if (piece.op != 0) {
        rows[{piece.stack, piece.op, piece.part, true}] += ns;
        return;
      }
      rows[{piece.stack, piece.called, piece.part, false}] += ns * (1 - piece.own_share);
      rows[{piece.stack, 0, piece.part, false}] += ns * piece.own_share;
    });
  }
  return Sorted(rows);
}

std::vector<LineShare> WorkerLines(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  if (timeline.training_thread() == kNone) return {};
  const std::uint32_t own_pid = trace.threads[timeline.training_thread()].pid;
  const auto in_worker = [&](std::uint32_t thread) {
    return thread < trace.threads.size() && trace.threads[thread].pid != own_pid &&
           !trace.threads[thread].lines.empty();
  };
  const auto batches = static_cast<double>(std::ranges::count_if(trace.marks, [&](const Mark& mark) {
    return mark.kind == MarkKind::kFollowBegin && trace.text(mark.name) == "worker" && in_worker(mark.thread);
  }));
  LineTimes rows;
  for (std::uint32_t t = 0; t < trace.threads.size() && batches > 0; ++t) {
    if (!in_worker(t)) continue;
    for (const LineSlice& slice : trace.threads[t].lines) {
      const double ns = static_cast<double>(slice.end_ns - slice.start_ns) / batches;
      const auto own_share = static_cast<double>(slice.own_share);
      rows[{slice.stack, slice.called, Part::kLoaderWait, false}] += ns * (1 - own_share);
      rows[{slice.stack, 0, Part::kLoaderWait, false}] += ns * own_share;
    }
  }
  return Sorted(rows);
}

std::vector<std::pair<Interval, Part>> LinePieces::PartsIn(Interval within) const {
  std::vector<std::pair<Interval, Part>> parts;
  for (int part = 0; part < kParts; ++part) {
    if (static_cast<Part>(part) == Part::kOther) continue;
    const IntervalSet inside = timeline_.part(static_cast<Part>(part)).Within(within);
    for (const Interval& time : inside.intervals()) parts.push_back({time, static_cast<Part>(part)});
  }
  std::ranges::sort(parts, {}, [](const auto& one) { return one.first.start_ns; });
  return parts;
}

std::uint32_t LinePieces::StackOf(EventRef ref) const {
  for (std::uint32_t at = ref.index; at != kNone; at = timeline_.parent({ref.thread, at})) {
    const EventRef here{ref.thread, at};
    if (const EventDetail* taken = timeline_.detail(here); taken && taken->stack != kNone) return taken->stack;
    if (timeline_.event(here).kind != EventKind::kRange) continue;
    const auto found = timeline_.trace().range_stacks.find(std::uint64_t{ref.thread} << 32 | at);
    if (found != timeline_.trace().range_stacks.end()) return found->second;
  }
  return kNone;
}

// Whether the second place stands further up in the function of the first.
bool LinePieces::BeginsAnew(std::uint32_t first, std::uint32_t second) const {
  const std::vector<Stack>& stacks = timeline_.trace().stacks;
  if (first >= stacks.size() || second >= stacks.size()) return false;
  if (stacks[first].frames.empty() || stacks[second].frames.empty()) return false;
  const Where &before = stacks[first].frames.front(), &after = stacks[second].frames.front();
  return before.path == after.path && before.function == after.function && after.line < before.line;
}

// Outermost operators, and what the thread waits for or writes outside of them.
std::vector<LinePieces::Work> LinePieces::WorkIn(Interval within) const {
  std::vector<Work> work;
  std::int64_t covered_to = within.start_ns;
  timeline_.ForEach(timeline_.training_thread(), within, [&](EventRef ref) {
    const Event& event = timeline_.event(ref);
    const bool is_op = event.kind == EventKind::kOp && !(event.flags & wire::kOpAsync);
    if ((!is_op && !WaitsOrWrites(event)) || event.start_ns < covered_to) return;
    covered_to = std::min(event.end_ns, within.end_ns);
    work.push_back({{event.start_ns, covered_to}, event.name, StackOf(ref), is_op});
  });
  return work;
}

// Between two operators of one function, the time belongs to the line of the second: it prepares what that one uses.
// Where that stands further up, a loop has begun anew, and the time is more likely that of the lines after the first.
void LinePieces::Place(const std::vector<Work>& work, std::size_t next, LinePiece& piece) const {
  const auto known = [&](std::size_t i) { return i < work.size() && work[i].stack != kNone; };
  const bool before = next > 0 && known(next - 1);
  if (known(next) && !(before && BeginsAnew(work[next - 1].stack, work[next].stack))) {
    piece.stack = work[next].stack;
  } else if (before) {
    piece.stack = work[next - 1].stack;
  }
  piece.own_share = 1;
}

void LinePieces::ForEach(Interval within, const std::function<void(const LinePiece&)>& visit) const {
  const std::vector<Work> work = WorkIn(within);
  const std::vector<std::pair<Interval, Part>> parts = PartsIn(within);
  static const std::vector<LineSlice> kNoLines;
  const std::uint32_t thread = timeline_.training_thread();
  const auto& lines = thread != kNone ? timeline_.trace().threads[thread].lines : kNoLines;
  std::size_t op = 0, part = 0;
  std::size_t line = FirstEndingAfter(lines, within.start_ns, [](const auto& one) {
    return Interval{one.start_ns, one.end_ns};
  });
  for (std::int64_t at = within.start_ns; at < within.end_ns;) {
    LinePiece piece{.time = {at, within.end_ns}};
    // Goes on to the interval that is next at this time; whether that holds it already.
    const auto in = [&](Interval next) {
      piece.time.end_ns = std::min(piece.time.end_ns, next.start_ns > at ? next.start_ns : next.end_ns);
      return next.start_ns <= at;
    };
    while (op < work.size() && work[op].time.end_ns <= at) ++op;
    while (part < parts.size() && parts[part].first.end_ns <= at) ++part;
    while (line < lines.size() && lines[line].end_ns <= at) ++line;
    const bool works = op < work.size() && in(work[op].time);
    if (part < parts.size() && in(parts[part].first)) piece.part = parts[part].second;
    const bool followed = line < lines.size() && in({lines[line].start_ns, lines[line].end_ns});
    if (works && work[op].is_op) {
      piece.op = work[op].name;
    } else {
      piece.before = op > 0 ? work[op - 1].name : 0;
      const std::size_t next = works ? op + 1 : op;
      piece.after = next < work.size() ? work[next].name : 0;
    }
    if (works && !work[op].is_op && work[op].stack != kNone) {
      piece.stack = work[op].stack;  // it sleeps, or writes
      piece.called = work[op].name;
    } else if (followed) {
      piece.stack = lines[line].stack;
      piece.called = lines[line].called;
      piece.own_share = lines[line].own_share;
    } else if (works) {
      piece.stack = work[op].stack;
      piece.called = work[op].is_op ? 0 : work[op].name;
    } else {
      Place(work, op, piece);
    }
    visit(piece);
    at = piece.time.end_ns;
  }
}

}  // namespace loopscope
