#include "reports/json/gate.h"

#include <nlohmann/json.hpp>

#include "reports/json/launches.h"
#include "reports/json/values.h"

namespace loopscope {
namespace {

using json_values::Json;
using json_values::NumberOrNull;

Json PlacesJson(const std::vector<CounterPlace>& places) {
  Json rows = Json::array();
  for (const CounterPlace& one : places) {
    rows.push_back({{"where", {{"path", one.where.path}, {"line", one.where.line}, {"function", one.where.function}}},
                    {"before", NumberOrNull(one.before)},
                    {"after", NumberOrNull(one.after)}});
  }
  return rows;
}

Json CountersJson(const std::vector<CounterRow>& counters) {
  Json rows = Json::array();
  for (const CounterRow& one : counters) {
    rows.push_back({{"name", one.name},
                    {"kind", CounterKindName(one.kind)},
                    {"before", NumberOrNull(one.before)},
                    {"after", NumberOrNull(one.after)},
                    {"change", one.change},
                    {"fails", one.fails},
                    {"reason", one.reason},
                    {"places", PlacesJson(one.places)}});
  }
  return rows;
}

Json GrownJson(const std::vector<GrownTime>& grown) {
  Json rows = Json::array();
  for (const GrownTime& one : grown) {
    Json where = nullptr;
    if (one.where) where = {{"path", one.where->path}, {"line", one.where->line}, {"function", one.where->function}};
    rows.push_back({{"kind", GrownKindName(one.kind)},
                    {"name", one.name},
                    {"where", std::move(where)},
                    {"before_ms", NumberOrNull(one.before_ms)},
                    {"after_ms", NumberOrNull(one.after_ms)},
                    {"touched", one.touched}});
  }
  return rows;
}

// An object per pair.
Json EvidenceJson(const std::vector<GateEvidence>& evidence) {
  Json rows = Json::array();
  for (const GateEvidence& one : evidence) {
    rows.push_back({{"slower", NumberOrNull(one.slower)}, {"under_limit", NumberOrNull(one.under_limit)}});
  }
  return rows;
}

Json TimeJson(const std::optional<GateDecision>& time) {
  if (!time) return nullptr;
  return {{"verdict", GateVerdictName(time->verdict)},
          {"reason", time->reason},
          {"slowdown", time->pairs > 0 ? NumberOrNull(time->slowdown) : Json(nullptr)},
          {"upper95", NumberOrNull(time->upper95)},
          {"pairs", time->pairs},
          {"fails_from", NumberOrNull(time->fails_from)},
          {"passes_from", NumberOrNull(time->passes_from)},
          {"evidence", EvidenceJson(time->evidence)},
          {"pair_sd", time->pairs > 1 ? NumberOrNull(time->pair_sd) : Json(nullptr)},
          {"detectable", time->pairs > 1 ? NumberOrNull(time->detectable) : Json(nullptr)}};
}

Json WorkloadJson(const GateRow& row) {
  return {{"command", row.command},
          {"against", row.against},
          {"verdict", GateVerdictName(row.verdict)},
          {"reason", row.reason},
          {"error", row.error},
          {"time", TimeJson(row.time)},
          {"why_no_time", row.why_no_time},
          {"counters", CountersJson(row.counters)},
          {"counters_compared", row.counters_compared},
          {"why_no_counters", row.why_no_counters},
          {"grown", GrownJson(row.grown)},
          {"notes", row.notes},
          {"launches", LaunchesJson(row.launches)}};
}

}  // namespace

// The figures at the top are those of the workload that decides.
Json GateJson(const std::optional<GateFacts>& gate) {
  if (!gate || gate->workloads.empty()) return nullptr;
  const GateRow& deciding = DecidingRow(*gate);
  const Json time = TimeJson(deciding.time);
  Json workloads = Json::array();
  for (const GateRow& row : gate->workloads) workloads.push_back(WorkloadJson(row));
  return {{"verdict", GateVerdictName(deciding.verdict)},
          {"reason", deciding.reason},
          {"max_slowdown", NumberOrNull(gate->max_slowdown)},
          {"slowdown", time.is_null() ? Json(nullptr) : time["slowdown"]},
          {"upper95", time.is_null() ? Json(nullptr) : time["upper95"]},
          {"pairs", deciding.time ? deciding.time->pairs : 0},
          {"counters", CountersJson(deciding.counters)},
          {"workloads", std::move(workloads)}};
}

}  // namespace loopscope
