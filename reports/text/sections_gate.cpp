// The verdict of a gate, for a person who reads the log of a CI job.
#include <fmt/format.h>

#include "profiler/core/printable.h"
#include "reports/text/sections.h"
#include "reports/words/experiment_wording.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostCounters = 20, kMostCounterPlaces = 4;

Style StyleOf(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kPass:
      return Style::kGreen;
    case GateVerdict::kFail:
      return Style::kRed;
    case GateVerdict::kInconclusive:
      break;
  }
  return Style::kYellow;
}

void WriteCounter(const CounterRow& counter, Page& page) {
  page.Entry(4, {counter.fails ? "  x" : "  -", counter.fails ? Style::kRed : Style::kDim}, {CounterText(counter)});
  std::size_t shown = 0;
  for (const CounterPlace& place : counter.places) {
    if (shown++ == kMostCounterPlaces) break;
    page.Entry(6, {""}, {CounterPlaceText(place), Style::kDim});
  }
}

void WriteCounters(const GateRow& row, Page& page) {
  std::size_t shown = 0;
  for (const CounterRow& counter : row.counters) {
    if (shown++ == kMostCounters) {
      return page.Entry(4, {""}, {fmt::format("… and {} more, in the JSON", row.counters.size() - kMostCounters)});
    }
    WriteCounter(counter, page);
  }
}

void WriteWorkload(const GateRow& row, bool alone, Page& page) {
  page.Heading(alone ? std::string_view("The gate") : std::string_view(Printable(row.command, 200)));
  if (!alone) page.Entry(kLabelColumn, {"  verdict"}, {GateText(row), StyleOf(row.verdict)});
  page.Entry(kLabelColumn, {"  against"}, {Printable(row.against, 300)});
  page.Entry(kLabelColumn, {"  time"}, {GateTimeText(row)});
  page.Entry(kLabelColumn, {"  counters"}, {GateCountersText(row)});
  WriteCounters(row, page);
  if (!row.grown.empty()) page.Entry(2, {""}, {kGrownText});
  for (const GrownTime& one : row.grown) page.Entry(4, {"  +", Style::kDim}, {GrownText(one)});
  for (const std::string& note : row.notes) page.Entry(4, {"  !", Style::kYellow}, {Printable(note, 400)});
}

}  // namespace

void WriteGate(const Report& report, Page& page) {
  const GateFacts& gate = *report.gate;
  const GateRow& deciding = DecidingRow(gate);
  const std::string subject = gate.workloads.size() == 1 ? Printable(deciding.command, 240)
                                                         : fmt::format("gate of {} workloads", gate.workloads.size());
  page.Entry(kLabelColumn, {"Loopscope", Style::kBold}, {subject});
  const std::string facts = Printable(RunText(report.run), 300);
  if (!facts.empty()) page.Entry(kLabelColumn, {""}, {facts, Style::kDim});
  page.Blank();
  page.Entry(kLabelColumn, {"Gate", Style::kBold}, {GateHeadline(gate), StyleOf(deciding.verdict)});
  for (const GateRow& row : gate.workloads) WriteWorkload(row, gate.workloads.size() == 1, page);
  for (const Warning& warning : report.quality.warnings) {
    page.Entry(4, {"  !", Style::kYellow}, {Printable(warning.text, 400), Style::kYellow});
  }
}

}  // namespace loopscope
