#include "profiler/commands/history_page.h"

#include <fmt/format.h>

#include "reports/words/escape.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

constexpr double kWidth = 720, kHeight = 160, kMargin = 8;
constexpr char kHead[] = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Step times over many runs</title>
<style>
:root { color-scheme: light dark; --ink: light-dark(#1b1f24, #e6e9ee); --soft: light-dark(#57606a, #a3adb8);
  --line: light-dark(#d0d7de, #3a414b); --accent: light-dark(#0b5cad, #79b8ff); --bad: light-dark(#b42318, #ff8a7a);
  --good: light-dark(#146c43, #6fd3a0); }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); background: light-dark(#fff, #14171c);
  max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { overflow-wrap: anywhere; margin: 2.5rem 0 0; font-size: 1.1rem; }
p { color: var(--soft); margin: 0.2rem 0 0.8rem; }
svg { width: 100%; height: auto; border: 1px solid var(--line); }
polyline { fill: none; stroke: var(--accent); stroke-width: 1.5; }
circle { fill: var(--accent); }
line.slower { stroke: var(--bad); } line.faster { stroke: var(--good); }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.slower { color: var(--bad); } .faster { color: var(--good); }
.scroll { overflow-x: auto; }
</style>
</head>
<body>
<h1>Step times over many runs</h1>
)";

std::string ChangeText(const HistorySeries::Change& change) {
  return fmt::format("changed here: {} → {} ({:+.1f} %)", HumanMs(change.before_ms), HumanMs(change.after_ms),
                     change.pct());
}

const char* ClassOf(const HistorySeries::Change& change) {
  return change.pct() > 0 ? "slower" : "faster";
}

// One point per run, evenly spaced, from 0 to the slowest; a line where the level changed.
std::string Chart(const HistorySeries& series) {
  const auto count = static_cast<double>(series.runs.size());
  const double slowest = series.slowest_ms();
  const auto x = [&](double i) { return kMargin + (kWidth - 2 * kMargin) * (count > 1 ? i / (count - 1) : 0.5); };
  const auto y = [&](double ms) { return kHeight - kMargin - (kHeight - 2 * kMargin) * ms / slowest; };
  std::string line, points, changes;
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    const HistoryRun& run = series.runs[i];
    const auto at = static_cast<double>(i);
    const double px = x(at), py = y(*run.ms_per_step);
    line += fmt::format("{:.1f},{:.1f} ", px, py);
    points += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{} {}</title></circle>\n", px, py,
                          XmlText(run.time), HumanMs(*run.ms_per_step));
    if (const auto change = series.ChangeAt(i)) {
      changes += fmt::format("<line class=\"{0}\" x1=\"{1:.1f}\" x2=\"{1:.1f}\" y1=\"0\" y2=\"{2}\"/>\n",
                             ClassOf(*change), x(at - 0.5), kHeight);
    }
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Step times from {} to {}, in the order of the runs\">\n"
      "{}<polyline points=\"{}\"/>\n{}</svg>\n",
      kWidth, kHeight, HumanMs(series.fastest_ms()), HumanMs(slowest), changes, line, points);
}

std::string Table(const HistorySeries& series, const std::string& rule) {
  std::string rows;
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    const HistoryRun& run = series.runs[i];
    if (const auto change = series.ChangeAt(i)) {
      rows += fmt::format("<tr><td class=\"{}\" colspan=\"3\">{}</td></tr>\n", ClassOf(*change), ChangeText(*change));
    }
    rows += fmt::format("<tr><td>{}</td><td class=\"number\">{}</td><td>{}</td></tr>\n", XmlText(run.time),
                        HumanMs(*run.ms_per_step), XmlText(RunText(run, rule)));
  }
  return "<div class=\"scroll\"><table>\n<tr><th>started</th><th class=\"number\">step</th><th>result</th></tr>\n" +
         rows + "</table></div>\n";
}

}  // namespace

std::string HistoryPage(const std::vector<HistorySeries>& series, const std::string& rule) {
  std::string page = kHead;
  for (const HistorySeries& one : series) {
    page +=
        fmt::format("<h2>{}</h2>\n<p>{}: {} run{}{}</p>\n", XmlText(one.command), XmlText(one.machine), one.runs.size(),
                    one.runs.size() == 1 ? "" : "s", one.changes.empty() ? ", no change of level" : "");
    page += Chart(one) + Table(one, rule);
  }
  if (series.empty()) page += "<p>No timed run.</p>\n";
  return page + "</body>\n</html>\n";
}

}  // namespace loopscope
