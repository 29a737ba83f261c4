#include "profiler/core/report/unexplained.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "profiler/core/report/expected_gain.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

// Parts of a step that count as lost, whatever is computed.
constexpr std::array kLostParts = {Time::kLoaderWait, Time::kCopyToDevice, Time::kCommunication, Time::kOther};

constexpr double kCarries = 0.5;  // share of a place's time from which one callee is named for all of it

bool IsOperator(const LineRow& row) {
  // Python's functions have no "::" in their names; in C++ only PyTorch's namespaces identify operators.
  const std::size_t colons = row.what.find("::");
  if (row.what.find("Backward") != row.what.npos) return true;
  if (colons == row.what.npos) return false;
  if (row.where && row.where->path.ends_with(".py")) return true;
  constexpr std::string_view kNamespaces[] = {"aten",   "c10d",  "_c10d_functional", "autograd",
                                              "mkldnn", "prim",  "quantized",        "torchvision",
                                              "prims",  "torch", "inductor"};
  return std::ranges::find(kNamespaces, std::string_view(row.what).substr(0, colons)) != std::end(kNamespaces);
}

// Host code between operators, and waits for anything but a device.
bool IsLost(const LineRow& row) {
  constexpr std::string_view kLost[] = {"other", "loader_wait", "h2d_copy", "communication_exposed"};
  if (ops::IsCompiledRegion(row.what)) return false;  // the model, or an update outside of the passes
  if (row.phase == "forward") return !IsOperator(row);
  return std::ranges::find(kLost, row.phase) != std::end(kLost);
}

bool IsCompute(const LineRow& row) {
  constexpr std::string_view kCompute[] = {"forward", "backward", "optimizer", "sync_wait"};
  const bool of_passes = std::ranges::find(kCompute, row.phase) != std::end(kCompute);
  return (of_passes || ops::IsCompiledRegion(row.what)) && !IsLost(row);
}

bool SamePlace(const std::optional<Where>& a, const std::optional<Where>& b, const std::string& directory) {
  if (!a || !b) return !a && !b;
  return a->line == b->line && RelativePath(a->path, directory) == RelativePath(b->path, directory) &&
         (a->line > 0 || a->function == b->function);
}

}  // namespace

bool Refuted(const Report& report, const Finding& finding) {
  const auto claims = [&](Time time) { return finding.ClaimOf(time) != nullptr; };
  if (finding.cost_is == CostKind::kExact && std::ranges::any_of(kLostParts, claims)) return false;
  return MeasuredWithoutGain(report, finding);
}

namespace {

double ExplainedBy(const Finding& finding, const Report& report) {
  if (Refuted(report, finding)) return 0;
  return Positive(finding.cost_ms_per_step);
}

bool IsOfPhase(const Finding& finding, std::string_view phase) {
  const auto named = [&](const Claim& claim) { return TimeName(claim.of) == phase; };
  if (std::ranges::any_of(finding.claims, named)) return true;
  return phase == "epoch_start" && finding.per_epoch && finding.ClaimOf(Time::kEvaluation) == nullptr;
}

double ExplainedOfPhase(const Report& report, std::string_view phase) {
  double ms = 0;
  for (const Finding& finding : report.findings) {
    if (IsOfPhase(finding, phase)) ms = std::max(ms, ExplainedBy(finding, report));
  }
  return ms;
}

bool HasNoPlace(const Finding& finding) {
  return std::ranges::none_of(finding.evidence, [](const Evidence& one) { return one.where.has_value(); });
}

// uneven-steps without a place explains unattributed time.
double ExplainedAt(const Report& report, const std::optional<Where>& where) {
  double ms = 0;
  for (const Finding& finding : report.findings) {
    const Claim* const longer = finding.ClaimOf(Time::kLongSteps);
    if (!where && longer != nullptr && longer->standing == Standing::kReason && HasNoPlace(finding)) {
      ms = std::max(ms, ExplainedBy(finding, report));
    }
    for (const Evidence& one : finding.evidence) {
      if (finding.per_epoch || !where || !one.where) continue;
      if (!SamePlace(one.where, where, report.run.working_directory)) continue;
      const double cost_ms = ExplainedBy(finding, report);
      ms = std::max(ms, one.ms > 0 ? std::min(one.ms, cost_ms) : cost_ms);
    }
  }
  return ms;
}

std::vector<LineRow> LostRows(const Report& report) {
  std::vector<LineRow> rows;
  for (const LineRow& row : report.lines) {
    if (!IsLost(row) || Positive(row.ms) <= 0) continue;
    LineRow lost = row;
    if (row.phase == "forward") lost.ms = Positive(row.ms - row.operators_ms.value_or(0));  // what computes is not lost
    if (lost.ms > 0) rows.push_back(std::move(lost));
  }
  if (!report.lines.empty()) return rows;
  for (int part = 0; part < kParts; ++part) {
    LineRow row;
    row.phase = PartName(static_cast<Part>(part));
    row.ms = Positive(report.breakdown_ms[part].value_or(0));
    if (row.phase != "forward" && row.ms > 0 && IsLost(row)) rows.push_back(std::move(row));
  }
  return rows;
}

// Upper bound on lost time per step: unexplained device idle time; no limit without a device.
double MostThatDevicesLose(const Report& report) {
  if (!report.gpu || !report.gpu->idle_pct || !report.steps.mean_ms) return HUGE_VAL;
  double explained_ms = 0;
  for (const Finding& finding : report.findings) {
    if (finding.ClaimOf(Time::kIdleDevices)) explained_ms = std::max(explained_ms, ExplainedBy(finding, report));
  }
  return std::max(*report.gpu->idle_pct / 100 * *report.steps.mean_ms - explained_ms, 0.0);
}

// Merges rows into the largest one, with the time of all. If several callees or library lines share the time, none of
// them is named.
UnexplainedPlace AsOne(const std::vector<const LineRow*>& rows) {
  const LineRow& largest = **std::ranges::max_element(rows, {}, [](const LineRow* row) { return row->ms; });
  UnexplainedPlace place{.row = largest};
  place.row.ms = 0;
  double in_library_ms = 0, in_callee_ms = 0;
  for (const LineRow* row : rows) {
    place.row.ms += row->ms;
    if (row->phase != largest.phase) continue;
    place.phase_ms += row->ms;
    if (row->library != largest.library) continue;
    in_library_ms += row->ms;
    if (row->what == largest.what) in_callee_ms += std::min(row->what_ms.value_or(row->ms), row->ms);
  }
  if (in_library_ms < kCarries * place.phase_ms) place.row.library.reset();
  if (in_callee_ms < kCarries * place.phase_ms) place.row.what.clear();
  return place;
}

// Merges the rows of each place.
std::vector<UnexplainedPlace> Merged(const std::vector<LineRow>& rows, const std::string& directory) {
  std::vector<std::vector<const LineRow*>> groups;
  for (const LineRow& row : rows) {
    const auto same = std::ranges::find_if(groups, [&](const std::vector<const LineRow*>& group) {
      const LineRow& one = *group.front();
      return SamePlace(one.where, row.where, directory) && (row.where || one.phase == row.phase);
    });
    (same == groups.end() ? groups.emplace_back() : *same).push_back(&row);
  }
  std::vector<UnexplainedPlace> places;
  for (const auto& group : groups) places.push_back(AsOne(group));
  return places;
}

// A rule has judged this part. A single epoch start in a short recording says nothing about its share of the
// run.
bool WasJudged(const Report& report, const UnexplainedPart& part) {
  const auto judges = [&](const RuleRow& row) { return row.judges == part.name; };
  const auto rule = std::ranges::find_if(report.rules, judges);
  if (rule == report.rules.end()) return false;
  if (rule->verdict != Verdict::kCannotTell) return true;
  return part.name == "epoch_start" && part.occurrences < 2;
}

double SumOf(const std::vector<LineRow>& rows, std::string_view phase) {
  double ms = 0;
  for (const LineRow& row : rows) ms += row.phase == phase ? row.ms : 0;
  return ms;
}

}  // namespace

double Positive(double value) {
  return std::isfinite(value) && value > 0 ? value : 0;
}

std::vector<UnexplainedPlace> UnexplainedPlaces(const Report& report) {
  const std::vector<LineRow> rows = LostRows(report);
  std::vector<UnexplainedPlace> places = Merged(rows, report.run.working_directory);
  const double most_ms = MostThatDevicesLose(report);
  for (UnexplainedPlace& place : places) {
    const double phase_ms = SumOf(rows, place.row.phase);
    const double explained = phase_ms > 0 ? std::min(ExplainedOfPhase(report, place.row.phase) / phase_ms, 1.0) : 0;
    place.left_ms = std::max(place.row.ms * (1 - explained) - ExplainedAt(report, place.row.where), 0.0);
    place.left_ms = std::min(place.left_ms, most_ms);
  }
  std::erase_if(places, [](const UnexplainedPlace& one) { return one.left_ms <= 0; });
  std::ranges::stable_sort(places, std::greater(), &UnexplainedPlace::left_ms);
  return places;
}

LineRow LineAt(const Report& report, const std::optional<Where>& where) {
  for (const LineRow& row : report.lines) {
    if (where && row.where && SamePlace(row.where, where, report.run.working_directory)) return row;
  }
  return {};
}

std::vector<UnexplainedPart> UnexplainedParts(const Report& report) {
  if (!report.whole) return {};
  const WholeFacts& whole = *report.whole;
  std::vector<UnexplainedPart> parts = {{"epoch_start", whole.epoch_starts_ms, 0, whole.epoch_starts},
                                        {"evaluation", whole.evaluation_ms, 0, whole.evaluations},
                                        {"other_between_steps", whole.other_between_steps_ms, 0, 0}};
  for (UnexplainedPart& part : parts) {
    const double explained_ms = ExplainedOfPhase(report, part.name) * whole.steps;
    part.left_ms = WasJudged(report, part) ? 0 : std::max(Positive(part.ms) - explained_ms, 0.0);
  }
  return parts;
}

std::optional<double> ComputePct(const Report& report) {
  double compute_ms = 0, all_ms = 0;
  for (const LineRow& row : report.lines) {
    all_ms += Positive(row.ms);
    compute_ms += IsCompute(row) ? Positive(row.ms) : 0;
  }
  constexpr std::array kCompute = {Part::kForward, Part::kBackward, Part::kOptimizer, Part::kSyncWait};
  for (int part = 0; part < kParts && report.lines.empty(); ++part) {
    const double ms = Positive(report.breakdown_ms[part].value_or(0));
    all_ms += ms;
    if (std::ranges::find(kCompute, static_cast<Part>(part)) != kCompute.end()) compute_ms += ms;
  }
  if (all_ms <= 0) return std::nullopt;
  return 100 * compute_ms / all_ms;
}

LineRow LargestLine(const std::vector<LineRow>& lines, std::string_view phase) {
  std::vector<LineRow> rows;
  for (const LineRow& row : lines) {
    if (row.phase == phase && row.where) rows.push_back(row);
  }
  const std::vector<UnexplainedPlace> places = Merged(rows, "");
  const auto largest = std::ranges::max_element(places, {}, [](const UnexplainedPlace& one) { return one.row.ms; });
  return largest == places.end() ? LineRow{} : largest->row;
}

LineRow LargestComputeLine(const Report& report) {
  std::vector<LineRow> rows;
  for (const LineRow& row : report.lines) {
    if (IsCompute(row) && row.where) rows.push_back(row);
  }
  const std::vector<UnexplainedPlace> places = Merged(rows, report.run.working_directory);
  const auto largest = std::ranges::max_element(places, {}, [](const UnexplainedPlace& one) { return one.row.ms; });
  return largest == places.end() ? LineRow{} : largest->row;
}

}  // namespace loopscope
