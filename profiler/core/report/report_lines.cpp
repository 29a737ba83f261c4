// The lines of the program in a report, from those of the timeline.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "profiler/core/report/report.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

struct Group {
  std::map<std::string, double> what;
  double ms = 0;
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

std::optional<Where> Known(const Where& where) {
  return where == Where{} ? std::nullopt : std::optional(where);
}

std::vector<LineRow> RowsOf(const std::map<Place, Group>& groups, double whole_ms) {
  std::vector<LineRow> rows;
  for (const auto& [place, group] : groups) {
    const auto& [user, library, phase] = place;
    const auto most = std::ranges::max_element(group.what, {}, [](const auto& one) { return one.second; });
    rows.push_back({Known(user), Known(library), most == group.what.end() ? "" : most->first, phase, group.ms,
                    whole_ms > 0 ? 100 * group.ms / whole_ms : 0});
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &LineRow::ms);
  return rows;
}

}  // namespace

std::vector<LineRow> LineRowsOf(const Timeline& timeline) {
  std::map<Place, Group> groups;
  for (const LineShare& share : timeline.lines()) {
    Group& group = groups[PlaceOf(timeline.trace(), share.stack, std::string(PartName(share.part)))];
    group.ms += share.ms;
    group.what[std::string(ops::Shown(timeline.trace().text(share.what)))] += share.ms;
  }
  return RowsOf(groups, timeline.mean_step_ms());
}

}  // namespace loopscope
