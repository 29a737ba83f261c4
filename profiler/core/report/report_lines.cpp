// The lines of the program in a report, from those of the timeline.
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "profiler/core/report/report.h"
#include "profiler/core/timeline/line_pieces.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

struct Group {
  std::map<std::string, double> what;
  double ms = 0, operators_ms = 0;
};

using Place = std::tuple<Where, Where, std::string>;  // the user's line, the library's, the phase

Place PlaceOf(const Trace& trace, std::uint32_t stack, std::string phase) {
  Where user, library;
  if (stack < trace.stacks.size()) {
    const Stack& taken = trace.stacks[stack];
    if (!taken.frames.empty()) user = taken.frames.front();
    if (!taken.library.empty()) library = taken.library.front();
  }
  return {user, library, std::move(phase)};
}

using Groups = std::map<Place, Group>;

void Add(const Trace& trace, const LineShare& share, std::string phase, double ms, Groups& groups) {
  if (ms <= 0) return;
  Group& group = groups[PlaceOf(trace, share.stack, std::move(phase))];
  group.ms += ms;
  group.operators_ms += share.in_operator ? ms : 0;
  group.what[std::string(ops::Shown(trace.text(share.what)))] += ms;
}

std::optional<Where> Known(const Where& where) {
  return where == Where{} ? std::nullopt : std::optional(where);
}

std::vector<LineRow> RowsOf(const Groups& groups, double whole_ms) {
  std::vector<LineRow> rows;
  for (const auto& [place, group] : groups) {
    const auto& [user, library, phase] = place;
    const auto most = std::ranges::max_element(group.what, {}, [](const auto& one) { return one.second; });
    if (most == group.what.end()) continue;
    rows.push_back({Known(user), Known(library), most->first, phase, group.ms,
                    whole_ms > 0 ? 100 * group.ms / whole_ms : 0, most->second, group.operators_ms});
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &LineRow::ms);
  return rows;
}

// Per occurrence, by those whose lines are known.
std::vector<LineRow> OccurrenceRows(const Timeline& timeline, std::span<const Interval> occurrences,
                                    const std::string& phase, std::size_t times) {
  Groups groups;
  double total_ms = 0;
  for (const Interval& one : occurrences) total_ms += static_cast<double>(one.length()) / 1e6;
  const auto count = static_cast<double>(times);
  for (const LineShare& share : LinesIn(timeline, occurrences)) {
    Add(timeline.trace(), share, phase, share.ms / count, groups);
  }
  const bool known = std::ranges::any_of(groups, [](const auto& one) { return std::get<0>(one.first) != Where{}; });
  return known ? RowsOf(groups, total_ms / count) : std::vector<LineRow>();
}

}  // namespace

std::vector<LineRow> LineRowsOf(const Timeline& timeline) {
  Groups groups;
  for (const LineShare& share : timeline.lines()) {
    Add(timeline.trace(), share, std::string(PartName(share.part)), share.ms, groups);
  }
  return RowsOf(groups, timeline.mean_step_ms());
}

std::vector<LineRow> WholeLineRowsOf(const Timeline& timeline) {
  const WholeRun& whole = timeline.whole();
  std::vector<LineRow> rows;
  const auto add = [&](const std::vector<Interval>& occurrences, const char* phase, std::size_t times) {
    if (times == 0) return;
    const std::vector<LineRow> more = OccurrenceRows(timeline, occurrences, phase, times);
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add(whole.epoch_starts, "epoch_start", whole.epoch_starts.size());
  add(whole.evaluations, "evaluation", whole.evaluations.size());
  add(whole.before_epoch_starts, "other_between_steps", whole.epoch_starts.size());
  return rows;
}

std::vector<LineRow> WorkerLineRowsOf(const Timeline& timeline) {
  Groups groups;
  double total_ms = 0;
  for (const LineShare& share : WorkerLines(timeline)) {
    total_ms += share.ms;
    Add(timeline.trace(), share, "loading", share.ms, groups);
  }
  return RowsOf(groups, total_ms);
}

}  // namespace loopscope
