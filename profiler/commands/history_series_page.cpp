#include <fmt/format.h>

#include <cmath>

#include "profiler/commands/history_series.h"
#include "reports/words/escape.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

constexpr double kWidth = 720, kHeight = 184, kLeft = 72, kRight = 12, kTop = 10, kBottom = 24;
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
svg text { fill: var(--soft); font-size: 12px; }
line.scale { stroke: var(--line); }
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
  const std::string cause = CauseText(change);
  return fmt::format("changed here: {} → {} ({:+.1f} %){}{}", HumanMs(change.before_ms), HumanMs(change.after_ms),
                     change.pct(), cause.empty() ? "" : "; ", cause);
}

const char* ClassOf(const HistorySeries::Change& change) {
  return change.pct() > 0 ? "slower" : "faster";
}

// The largest of 1, 2 and 5 times a power of ten that is not above `most`.
double RoundBelow(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= most) return factor * power;
  }
  return power;
}

// One point per run, evenly spaced, from 0 to the slowest; a line where the level changed.
class Chart {
 public:
  explicit Chart(const HistorySeries& series)
      : series_(series), count_(static_cast<double>(series.runs.size())), slowest_ms_(series.slowest_ms()) {}

  std::string Text() const {
    return fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Step times from {} to {}, in the order of the runs\">\n"
        "{}{}</svg>\n",
        kWidth, kHeight, HumanMs(series_.fastest_ms()), HumanMs(slowest_ms_), Scales(), Runs());
  }

 private:
  double X(double run) const { return kLeft + (kWidth - kLeft - kRight) * (count_ > 1 ? run / (count_ - 1) : 0.5); }
  double Y(double ms) const { return kHeight - kBottom - (kHeight - kTop - kBottom) * ms / slowest_ms_; }

  // 0, a round time and its half to the left, the first and the last run's date below.
  std::string Scales() const {
    std::string scales;
    const double round_ms = RoundBelow(slowest_ms_);
    for (const double ms : {0.0, round_ms / 2, round_ms}) {
      scales += fmt::format(
          "<line class=\"scale\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
          "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
          kLeft, kWidth - kRight, Y(ms), kLeft - 8, Y(ms) + 4, ms == 0 ? "0" : HumanMs(ms));
    }
    const auto date = [](const HistoryRun& run) { return XmlText(run.time.substr(0, run.time.find('T'))); };
    const double below = kHeight - 6;
    const bool one = series_.runs.size() == 1;
    scales += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", X(0), below,
                          one ? "middle" : "start", date(series_.runs.front()));
    if (!one) {
      scales += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", X(count_ - 1), below,
                            date(series_.runs.back()));
    }
    return scales;
  }

  std::string Runs() const {
    std::string line, points, changes;
    for (std::size_t i = 0; i < series_.runs.size(); ++i) {
      const HistoryRun& run = series_.runs[i];
      const auto at = static_cast<double>(i);
      const double x = X(at), y = Y(*run.ms_per_step);
      line += fmt::format("{:.1f},{:.1f} ", x, y);
      points += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{} {}</title></circle>\n", x, y,
                            XmlText(run.time), HumanMs(*run.ms_per_step));
      if (const auto change = series_.ChangeAt(i)) {
        changes += fmt::format("<line class=\"{0}\" x1=\"{1:.1f}\" x2=\"{1:.1f}\" y1=\"{2}\" y2=\"{3}\"/>\n",
                               ClassOf(*change), X(at - 0.5), kTop, kHeight - kBottom);
      }
    }
    return fmt::format("{}<polyline points=\"{}\"/>\n{}", changes, line, points);
  }

  const HistorySeries& series_;
  double count_, slowest_ms_;
};

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
    page += Chart(one).Text() + Table(one, rule);
  }
  if (series.empty()) page += "<p>No timed run.</p>\n";
  return page + "</body>\n</html>\n";
}

}  // namespace loopscope
