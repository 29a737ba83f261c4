// How far to trust the report, and what to run next.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reports/printable.h"
#include "reports/text_sections.h"
#include "reports/units.h"

namespace loopscope {
namespace {

constexpr std::size_t kRuleColumn = 27;
constexpr std::size_t kMostWarnings = 20;

std::string DataText(const Quality& quality) {
  std::string text = HumanCount(static_cast<double>(quality.events)) + " events";
  if (quality.dropped > 0) text += fmt::format(", {} dropped", HumanCount(static_cast<double>(quality.dropped)));
  if (quality.stalls_over_1ms > 0) text += fmt::format(", {} probe stalls over 1 ms", quality.stalls_over_1ms);
  if (quality.torn_bytes > 0) text += fmt::format(", {} torn", HumanBytes(static_cast<double>(quality.torn_bytes)));
  text += quality.clean_end ? ", ended in order" : ", did not end in order";
  if (quality.probe_cost_pct >= 0) text += fmt::format("; probes took {} of a step", HumanPct(quality.probe_cost_pct));
  return text;
}

void WriteRulesWith(Verdict verdict, std::string_view label, const Report& report, Page& page) {
  std::vector<std::string> ids;
  for (const RuleRow& rule : report.rules) {
    if (rule.verdict == verdict) ids.push_back(Printable(rule.id, 40));
  }
  if (ids.empty()) return;
  page.Entry(2, {""}, {fmt::format("{}: {}", label, fmt::join(ids, ", ")), Style::kDim});
}

bool HasVerdict(const Report& report, std::string_view verdict) {
  return std::ranges::any_of(report.trials, [&](const TrialRow& trial) { return trial.verdict == verdict; });
}

// What brought most, to be put into the program.
const TrialRow* BestTrial(const Report& report) {
  const TrialRow* best = nullptr;
  for (const TrialRow& trial : report.trials) {
    if (trial.verdict != "faster" || trial.rules.empty() || !trial.speedup) continue;
    if (best == nullptr || *trial.speedup > *best->speedup) best = &trial;
  }
  return best;
}

struct Next {
  std::string what;
  std::vector<std::string> command;  // empty: nothing to say
};

Next Loopscope(std::string what, std::vector<std::string> arguments, const std::vector<std::string>& program = {}) {
  arguments.insert(arguments.begin(), "loopscope");
  if (!program.empty()) arguments.push_back("--");
  arguments.insert(arguments.end(), program.begin(), program.end());
  return {std::move(what), std::move(arguments)};
}

Next NextAfterTrials(const Report& report) {
  if (const TrialRow* best = BestTrial(report)) {
    return Loopscope("shows how to make the change that brought most", {"rules", best->rules.front()});
  }
  if (report.run.command.empty() || !HasVerdict(report, "inconclusive")) return {};
  return Loopscope("measures longer, for narrower intervals", {"prove", "--blocks", "24", "--budget", "1h"},
                   report.run.command);
}

Next NextOf(const Report& report) {
  if (!report.trials.empty()) return NextAfterTrials(report);
  const auto treatable = [](const Finding& finding) { return !finding.treatment_id.empty(); };
  if (!report.run.command.empty() && std::ranges::any_of(report.findings, treatable)) {
    return Loopscope("reruns it with each fix and measures what each brings", {"prove"}, report.run.command);
  }
  if (!report.findings.empty()) {
    return Loopscope("explains the first finding", {"rules", report.findings.front().rule});
  }
  if (!report.steps.mean_ms) return Loopscope("says what works on this machine", {"doctor"});
  return {};
}

// Broken between arguments as a shell continues a line, so that it can be pasted.
void WriteCommand(const std::vector<std::string>& command, Page& page) {
  std::string line = " ";
  for (const std::string& argument : command) {
    const std::string word = ShellQuoted({argument}, page.columns() - 8);
    if (DisplayWidth(line) + DisplayWidth(word) + 3 > page.columns()) {
      page.Line({{line + " \\", Style::kBold}});
      line = "     ";
    }
    line += " " + word;
  }
  page.Line({{line, Style::kBold}});
}

}  // namespace

void WriteTrust(const Report& report, Page& page) {
  page.Heading("How far to trust this");
  // Timed launches alone record no events.
  const bool diagnosed = report.quality.events > 0 || report.trials.empty();
  if (diagnosed) page.Entry(2, {""}, {DataText(report.quality)});
  std::size_t shown = 0;
  for (const std::string& warning : report.quality.warnings) {
    if (shown == kMostWarnings) {
      page.Entry(2, {""}, {fmt::format("… and {} more warnings", report.quality.warnings.size() - shown)});
      break;
    }
    page.Entry(4, {"  !", Style::kYellow}, {warning, Style::kYellow});
    ++shown;
  }
  for (const RuleRow& rule : report.rules) {
    if (rule.verdict != Verdict::kCannotTell) continue;
    page.Entry(kRuleColumn, {"  " + rule.id}, {"cannot tell: " + Printable(rule.reason)});
  }
  WriteRulesWith(Verdict::kClear, "Looked for and not found", report, page);
  WriteRulesWith(Verdict::kNotApplicable, "Not applicable here", report, page);
}

void WriteNext(const Report& report, Page& page) {
  const Next next = NextOf(report);
  if (next.command.empty()) return;
  page.Heading("Next");
  WriteCommand(next.command, page);
  page.Entry(4, {""}, {next.what});
}

}  // namespace loopscope
