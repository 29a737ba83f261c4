#include "profiler/commands/gate_counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/core/file_text.h"
#include "profiler/core/report/compare.h"
#include "profiler/core/text.h"

namespace loopscope {
namespace {

constexpr int kSteps = 30, kFewestSteps = 3;
// Steps at epoch boundaries are not counted: there must be enough others whenever a launch ends.
constexpr int kTracedPerCounted = 2;

Error OtherWorkError(const std::string& why, const std::string& command) {
  return {"does other work per step: " + why, command,
          "compare commands that train on the same batches and step as often", 3};
}

// Whether the line is in the candidate's file and not in the other side's: an edit, wherever it moved the others.
bool Touches(const Where& where, const RunInfo& before, const RunInfo& after) {
  const std::filesystem::path other =
      std::filesystem::path(before.working_directory) / RelativePath(where.path, after.working_directory);
  const std::vector<std::string> here = SplitLines(FileText(where.path)), there = SplitLines(FileText(other));
  const auto line = static_cast<std::size_t>(where.line);
  if (line < 1 || line > here.size() || there.empty()) return false;
  return std::ranges::find(there, Trimmed(here[line - 1]), Trimmed) == there.end();
}

}  // namespace

Result<Counters> CounterGate::Launch(std::size_t workload, bool candidate, const std::string& name) {
  const int steps = options_.steps.value_or(0) > 0 ? *options_.steps : kSteps;
  LaunchSpec spec = DiagnosisSpec(options_, steps);
  spec.steps = kTracedPerCounted * steps;
  spec.all_operators = true;  // the same steps are counted on both sides
  spec.side = static_cast<int>(2 * workload) + (candidate ? 1 : 0);
  spec.label = fmt::format("counters {}, {}", workload + 1, name);
  session_.bar().Say(fmt::format("counters: one launch of {} under tracing", name));
  const std::filesystem::path folder = session_.output() / "counters" / fmt::format("{}-{}", workload + 1, name);
  RemoveTree(folder);  // left by an interrupted gate
  auto diagnosed = session_.Diagnose(spec, folder);
  if (!diagnosed) return diagnosed.error();
  if (diagnosed->failure) return *diagnosed->failure;
  if (!diagnosed->report.timeline) return Error{"left no steps to count", name, "see `loopscope run` with it", 3};
  Counters counters = CountersOf(*diagnosed->report.timeline, diagnosed->report.findings, steps);
  (candidate ? diagnosis_ : against_) = std::move(diagnosed->report);
  return counters;
}

Result<Counters> CounterGate::Record(std::size_t workload) {
  auto first = Launch(workload, true, "candidate");
  if (!first) return first;
  auto second = Launch(workload, true, "candidate-again");
  if (!second) return second;
  if (const std::string why = OtherWork(*first, *second); !why.empty()) {
    return OtherWorkError("its second launch: " + why, "the command");
  }
  return Stable(std::move(*first), *second);
}

Result<Counters> CounterGate::Reference(std::size_t workload, const GateRow& row) {
  if (recorded_) {
    const Counters* const found = recorded_->Find(row.command, options_.gate.workloads.size() == 1);
    if (found != nullptr) return *found;
    return Error{"has no recorded counters of this command", options_.gate.baseline,
                 "record them: loopscope gate --baseline FILE --accept -- CMD"};
  }
  auto first = Launch(workload, false, "against");
  if (!first) return first;
  auto second = Launch(workload, false, "against-again");
  if (!second) return second;
  if (OtherWork(*first, *second).empty()) return Stable(std::move(*first), *second);
  return OtherWorkError("of two launches of it one: " + OtherWork(*first, *second), row.against);
}

Result<void> CounterGate::Compare(std::size_t workload, const Counters& before, const Counters& after,
                                  const Fingerprint& here, GateRow& row) {
  CounterRules rules{.strict = options_.gate.strict_counters,
                     .fails_from = options_.fail_on.value_or(Severity::kMedium)};
  if (recorded_) {
    const auto differences = OtherMachine(recorded_->machine, here);
    rules.same_machine = false;  // nor at the same time: recorded costs are not judged
    row.notes.push_back(differences.empty()
                            ? "step times are not judged by recorded ones: give what to gate against with --against"
                            : fmt::format("recorded on another machine, so that times and costs are not compared: {}",
                                          fmt::join(differences, "; ")));
  }
  const auto recount = [&](bool candidate) {
    return Launch(workload, candidate, candidate ? "candidate-again" : "against-third");
  };
  auto comparison = CompareAndConfirm(before, after, rules, recorded_ == nullptr, recount);
  if (!comparison) return comparison.error();
  row.counters_compared = comparison->compared;
  row.counters = std::move(comparison->rows);
  return {};
}

Result<void> CounterGate::Judge(std::size_t workload, GateRow& row) {
  auto before = Reference(workload, row);
  if (!before) return before.error();
  auto after = Launch(workload, true, "candidate");
  if (!after) return after.error();
  const Fingerprint here = FingerprintOf(diagnosis_->run);
  if (recorded_) {
    if (const auto other = OtherOperators(recorded_->machine, here); !other.empty()) {
      row.why_no_counters = fmt::format("they were recorded with other operators ({}): record them anew with --accept",
                                        fmt::join(other, "; "));
      return {};
    }
  }
  if (before->steps < kFewestSteps || after->steps < kFewestSteps) {
    row.why_no_counters =
        fmt::format("{} steps were counted, which are too few", std::min(before->steps, after->steps));
    return {};
  }
  if (const std::string why = OtherWork(*before, *after); !why.empty()) return OtherWorkError(why, row.command);
  return Compare(workload, *before, *after, here, row);
}

std::vector<GrownTime> CounterGate::Grown() const {
  if (!diagnosis_ || !against_) return {};
  std::vector<GrownTime> grown = WhatGrew(*against_, *diagnosis_);
  for (GrownTime& one : grown) one.touched = one.where && Touches(*one.where, against_->run, diagnosis_->run);
  return grown;
}

}  // namespace loopscope
