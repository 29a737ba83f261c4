// What each rank did, the one that the others wait for on top.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "profiler/core/printable.h"
#include "reports/text/sections.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostRows = 12;

std::string MsCell(const std::optional<double>& ms) {
  return ms ? HumanMs(*ms) : "?";
}

void WriteRank(const RankRow& rank, bool several_nodes, Page& page) {
  std::string name = Printable(std::filesystem::path(rank.input).filename().string(), 200);
  if (several_nodes) name = fmt::format("{} {}", rank.node.empty() ? "?" : Printable(rank.node, 64), name);
  page.Line({{fmt::format("  {:>5} {:>10} {:>10} {:>13} {:>11} {:>7}  ", rank.rank, MsCell(rank.mean_ms),
                          MsCell(rank.own_ms), MsCell(rank.communication_exposed_ms), MsCell(rank.loader_wait_ms),
                          rank.busy_pct ? HumanPct(*rank.busy_pct) : "-"),
              rank.shown ? Style::kBold : Style::kPlain},
             {name, Style::kDim}});
}

}  // namespace

void WriteRanks(const Report& report, Page& page) {
  if (report.per_rank.empty()) return;
  page.Heading("Ranks, by their own work in a step");
  page.Line({{fmt::format("  {:>5} {:>10} {:>10} {:>13} {:>11} {:>7}", "rank", "step", "own work", "communication",
                          "loader wait", "GPU"),
              Style::kDim}});
  std::vector<const RankRow*> rows;
  for (const RankRow& rank : report.per_rank) rows.push_back(&rank);
  std::ranges::stable_sort(rows, std::greater(), [](const RankRow* rank) { return rank->own_ms.value_or(0); });
  const bool several_nodes =
      std::ranges::any_of(report.per_rank, [&](const RankRow& one) { return one.node != report.per_rank[0].node; });
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) WriteRank(*rows[i], several_nodes, page);
  if (rows.size() > kMostRows) page.Entry(2, {""}, {fmt::format("… and {} more ranks", rows.size() - kMostRows)});
  for (const RankRow& rank : report.per_rank) {
    if (!rank.shown) continue;
    page.Entry(2, {""}, {fmt::format("Everything else in this report is about rank {}.", rank.rank), Style::kDim});
  }
}

}  // namespace loopscope
