// The rows of a report's collectives: one rank's times, and what a comparison of ranks adds.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "profiler/core/report/rank_summary.h"
#include "profiler/core/report/report.h"
#include "profiler/core/timeline/collectives.h"

namespace loopscope {
namespace {

// The lengths of one collective on all ranks that took part in it.
struct Meeting {
  std::size_t ranks = 0;
  std::int64_t shortest_ns = INT64_MAX, sum_ns = 0;
  double bus_bytes = 0;

  void Add(const RankCollective& one, double factor) {
    ++ranks;
    shortest_ns = std::min(shortest_ns, one.length_ns);
    sum_ns += one.length_ns;
    bus_bytes = std::max(bus_bytes, factor * static_cast<double>(one.bytes));
  }
};

struct Met {
  std::size_t count = 0;
  double transfer_ns = 0, waiting_ns = 0, bus_bytes = 0;  // waiting: mean over the ranks
};

using Row = std::pair<std::string, std::string>;  // "group operation", phase as in CollectiveRow

std::string PhaseText(const std::optional<Part>& phase) {
  return phase ? std::string(PartName(*phase)) : "";
}

// By number in the group where it is known, else by order.
std::map<Row, Met> MeetingsOf(std::span<const RankSummary> ranks) {
  std::map<std::pair<Row, std::uint64_t>, Meeting> meetings;
  for (const RankSummary& rank : ranks) {
    std::map<Row, std::uint64_t> counts;
    for (const RankCollective& one : rank.collectives) {
      if (!one.steady) continue;
      const std::string& name = rank.names[one.name];
      const Row row{name, PhaseText(one.phase)};
      const std::uint64_t number = one.sequence != 0 ? one.sequence : ++counts[row];
      meetings[{row, number}].Add(one, BusFactor(name.substr(name.rfind(' ') + 1), one.ranks));
    }
  }
  std::map<Row, Met> all;
  for (const auto& [key, meeting] : meetings) {
    if (meeting.ranks < 2) continue;
    Met& met = all[key.first];
    ++met.count;
    met.transfer_ns += static_cast<double>(meeting.shortest_ns);
    met.waiting_ns += static_cast<double>(meeting.sum_ns) / static_cast<double>(meeting.ranks) -
                      static_cast<double>(meeting.shortest_ns);
    met.bus_bytes += meeting.bus_bytes;
  }
  return all;
}

}  // namespace

std::vector<CollectiveRow> CollectiveRowsOf(const Timeline& timeline) {
  std::vector<CollectiveRow> rows;
  const auto steps = static_cast<double>(std::max<std::size_t>(timeline.steady().size(), 1));
  for (const CollectiveTimes& times : CollectivesOf(timeline)) {
    CollectiveRow& row = rows.emplace_back();
    row.group = times.group;
    row.operation = times.operation;
    row.phase = PhaseText(times.phase);
    row.ranks = times.ranks;
    row.count = static_cast<double>(times.count) / steps;
    row.ms = static_cast<double>(times.total_ns) / 1e6 / steps;
    row.exposed_ms = static_cast<double>(times.exposed_ns) / 1e6 / steps;
    if (times.bytes > 0) row.mbytes = static_cast<double>(times.bytes) / 1e6 / steps;
    if (times.sum_ns > 0) row.bus_gbytes_per_s = times.bus_bytes / static_cast<double>(times.sum_ns);
  }
  return rows;
}

void CompareCollectives(std::span<const RankSummary> ranks, std::vector<CollectiveRow>& rows) {
  if (ranks.size() < 2) return;
  const std::map<Row, Met> all = MeetingsOf(ranks);
  for (CollectiveRow& row : rows) {
    const auto found = all.find({row.group + " " + row.operation, row.phase});
    if (found == all.end()) continue;
    const Met& met = found->second;
    row.skew_ms = row.count * met.waiting_ns / static_cast<double>(met.count) / 1e6;
    if (met.bus_bytes > 0 && met.transfer_ns > 0) row.bus_gbytes_per_s = met.bus_bytes / met.transfer_ns;
  }
}

}  // namespace loopscope
