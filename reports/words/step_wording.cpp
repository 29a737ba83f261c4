#include "reports/words/step_wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/printable.h"
#include "profiler/core/text.h"
#include "reports/words/escape.h"
#include "reports/words/headline_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

// "optimizer:SGD#1" and the like as a person says it.
std::string EndText(std::string_view ends_with) {
  const auto after = [&](std::string_view prefix) { return std::string(ends_with.substr(prefix.size())); };
  if (ends_with.starts_with("optimizer:")) {
    std::string name = after("optimizer:");
    return Printable(name.substr(0, name.find('#')), 80) + ".step()";
  }
  if (ends_with.starts_with("nvtx:")) return "the NVTX range \"" + Printable(after("nvtx:"), 80) + "\"";
  if (ends_with == "mark") return "the program's own mark";
  if (ends_with == "backward") return "a backward pass";
  if (ends_with == "gradient") return "the last gradient of a backward pass";
  if (ends_with.starts_with("ProfilerStep")) return "profiler.step()";
  return Printable(ends_with, 80);
}

}  // namespace

std::string StepText(const StepFacts& steps) {
  std::string text = fmt::format("{} on average over {}", HumanMs(*steps.mean_ms),
                                 Counted(steps.in_mean, steps.disturbed > 0 ? "undisturbed step" : "step"));
  if (Known(steps.p50_ms) && Known(steps.p95_ms)) {
    text += fmt::format(" (p50 {}, p95 {})", HumanMs(*steps.p50_ms), HumanMs(*steps.p95_ms));
  }
  if (Known(steps.samples_per_s)) text += fmt::format(", {} samples/s", HumanCount(*steps.samples_per_s));
  if (steps.disturbed > 0) {
    text += fmt::format("; {} slowed down by recording details, and give{} proportions only",
                        Counted(steps.disturbed, "more was", "more were"), steps.disturbed == 1 ? "s" : "");
  }
  return text;
}

std::string ClockText(const StepFacts& steps) {
  if (!steps.clock || steps.clock->ends_with.empty()) return "";
  const ClockFacts& clock = *steps.clock;
  std::vector<std::string> holds;
  if (Known(clock.batches)) holds.push_back(Counted(*clock.batches, "batch", "batches"));
  if (Known(clock.backwards)) holds.push_back(Counted(*clock.backwards, "backward pass", "backward passes"));
  // One call is the end of the step itself.
  if (Known(clock.optimizer_calls) && CountText(*clock.optimizer_calls) != "1") {
    holds.push_back(Counted(*clock.optimizer_calls, "optimizer call"));
  }
  const std::string_view guess = clock.guessed ? "Steps are guessed: one is taken to end with" : "A step ends with";
  std::string text = fmt::format("{} {}", guess, EndText(clock.ends_with));
  if (!holds.empty()) text += fmt::format(": {}", fmt::join(holds, ", "));
  return text + (clock.guessed ? ". Every figure per step is a guess." : ".");
}

std::string TrendText(const StepFacts& steps) {
  std::string text;
  if (Known(steps.trend_pct) && *steps.trend_pct != 0) {
    text = fmt::format("Steps get {}: by {} over the measured ones, so that their mean stands for none of them.",
                       *steps.trend_pct > 0 ? "longer" : "shorter", HumanPct(std::abs(*steps.trend_pct)));
  }
  if (steps.transient <= 0) return text;
  text += text.empty() ? "" : " ";
  const bool one = steps.transient == 1;
  text += one ? "The first step after warm-up" : fmt::format("The first {} steps after warm-up", steps.transient);
  if (Known(steps.transient_mean_ms)) {
    text += fmt::format(" took {}{} and", HumanMs(*steps.transient_mean_ms), one ? "" : " on average");
  }
  return text + (one ? " is left out." : " are left out.");
}

std::string EpochText(const Report& report) {
  if (!Known(report.steps.per_epoch_ms)) return "";
  if (report.whole && report.whole->epoch_starts == 0) return "";
  return fmt::format("An epoch boundary takes {} more.", HumanMs(*report.steps.per_epoch_ms));
}

std::vector<WholeRow> WholeRows(const Report& report) {
  if (!report.whole || !std::isfinite(report.whole->total_ms()) || report.whole->total_ms() <= 0) return {};
  const WholeFacts& whole = *report.whole;
  const auto counted = [](int count, std::string_view one, std::string_view many) {
    return count > 0 ? Counted(count, one, many) : std::string(many);
  };
  std::vector<WholeRow> rows = {
      {"start-up", "start_up", whole.start_up_ms},
      {counted(whole.steps, "step", "steps"), "", whole.steps_ms},
      {counted(whole.epoch_starts, "start of an epoch", "starts of epochs"), "epoch_start", whole.epoch_starts_ms},
      {counted(whole.evaluations, "evaluation", "evaluations"), "evaluation", whole.evaluation_ms},
      {"other between steps", "other_between_steps", whole.other_between_steps_ms}};
  std::erase_if(rows, [](const WholeRow& row) { return !(row.ms > 0); });
  for (WholeRow& row : rows) row.share_pct = 100 * row.ms / whole.total_ms();
  return rows;
}

std::string LinePlaceText(const LineRow& line, const std::string& directory) {
  const std::string place = PlacesText(line.where, line.library, directory);
  const std::string what = Printable(line.what, 120);
  if (place.empty()) return what.empty() ? "no line is known" : what + ", no line is known";
  return what.empty() ? place : place + ": " + what;
}

namespace {

constexpr std::size_t kMostLines = 10;

std::string LineTable(const Report& report) {
  if (report.lines.empty()) return "";
  std::string table = "\n| of a step | | phase | where |\n|---:|---:|---|---|\n";
  for (std::size_t i = 0; i < std::min(report.lines.size(), kMostLines); ++i) {
    const LineRow& line = report.lines[i];
    table += fmt::format("| {} | {} | {} | {} |\n", HumanMs(line.ms), HumanPct(line.share_pct),
                         MarkdownText(PhaseText(line.phase), 40),
                         MarkdownText(LinePlaceText(line, report.run.working_directory), 300));
  }
  return table;
}

}  // namespace

std::string TimeTables(const Report& report) {
  std::string tables = LineTable(report);
  const std::vector<WholeRow> parts = WholeRows(report);
  if (!parts.empty()) tables += "\n| of the run, as far as it was seen | | |\n|---|---:|---:|\n";
  for (const WholeRow& part : parts) {
    tables += fmt::format("| {} | {} | {} |\n", part.name, HumanMs(part.ms), HumanPct(part.share_pct));
  }
  return tables;
}

}  // namespace loopscope
