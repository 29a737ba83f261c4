// The report as a comment of a pull request: GitHub's Markdown, at most 65,000 bytes, the detail folded away. Content
// that does not fit is cut from the end, and counted.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/format.h"
#include "profiler/core/printable.h"
#include "reports/words/escape.h"
#include "reports/words/experiment_wording.h"
#include "reports/words/finding_wording.h"
#include "reports/words/headline_wording.h"
#include "reports/words/step_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostBytes = 65'000, kMostRows = 40, kMostPlaces = 5;
constexpr std::size_t kClosing = 400;  // reserved for closing a section and for the last line

// A comment that grows while there is room.
class Comment {
 public:
  explicit Comment(std::string& bytes) : bytes_(bytes), begin_(bytes.size()) {}

  // False when it does not fit: nothing is added then.
  bool Add(std::string_view text) {
    if (bytes_.size() - begin_ + text.size() + kClosing > kMostBytes) return false;
    bytes_ += text;
    return true;
  }
  // Lines that each stand alone; says how many were left out.
  template <class Rows, class Line>
  void AddEach(const Rows& rows, std::string_view of, Line line) {
    std::size_t added = 0;
    for (const auto& row : rows) {
      if (added == kMostRows || !Add(line(row))) break;
      ++added;
    }
    if (added < rows.size()) Close(fmt::format("\n… and {} more {}, in the JSON.\n", rows.size() - added, of));
  }
  void Close(std::string_view text) { bytes_ += text; }

 private:
  std::string& bytes_;
  std::size_t begin_;
};

std::string CostCell(const Report& report, const Finding& finding) {
  if (!(finding.cost_ms_per_step > 0) || !std::isfinite(finding.cost_ms_per_step)) return "–";
  const std::string run = ShareOfRunText(report, finding);
  return fmt::format("{} {} ({}{}{})", CostKindText(finding), HumanMs(finding.cost_ms_per_step),
                     HumanPct(finding.cost_pct), run.empty() ? "" : ", ", run);
}

std::string FirstPlace(const Finding& finding, const std::string& directory) {
  const auto placed = std::ranges::find_if(finding.evidence, [](const Evidence& one) { return one.where.has_value(); });
  return placed == finding.evidence.end() ? "–" : MarkdownText(PlaceText(*placed, directory), 160);
}

// A change as a fenced diff; each line begins with its sign, so that none can end the fence.
std::string DiffText(const CodeExample& example) {
  std::string text = "```diff\n";
  const auto add = [&](std::string_view code, std::string_view sign) {
    while (!code.empty()) {
      const std::size_t end = std::min(code.find('\n'), code.size());
      text += fmt::format("{} {}\n", sign, Printable(code.substr(0, end), 200));
      code.remove_prefix(std::min(end + 1, code.size()));
    }
  };
  add(example.before, "-");
  add(example.after, "+");
  return text + "```\n";
}

std::string DetailText(const Finding& finding, const Report& report) {
  std::string text = "\n**" + MarkdownText(finding.rule, 80) + "**: " + MarkdownText(finding.title, 300) + "\n\n";
  std::size_t places = 0;
  for (const Evidence& one : finding.evidence) {
    if (++places > kMostPlaces) break;
    const std::string place = one.where ? PlaceText(one, report.run.working_directory) : "";
    const std::string_view between = place.empty() || one.text.empty() ? "" : ": ";
    text += "- " + MarkdownText(fmt::format("{}{}{}", place, between, Printable(one.text, 200))) + "\n";
  }
  if (const std::string gain = GainExpectedText(report, finding); !gain.empty())
    text += "\n" + MarkdownText(gain) + "\n";
  if (const std::string advice = AdviceText(report, finding); !advice.empty())
    text += "\nFix: " + MarkdownText(advice) + "\n";
  if (const CodeExample* const example = ExampleFor(finding, report.run)) text += "\n" + DiffText(*example);
  return text;
}

std::string OpLine(const OpChange& op) {
  return fmt::format("| {} | {} | {} | {} | {:.4g} → {:.4g} |\n", MarkdownText(op.change, 20),
                     MarkdownText(op.name, 120) + (op.device ? " \\(GPU\\)" : ""), HumanMs(op.before_ms),
                     HumanMs(op.after_ms), op.before_count, op.after_count);
}

void WriteComparison(const Comparison& compare, Comment& comment) {
  comment.Add("Step against `before`: " + MarkdownText(ComparisonText(compare)) + "\n\n");
  comment.AddEach(compare.obstacles, "obstacles",
                  [](const std::string& one) { return "- not comparable: " + MarkdownText(one, 200) + "\n"; });
  const auto finding = [](std::string_view what) {
    return [what](const FindingName& one) {
      return fmt::format("- {}: {}: {}\n", what, MarkdownText(one.rule, 80), MarkdownText(one.title, 200));
    };
  };
  comment.AddEach(compare.new_findings, "new findings", finding("new"));
  comment.AddEach(compare.gone_findings, "findings that are gone", finding("gone"));
  if (!compare.ops.empty()) {
    comment.Add("\n| | op | before | after | times per step |\n|---|---|---:|---:|---:|\n");
    comment.AddEach(compare.ops, "ops", OpLine);
  }
  comment.Add("\n");
}

void WriteCounters(const GateRow& row, Comment& comment) {
  if (row.counters.empty()) return;
  comment.Add("\n| | counter | where |\n|---|---|---|\n");
  comment.AddEach(row.counters, "counters", [](const CounterRow& counter) {
    std::string places;
    for (std::size_t i = 0; i < counter.places.size() && i < kMostPlaces; ++i) {
      places += (i > 0 ? "<br>" : "") + MarkdownText(CounterPlaceText(counter.places[i]), 200);
    }
    return fmt::format("| {} | {} | {} |\n", counter.fails ? "❌" : "", MarkdownText(CounterText(counter), 300),
                       places.empty() ? "–" : places);
  });
}

std::string_view VerdictSign(GateVerdict verdict) {
  return verdict == GateVerdict::kPass ? "✅" : verdict == GateVerdict::kFail ? "❌" : "⚠️";
}

// Everything in a gate's comment.
void WriteGate(const Report& report, Comment& comment) {
  const GateFacts& gate = *report.gate;
  comment.Add(fmt::format("## {} Loopscope gate: {}\n", VerdictSign(DecidingRow(gate).verdict),
                          MarkdownText(GateHeadline(gate))));
  for (const GateRow& row : gate.workloads) {
    comment.Add("\n<code>" + MarkdownText(row.command, 240) + "</code> against <code>" +
                MarkdownText(row.against, 240) + "</code>\n\n");
    if (gate.workloads.size() > 1) {
      comment.Add(fmt::format("- {} {}\n", VerdictSign(row.verdict), MarkdownText(GateText(row))));
    }
    comment.Add("- time: " + MarkdownText(GateTimeText(row)) + "\n");
    comment.Add("- counters: " + MarkdownText(GateCountersText(row)) + "\n");
    comment.AddEach(row.notes, "notes", [](const std::string& note) { return "- " + MarkdownText(note, 400) + "\n"; });
    WriteCounters(row, comment);
    if (!row.grown.empty()) comment.Add(fmt::format("\n{}:\n\n", kGrownText));
    for (const GrownTime& one : row.grown) comment.Add("- " + MarkdownText(GrownText(one), 300) + "\n");
  }
}

// Everything in a sweep's comment about its cells.
void WriteSweep(const Report& report, Comment& comment) {
  const SweepFacts& sweep = *report.sweep;
  comment.Add("## Loopscope sweep: " + MarkdownText(SweepHeadline(sweep)) + "\n\n");
  comment.Add("<code>" + MarkdownText(ShellQuoted(report.run.command, 240)) + "</code>\n\n");
  if (sweep.loader_only) comment.Add("Of the loader alone.\n\n");
  comment.Add("| cell | time | over the best, 95 % CI | |\n|---|---:|---:|---|\n");
  comment.AddEach(sweep.cells, "cells", [&](const SweepCell& cell) {
    return fmt::format("| {} | {} | {} | {} |\n", MarkdownText(CellText(sweep, cell), 200),
                       MarkdownText(CellTimeText(sweep, cell)), MarkdownText(CellRatioText(cell)),
                       MarkdownText(CellNoteText(cell), 300));
  });
  if (!sweep.comparisons.empty()) comment.Add("\nThe quickest cell on fresh launches:\n\n");
  comment.AddEach(sweep.comparisons, "comparisons", [&](const SweepComparison& one) {
    return "- " + MarkdownText(SweepComparisonText(sweep, one), 400) + "\n";
  });
  comment.Add("\n");
  comment.AddEach(sweep.notes, "notes", [](const std::string& note) { return MarkdownText(note, 500) + "\n\n"; });
}

void WriteTarget(const TargetFacts& facts, Comment& comment) {
  comment.Add("\n### Time to the target\n\n" + MarkdownText(TargetHeadline(facts)) + "\n\n");
  comment.AddEach(facts.arms, "arms", [](const TargetArm& arm) {
    return "- " + MarkdownText(arm.name, 80) + ": " + MarkdownText(TargetArmText(arm)) + "\n";
  });
  comment.AddEach(facts.comparisons, "comparisons", [](const TargetComparison& one) {
    return "- **" + MarkdownText(one.name, 80) + "**: " + MarkdownText(TargetComparisonText(one)) + "\n";
  });
}

void WriteSummary(const Report& report, Comment& comment) {
  const bool gained = report.combined && Known(report.combined->speedup);
  comment.Add(gained ? "## Loopscope: " + MarkdownText(GainText(*report.combined)) + "\n\n" : "## Loopscope\n\n");
  comment.Add("**" + MarkdownText(HeadlineText(report), 400) + "**\n\n");
  if (!report.run.command.empty()) {
    comment.Add("<code>" + MarkdownText(ShellQuoted(report.run.command, 240)) + "</code>\n\n");
  }
  if (report.compare) WriteComparison(*report.compare, comment);
  if (!Known(report.steps.mean_ms)) return;
  comment.Add("A step takes " + MarkdownText(StepText(report.steps)) + ".\n");
  for (const std::string& text : {ClockText(report.steps), TrendText(report.steps)}) {
    if (!text.empty()) comment.Add("\n" + MarkdownText(text) + "\n");
  }
}

void WriteTime(const Report& report, Comment& comment) {
  const std::string tables = TimeTables(report);
  if (tables.empty() || !comment.Add("\n<details><summary>Where the time goes</summary>\n")) return;
  comment.Add(tables);
  comment.Close("\n</details>\n");
}

void WriteFindings(const Report& report, Comment& comment) {
  if (report.findings.empty()) return;
  comment.Add(
      "\n### What slows it\n\n"
      "| | cost per step | what | where | rule |\n|---|---:|---|---|---|\n");
  comment.AddEach(report.findings, "findings", [&](const Finding& finding) {
    return fmt::format("| {} | {} | {} | {} | {} |\n", SeverityName(finding.severity), CostCell(report, finding),
                       MarkdownText(finding.title, 200), FirstPlace(finding, report.run.working_directory),
                       MarkdownText(finding.rule, 80));
  });
}

void WriteTrials(const Report& report, Comment& comment) {
  if (report.trials.empty()) return;
  comment.Add(
      "\n### What each fix was measured to bring\n\n"
      "| fix | speedup, 95 % CI | blocks | verdict | checks |\n|---|---:|---:|---|---|\n");
  comment.AddEach(TrialEntries(report), "trials", [&](const TrialEntry& entry) {
    const TrialRow& trial = report.trials[entry.shown];
    const std::string speedup = Known(trial.speedup) ? HumanSpeedup(*trial.speedup, trial.ci95) : "–";
    return fmt::format("| {} | {} | {} | {} | {} |\n", MarkdownText(TreatmentText(trial.treatment, trial.value), 80),
                       MarkdownText(speedup), trial.n, MarkdownText(VerdictText(trial, report.noise) + AlsoText(entry)),
                       MarkdownText(ChecksText(trial), 300));
  });
  if (!report.combined || report.combined->treatments.empty()) return;
  const std::string all = fmt::format("{}", fmt::join(report.combined->treatments, ", "));
  comment.Add("\nTogether: " + MarkdownText(all, 300) + "\n");
}

void WriteDetails(const Report& report, Comment& comment) {
  if (report.findings.empty()) return;
  if (!comment.Add("\n<details><summary>Evidence and how to fix it</summary>\n")) return;
  comment.AddEach(report.findings, "findings", [&](const Finding& finding) { return DetailText(finding, report); });
  comment.Close("\n</details>\n");
}

void WriteTrust(const Report& report, Comment& comment) {
  if (!comment.Add("\n<details><summary>How far to trust this</summary>\n\n")) return;
  comment.Add("- " + MarkdownText(DataText(report.quality)) + "\n");
  comment.Add("- " + MarkdownText(RunText(report.run), 300) + "\n");
  comment.AddEach(report.quality.warnings, "warnings",
                  [](const Warning& one) { return "- warning: " + MarkdownText(one.text) + "\n"; });
  std::vector<const RuleRow*> untold;
  for (const RuleRow& rule : report.rules) {
    if (rule.verdict == Verdict::kCannotTell) untold.push_back(&rule);
  }
  comment.AddEach(untold, "rules", [](const RuleRow* rule) {
    return fmt::format("- {} cannot tell: {}\n", MarkdownText(rule->id, 80), MarkdownText(rule->reason));
  });
  comment.Close("\n</details>\n");
}

void WriteNext(const Report& report, Comment& comment) {
  const NextStep next = NextOf(report);
  if (next.command.empty()) return;
  const std::string command = "<code>" + MarkdownText(ShellQuoted(next.command, 200)) + "</code>";
  comment.Add("\nNext: " + command + " " + next.what + ".\n");
}

Result<void> WriteMarkdown(const Report& report, Output& output) {
  Comment comment(output.bytes);
  if (report.gate) {
    WriteGate(report, comment);
    WriteTrust(report, comment);
    return {};
  }
  if (report.sweep) {
    WriteSweep(report, comment);
    WriteTrust(report, comment);
    return {};
  }
  WriteSummary(report, comment);
  WriteNext(report, comment);
  WriteTrials(report, comment);
  if (report.target) WriteTarget(*report.target, comment);
  WriteFindings(report, comment);
  WriteTime(report, comment);
  WriteTrust(report, comment);
  WriteDetails(report, comment);
  return {};
}

}  // namespace

extern const Format kMarkdown = {"markdown", "a comment on a pull request", WriteMarkdown};

}  // namespace loopscope
