#include "profiler/core/json_members.h"
#include "reports/json/gate.h"
#include "reports/json/launches.h"

namespace loopscope {
namespace {

using namespace json_members;

CounterRow ReadCounter(const json& object) {
  CounterRow counter;
  counter.name = Text(object, "name");
  counter.kind = Named(object, "kind", CounterKindName, CounterKind::kCount);
  counter.before = Number(object, "before");
  counter.after = Number(object, "after");
  counter.change = Text(object, "change");
  counter.fails = Flag(object, "fails");
  counter.reason = Text(object, "reason");
  for (const json& item : Items(object, "places")) {
    const json& where = Member(item, "where");
    counter.places.push_back({{Text(where, "path"), Whole<int>(where, "line"), Text(where, "function")},
                              Number(item, "before").value_or(0),
                              Number(item, "after").value_or(0)});
  }
  return counter;
}

GrownTime ReadGrown(const json& object) {
  GrownTime grown{.kind = Named(object, "kind", GrownKindName, GrownKind::kKernel), .name = Text(object, "name")};
  if (const json& where = Member(object, "where"); !where.is_null()) {
    grown.where = Where{Text(where, "path"), Whole<int>(where, "line"), Text(where, "function")};
  }
  grown.before_ms = Number(object, "before_ms").value_or(0);
  grown.after_ms = Number(object, "after_ms").value_or(0);
  grown.touched = Flag(object, "touched");
  return grown;
}

GateDecision ReadTime(const json& object) {
  GateDecision time;
  time.verdict = Named(object, "verdict", GateVerdictName, GateVerdict::kInconclusive);
  time.reason = Text(object, "reason");
  time.slowdown = Number(object, "slowdown").value_or(0);
  time.upper95 = Number(object, "upper95");
  time.pairs = Whole<int>(object, "pairs");
  time.fails_from = Number(object, "fails_from").value_or(0);
  time.passes_from = Number(object, "passes_from").value_or(0);
  for (const json& item : Items(object, "evidence")) {
    time.evidence.push_back({Number(item, "slower").value_or(1), Number(item, "under_limit").value_or(1)});
  }
  time.pair_sd = Number(object, "pair_sd").value_or(0);
  time.detectable = Number(object, "detectable").value_or(0);
  return time;
}

GateRow ReadWorkload(const json& object) {
  GateRow row;
  row.command = Text(object, "command");
  row.against = Text(object, "against");
  row.verdict = Named(object, "verdict", GateVerdictName, GateVerdict::kInconclusive);
  row.reason = Text(object, "reason");
  row.error = Text(object, "error");
  if (!Member(object, "time").is_null()) row.time = ReadTime(Member(object, "time"));
  row.why_no_time = Text(object, "why_no_time");
  row.counters_compared = Whole<int>(object, "counters_compared");
  row.why_no_counters = Text(object, "why_no_counters");
  row.notes = Texts(object, "notes");
  for (const json& item : Items(object, "grown")) row.grown.push_back(ReadGrown(item));
  for (const json& item : Items(object, "counters")) row.counters.push_back(ReadCounter(item));
  row.launches = ReadLaunches(object);
  return row;
}

}  // namespace

GateFacts ReadGate(const nlohmann::json& object) {
  GateFacts gate;
  gate.max_slowdown = Number(object, "max_slowdown").value_or(0);
  for (const json& item : Items(object, "workloads")) gate.workloads.push_back(ReadWorkload(item));
  if (gate.workloads.empty()) throw json::other_error::create(501, "a gate without a workload", &object);
  return gate;
}

}  // namespace loopscope
