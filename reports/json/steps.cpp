#include "reports/json/steps.h"

#include "profiler/core/json_members.h"
#include "reports/json/values.h"

namespace loopscope {
namespace {

using namespace json_values;

Json ClockJson(const std::optional<ClockFacts>& clock) {
  if (!clock) return nullptr;
  return {{"ends_with", clock->ends_with},
          {"found_by", ClockSourceName(clock->found_by)},
          {"guessed", clock->guessed},
          {"batches", NumberOrNull(clock->batches)},
          {"backwards", NumberOrNull(clock->backwards)},
          {"optimizer_calls", NumberOrNull(clock->optimizer_calls)}};
}

Json PlaceJson(const std::optional<Where>& where, const std::string& directory) {
  if (!where) return nullptr;
  return {{"path", RelativePath(where->path, directory)}, {"line", where->line}, {"function", where->function}};
}

std::optional<Where> ReadPlace(const nlohmann::json& where) {
  using namespace json_members;
  if (where.is_null()) return std::nullopt;
  return Where{Text(where, "path"), Whole<int>(where, "line"), Text(where, "function")};
}

}  // namespace

Json StepsJson(const StepFacts& steps) {
  return {{"clock", ClockJson(steps.clock)},
          {"warmup", steps.warmup},
          {"measured", steps.measured},
          {"without_operators", steps.without_operators},
          {"in_mean", steps.in_mean},
          {"disturbed", steps.disturbed},
          {"transient", steps.transient},
          {"transient_mean_ms", NumberOrNull(steps.transient_mean_ms)},
          {"trend_pct", NumberOrNull(steps.trend_pct)},
          {"mean_ms", NumberOrNull(steps.mean_ms)},
          {"p50_ms", NumberOrNull(steps.p50_ms)},
          {"p95_ms", NumberOrNull(steps.p95_ms)},
          {"samples_per_s", NumberOrNull(steps.samples_per_s)},
          {"per_epoch_ms", NumberOrNull(steps.per_epoch_ms)}};
}

Json WholeJson(const std::optional<WholeFacts>& whole) {
  if (!whole) return nullptr;
  return {{"start_up", NumberOrNull(whole->start_up_ms)},
          {"steps", NumberOrNull(whole->steps_ms)},
          {"epoch_starts", NumberOrNull(whole->epoch_starts_ms)},
          {"evaluation", NumberOrNull(whole->evaluation_ms)},
          {"other_between_steps", NumberOrNull(whole->other_between_steps_ms)},
          {"counts",
           {{"steps", whole->steps}, {"epoch_starts", whole->epoch_starts}, {"evaluations", whole->evaluations}}}};
}

Json LinesJson(const std::vector<LineRow>& lines, const std::string& directory) {
  Json rows = Json::array();
  for (const LineRow& line : lines) {
    rows.push_back({{"where", PlaceJson(line.where, directory)},
                    {"library", PlaceJson(line.library, directory)},
                    {"what", TextOrNull(line.what)},
                    {"phase", line.phase},
                    {"ms_per_step", NumberOrNull(line.ms)},
                    {"share_pct", NumberOrNull(line.share_pct)}});
  }
  return rows;
}

StepFacts ReadSteps(const nlohmann::json& object) {
  using namespace json_members;
  StepFacts steps;
  steps.warmup = Whole<int>(object, "warmup");
  steps.measured = Whole<int>(object, "measured");
  steps.mean_ms = Number(object, "mean_ms");
  steps.p50_ms = Number(object, "p50_ms");
  steps.p95_ms = Number(object, "p95_ms");
  steps.samples_per_s = Number(object, "samples_per_s");
  steps.per_epoch_ms = Number(object, "per_epoch_ms");
  steps.without_operators = Whole<int>(object, "without_operators");
  steps.in_mean = Whole<int>(object, "in_mean");
  steps.disturbed = Whole<int>(object, "disturbed");
  steps.transient = Whole<int>(object, "transient");
  steps.transient_mean_ms = Number(object, "transient_mean_ms");
  steps.trend_pct = Number(object, "trend_pct");
  const nlohmann::json& clock = Member(object, "clock");
  if (clock.is_null()) return steps;
  steps.clock = ClockFacts{Text(clock, "ends_with"),   Named(clock, "found_by", ClockSourceName, ClockSource::kTrace),
                           Flag(clock, "guessed"),     Number(clock, "batches"),
                           Number(clock, "backwards"), Number(clock, "optimizer_calls")};
  return steps;
}

std::optional<WholeFacts> ReadWhole(const nlohmann::json& object) {
  using namespace json_members;
  if (object.is_null()) return std::nullopt;
  const auto ms = [&](const char* key) { return Number(object, key).value_or(0); };
  WholeFacts whole{ms("start_up"), ms("steps"), ms("epoch_starts"), ms("evaluation"), ms("other_between_steps")};
  const nlohmann::json& counts = Member(object, "counts");
  whole.steps = Whole<int>(counts, "steps");
  whole.epoch_starts = Whole<int>(counts, "epoch_starts");
  whole.evaluations = Whole<int>(counts, "evaluations");
  return whole;
}

std::vector<LineRow> ReadLines(const nlohmann::json& report, const char* key) {
  using namespace json_members;
  std::vector<LineRow> lines;
  for (const nlohmann::json& row : Items(report, key)) {
    lines.push_back({ReadPlace(Member(row, "where")), ReadPlace(Member(row, "library")), Text(row, "what"),
                     Text(row, "phase"), Number(row, "ms_per_step").value_or(0), Number(row, "share_pct").value_or(0)});
  }
  return lines;
}

}  // namespace loopscope
