// What an analyzer returns: a finding with its cost and its evidence, or why it cannot tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/steps/step.h"
#include "profiler/core/trace/trace.h"

namespace loopscope {

enum class Severity { kInfo, kLow, kMedium, kHigh };
enum class Verdict { kFound, kClear, kCannotTell, kNotApplicable };

std::string_view SeverityName(Severity severity);  // "info", "low", "medium", "high"
std::string_view VerdictName(Verdict verdict);     // "found", "clear", "cannot-tell", "not-applicable"

// How a finding's cost is known.
enum class CostKind {
  kBound,     // no fix can gain more; it may gain nothing
  kMeasured,  // what the fix gains was measured in the program
  kExact,     // the time is spent on this alone, and disappears with it
  kLeast,     // it costs this or more, and is part of every other figure
};
std::string_view CostKindName(CostKind kind);  // "bound", "measured", "exact", "least"

struct Evidence {
  std::string text;
  std::uint64_t count = 1;
  std::optional<Where> where;
  double ms = 0;                        // per step, of the finding's cost at this place; 0 where it is not known
  std::optional<Where> called_at = {};  // where `where` lies in a package: the line outside of it that leads there
};

// A time that several rules look at.
enum class Time {
  kLongSteps,   // what long steps take beyond the others
  kEpochStart,  // from the last step of an epoch to the first of the next
  kEvaluation,
  kAnyLine,      // of the training thread, at any place
  kGrowth,       // what later steps take beyond earlier ones
  kOptimizer,    // the optimizer's updates
  kIdleDevices,  // devices have nothing to do while a step lasts
  kLoaderWait,   // parts of a step, as PartName() has them
  kCopyToDevice,
  kCommunication,  // that no computing hides
  kOther,          // host code beside operators
  kBetweenSteps,   // neither of a step nor of an epoch's start or an evaluation
  kCalls,          // of operators, whatever they compute
  kItsPlaces,      // what the lines of its evidence take
};
std::string_view TimeName(Time time);  // "long_steps", "epoch_start", …; for parts of a step, PartName()

// How a finding relates to others that claim the same time.
enum class Standing {
  kReason,    // it knows why the time is spent
  kWhole,     // the time as a whole: for information only, beside a reason that explains half of it
  kGivesWay,  // not reported beside a reason
  kDoubted,   // cannot tell, beside a reason whose expected gain is half as much or more
  kRest,      // what reasons claim is taken off its cost
};
std::string_view StandingName(Standing standing);  // "reason", "whole", "gives_way", "doubted", "rest"

struct Claim {
  Time of = Time::kOther;
  Standing standing = Standing::kReason;
  double ms = 0;  // per step, of the finding's cost; 0: all of it
};

// A change in code, as a rule's text shows it.
struct CodeExample {
  std::string language;       // "cpp", "python"
  std::string before, after;  // whole lines; before is empty where nothing is replaced
};

// An analyzer returns no finding when the rule is clear, one with kCannotTell or kNotApplicable and a reason when that
// applies, else one or more with kFound.
struct Finding {
  Verdict verdict = Verdict::kFound;
  std::string reason;  // for kCannotTell and kNotApplicable: one sentence; for kClear: the figure, if there is one
  std::string title;   // one line, with the figure: "the loop waits 12.3 ms per step for its loader"
  Severity severity = Severity::kLow;
  double cost_ms_per_step = 0;  // see cost_is; 0 for facts without a measurable cost
  CostKind cost_is = CostKind::kExact;
  std::optional<double> expected_gain_ms;  // per step; absent: nothing better than the cost is known
  double cost_pct = 0;                     // of the mean step
  // The cost falls outside of plain steps (where an epoch turns, in evaluations): cost_ms_per_step is spread over the
  // steps, and may exceed one.
  bool per_epoch = false;
  std::vector<Claim> claims;       // its own, and those of its rule
  double usual_share = 0.5;        // for a bound, the share that the fix usually brings
  bool whatever_runs = false;      // it says where time goes, not why
  bool setting = false;            // found from a setting, not from times
  std::vector<Evidence> evidence;  // the first names the place to change, where one is known
  std::string treatment;           // the treatment's value to try first when it is not the obvious one; may be empty
  // Filled in by Diagnose():
  std::string rule;                   // "host-sync"
  std::string id;                     // 12 hex digits of hash(rule, relative path, function)
  std::string advice;                 // from the rule's text, unless the analyzer gave its own
  std::vector<CodeExample> examples;  // likewise; at most one per language
  std::string treatment_id;           // the treatment that cures it, unless the analyzer chose one; empty when none

  const Claim* ClaimOf(Time time) const;  // null where it claims none of that time
  // A fix may gain nothing, as far as is known.
  bool only_bounded() const { return cost_is == CostKind::kBound && !expected_gain_ms; }
  // What ranks findings: the expected gain where one is known, else the cost.
  double worth_ms() const { return expected_gain_ms.value_or(cost_ms_per_step); }

  static Finding Clear(std::string reason);
  static Finding CannotTell(std::string reason);
  static Finding NotApplicable(std::string reason);
};

// Stable under edits that move lines. Pass the path relative to the run's working directory (RelativePath), so that the
// id is the same in another checkout.
std::string FindingId(std::string_view rule, const std::optional<Where>& where);

// `path` relative to `directory` when inside it, else unchanged. Works on text only: links are not followed.
std::string RelativePath(std::string_view path, std::string_view directory);

// The severity of a share of the step: >= 20 % high, >= 5 % medium, >= 1 % low, else info.
Severity SeverityOfShare(double pct);

}  // namespace loopscope
