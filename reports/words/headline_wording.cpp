#include "reports/words/headline_wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "profiler/core/printable.h"
#include "profiler/core/report/run_end.h"
#include "profiler/core/text.h"
#include "reports/words/finding_wording.h"
#include "reports/words/units.h"
#include "reports/words/wording.h"

namespace loopscope {
namespace {

constexpr double kNearFloor = 1.3;      // times: a step that takes no longer than that has little to gain
constexpr double kMostUnknownPct = 30;  // of the step, in operators without a formula: more, and nothing is said

constexpr double kMostly = 0.5;  // of one occurrence: then its line is named with its time

// ": aten::multinomial"; nothing where the line's own code runs.
std::string WhatText(const Headline& headline, std::string_view before, std::string_view after = "") {
  return headline.what.empty() ? "" : fmt::format("{}{}{}", before, Printable(headline.what, 120), after);
}

std::string Place(const Headline& headline, const Report& report) {
  return PlacesText(headline.where, headline.library, report.run.working_directory);
}

// "89 % of the step (140 ms of 158 ms)".
std::string ShareText(const Headline& headline, const Report& report) {
  return fmt::format("{} of the step ({} of {})", HumanPct(headline.share_pct), HumanMs(headline.ms),
                     HumanMs(*report.steps.mean_ms));
}

// Names the time of a phase that does not compute.
std::string LostText(std::string_view phase, const std::optional<Where>& where) {
  if (phase == "loader_wait") return "waiting for the loader";
  if (phase == "h2d_copy") return "copying to the device";
  if (phase == "communication_exposed") return "communication that nothing covers";
  const std::string code = where && where->path.ends_with(".py") ? "Python" : "host code";
  return phase == "forward" ? code + " in the forward pass" : code;
}

std::string PlaceSentence(const Headline& headline, const Report& report) {
  const std::string share = ShareText(headline, report), lost = LostText(headline.part, headline.where);
  if (headline.where) {
    return fmt::format("{} is {} at {}{}", share, lost, Place(headline, report), WhatText(headline, ": "));
  }
  const std::string_view outside = headline.part == "other" ? " outside the passes and the optimizer" : "";
  return fmt::format("{} is {}{}{}; no line of the program is known for it", share, lost, outside,
                     WhatText(headline, " (", ")"));
}

std::string SpreadSentence(const Headline& headline, const Report& report) {
  std::string text = fmt::format("{} is {}, spread over {}", ShareText(headline, report),
                                 LostText(headline.part, headline.where), Counted(headline.places, "place"));
  if (!headline.where) return text;
  return text + fmt::format("; the largest is {} at {}{}", HumanMs(headline.at_ms), Place(headline, report),
                            WhatText(headline, ": "));
}

// The share is of the run without its start-up.
std::string RunShareText(const Headline& headline, const Report& report) {
  const bool started = report.whole && report.whole->start_up_ms > 0.01 * report.whole->total_ms();
  return fmt::format("{} of the run{}", HumanPct(headline.share_pct), started ? " after start-up" : "");
}

std::string WholePartSentence(const Headline& headline, const Report& report) {
  const std::string run = RunShareText(headline, report);
  if (headline.part == "epoch_start" && headline.where && headline.at_ms >= kMostly * headline.occurrence_ms) {
    return fmt::format("{} of {} of each epoch's start are at {}{} ({})", HumanMs(headline.at_ms),
                       HumanMs(headline.occurrence_ms), Place(headline, report), WhatText(headline, ": "), run);
  }
  std::string text = headline.part == "evaluation"    ? run + " is evaluation"
                     : headline.part == "epoch_start" ? run + " is spent at the starts of epochs"
                                                      : run +
                                                            " passes between steps, outside epochs' starts and "
                                                            "evaluations";
  if (!headline.where) return text + "; no line of the program is known for it";
  return text + fmt::format(", {}at {}{}", headline.part == "evaluation" ? "" : "most of it ", Place(headline, report),
                            WhatText(headline, ": "));
}

// "up to 12.3 ms of each 60.0 ms step".
std::string CostSentence(const Headline& headline, const Report& report) {
  const Finding& finding = *headline.finding;
  const std::string worth = std::string(WorthWord(finding)) + HumanMs(headline.ms);
  const std::string step = HumanMs(*report.steps.mean_ms);
  if (!finding.per_epoch) return fmt::format("{} of each {} step", worth, step);
  if (!headline.of_run) return fmt::format("{} per step of {}, at epoch boundaries", worth, step);
  return fmt::format("{}{}", WorthWord(finding), RunShareText(headline, report));
}

std::string FindingSentence(const Headline& headline, const Report& report) {
  const Finding& finding = *headline.finding;
  std::string text = fmt::format("{} ({})", Printable(finding.title, 200), Printable(finding.rule, 40));
  if (headline.where) {
    text += headline.at_ms > 0 ? ", the largest part of it at " : ", at ";
    text += PlaceText(Evidence{.where = headline.where, .called_at = headline.called_at}, report.run.working_directory);
    const bool said = finding.title.find(headline.what) != finding.title.npos;
    if (headline.at_ms > 0) {
      text += fmt::format(" ({}{})", HumanMs(headline.at_ms), said ? "" : WhatText(headline, ": "));
    }
  }
  return headline.ms > 0 ? text + ": " + CostSentence(headline, report) : text;
}

// Of a step that computes, how far it is from what its operators need.
enum class Nearness { kUnknown, kNear, kFar };

Nearness NearnessOf(const Report& report) {
  const std::optional<Headroom>& headroom = report.headroom;
  if (!headroom || headroom->shared || headroom->floor_ms <= 0 || headroom->unknown_pct() > kMostUnknownPct) {
    return Nearness::kUnknown;
  }
  return headroom->times_floor() <= kNearFloor ? Nearness::kNear : Nearness::kFar;
}

std::string TimesFloorText(const Report& report) {
  return fmt::format(", {:.1f} times what the arithmetic and memory traffic of its operators need on this machine",
                     std::max(report.headroom->times_floor(), 1.0));
}

// The operator that takes longest beyond its floor.
std::string AboveFloorText(const Report& report) {
  if (report.headroom->lines.empty()) return "";
  const HeadroomLine& line = report.headroom->lines.front();
  const std::string what = Printable(line.what, 60);
  if (!line.where) return fmt::format(", most of it beyond that in {}", what);
  return fmt::format(", most of it beyond that at {} ({})", PlaceText(*line.where, report.run.working_directory), what);
}

// Other forms of its operators, where none that was tried is worth anything.
std::string TriedFormsText(const Report& report) {
  constexpr double kNotFaster = 0.9;
  std::set<std::string_view> tried;
  for (const FormRow& row : report.forms) {
    if (!row.ratio) continue;
    if (*row.ratio < kNotFaster) return "";
    tried.insert(row.form);
  }
  if (tried.empty()) return "";
  if (tried.size() == 1) return "; another form of its operators was tried and is not faster";
  return fmt::format("; none of {} other forms of its operators that were tried is faster", tried.size());
}

// "Nothing" is said only where it was measured that little is left.
std::string HealthySentence(const Headline& headline, const Report& report) {
  const bool gpu = headline.part == "gpu";
  const Nearness nearness = gpu ? Nearness::kNear : NearnessOf(report);
  std::string text =
      nearness == Nearness::kNear ? "Nothing that costs this loop time was found: " : "No known flaw was found: ";
  text += gpu ? fmt::format("the GPU has work for {} of the step", HumanPct(headline.share_pct))
              : fmt::format("{} of the step is computing", HumanPct(headline.share_pct));
  if (!gpu && nearness != Nearness::kUnknown) text += TimesFloorText(report);
  if (nearness == Nearness::kFar) {
    text += AboveFloorText(report);
  } else if (headline.where) {
    text += fmt::format(", most of it at {}{}", Place(headline, report), WhatText(headline, " (", ")"));
  }
  text += TriedFormsText(report);
  if (headline.finding == nullptr) return text;
  return text + fmt::format("; the largest finding, {}, is worth {} of it", Printable(headline.finding->rule, 40),
                            WorthShareText(report, *headline.finding));
}

std::string CallsSentence(const Headline& headline, const Report& report) {
  std::string text = fmt::format("{} is the price of calling short operators ({})", ShareText(headline, report),
                                 Printable(headline.finding->rule, 40));
  if (headline.where) text += fmt::format(", the largest part of it for {}", Place(headline, report));
  return text;
}

std::string UnknownSentence(const Report& report) {
  const auto unsure = std::ranges::count(report.rules, Verdict::kCannotTell, &RuleRow::verdict);
  const auto aside = std::ranges::count(report.rules, Verdict::kNotApplicable, &RuleRow::verdict);
  return fmt::format("What limits this loop is unknown: {} of {} rules lack what they need", unsure,
                     std::ssize(report.rules) - aside);
}

// The largest part of the step, for a loop that no rule complains about.
std::string LargestPart(const Report& report) {
  int largest = -1;
  double total = 0;
  for (int part = 0; part < kParts; ++part) {
    if (!Known(report.breakdown_ms[part])) continue;
    total += *report.breakdown_ms[part];
    if (largest < 0 || *report.breakdown_ms[part] > *report.breakdown_ms[largest]) largest = part;
  }
  if (largest < 0 || total <= 0) return "";
  return fmt::format("; most of a step is {}, {}", PartText(static_cast<Part>(largest)),
                     HumanPct(100 * *report.breakdown_ms[largest] / total));
}

std::string NoStepSentence(const Report& report) {
  const std::string how = HowItEnded(report.run.exit_status);
  if (how.empty()) return "No step could be measured: see the warnings below";
  return fmt::format("The program {} before a step could be measured", how);
}

std::string Sentence(const Headline& headline, const Report& report) {
  switch (headline.kind) {
    case HeadlineKind::kNoStep:
      return NoStepSentence(report);
    case HeadlineKind::kUnknown:
      return UnknownSentence(report);
    case HeadlineKind::kFinding:
      return FindingSentence(headline, report);
    case HeadlineKind::kPlace:
      return PlaceSentence(headline, report);
    case HeadlineKind::kSpread:
      return SpreadSentence(headline, report);
    case HeadlineKind::kWholePart:
      return WholePartSentence(headline, report);
    case HeadlineKind::kHealthy:
      return HealthySentence(headline, report);
    case HeadlineKind::kCalls:
      return CallsSentence(headline, report);
    case HeadlineKind::kNothing:
      break;
  }
  return "No rule found anything that costs this loop time" + LargestPart(report);
}

}  // namespace

std::string_view HeadlineKindName(HeadlineKind kind) {
  switch (kind) {
    case HeadlineKind::kNoStep:
      return "no_step";
    case HeadlineKind::kUnknown:
      return "unknown";
    case HeadlineKind::kFinding:
      return "finding";
    case HeadlineKind::kPlace:
      return "place";
    case HeadlineKind::kSpread:
      return "spread";
    case HeadlineKind::kWholePart:
      return "whole_part";
    case HeadlineKind::kHealthy:
      return "healthy";
    case HeadlineKind::kCalls:
      return "calls";
    case HeadlineKind::kNothing:
      break;
  }
  return "nothing";
}

std::string HeadlineText(const Report& report) {
  const Headline headline = HeadlineOf(report);
  const bool guessed = report.steps.clock && report.steps.clock->guessed && headline.kind != HeadlineKind::kNoStep;
  return Sentence(headline, report) + (guessed ? " (steps are guessed from backward passes)." : ".");
}

std::string PlacesText(const std::optional<Where>& where, const std::optional<Where>& library,
                       const std::string& directory) {
  if (!where) return library ? PlaceText(*library, directory) : "";
  const std::string place = PlaceText(*where, directory);
  return library ? fmt::format("{} ({})", place, PlaceText(*library, directory)) : place;
}

std::string PhaseText(std::string_view phase) {
  if (phase == "epoch_start") return "start of an epoch";
  std::string text = phase == "start_up" ? "start-up" : std::string(phase);
  std::ranges::replace(text, '_', ' ');
  return text;
}

}  // namespace loopscope
