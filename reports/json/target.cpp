#include "reports/json/target.h"

#include <nlohmann/json.hpp>

#include "profiler/core/json_members.h"
#include "reports/json/values.h"

namespace loopscope {
namespace {

using json_members::Flag;
using json_members::Items;
using json_members::Member;
using json_members::Text;
using json_members::Whole;
using json_values::Json;
using json_values::NumberOrNull;
using nlohmann::json;

Json RatioJson(const TargetRatio& ratio) {
  return {
      {"estimate", NumberOrNull(ratio.estimate)}, {"low", NumberOrNull(ratio.low)}, {"high", NumberOrNull(ratio.high)}};
}

Json ArmJson(const TargetArm& arm) {
  Json runs = Json::array();
  for (const TargetRun& run : arm.runs) {
    runs.push_back({{"block", run.block},
                    {"reached", run.reached},
                    {"seconds", NumberOrNull(run.seconds)},
                    {"steps", NumberOrNull(run.steps)},
                    {"samples", NumberOrNull(run.samples)},
                    {"last", NumberOrNull(run.last)},
                    {"status", run.status}});
  }
  return {{"name", arm.name},
          {"reached", arm.reached},
          {"median_s", NumberOrNull(arm.median_s)},
          {"median_steps", NumberOrNull(arm.median_steps)},
          {"median_samples", NumberOrNull(arm.median_samples)},
          {"runs", std::move(runs)}};
}

TargetRatio ReadRatio(const json& object) {
  return {json_members::Number(object, "estimate"), json_members::Number(object, "low"),
          json_members::Number(object, "high")};
}

TargetArm ReadArm(const json& object) {
  TargetArm arm;
  arm.name = Text(object, "name");
  arm.reached = Whole<int>(object, "reached");
  arm.median_s = json_members::Number(object, "median_s");
  arm.median_steps = json_members::Number(object, "median_steps");
  arm.median_samples = json_members::Number(object, "median_samples");
  for (const json& item : Items(object, "runs")) {
    arm.runs.push_back({Whole<int>(item, "block"), Flag(item, "reached"),
                        json_members::Number(item, "seconds").value_or(0), json_members::Number(item, "steps"),
                        json_members::Number(item, "samples"), json_members::Number(item, "last"),
                        Text(item, "status")});
  }
  return arm;
}

}  // namespace

Json TargetJson(const std::optional<TargetFacts>& facts) {
  if (!facts) return nullptr;
  Json arms = Json::array(), comparisons = Json::array();
  for (const TargetArm& arm : facts->arms) arms.push_back(ArmJson(arm));
  for (const TargetComparison& one : facts->comparisons) {
    comparisons.push_back(
        {{"name", one.name}, {"n", one.n}, {"seconds", RatioJson(one.seconds)}, {"steps", RatioJson(one.steps)}});
  }
  return {{"metric", facts->target.metric},          {"value", NumberOrNull(facts->target.value)},
          {"at_least", facts->target.at_least},      {"source", facts->source},
          {"limit_s", NumberOrNull(facts->limit_s)}, {"arms", std::move(arms)},
          {"comparisons", std::move(comparisons)}};
}

TargetFacts ReadTarget(const json& object) {
  TargetFacts facts;
  facts.target.metric = Text(object, "metric");
  facts.target.value = json_members::Number(object, "value").value_or(0);
  facts.target.at_least = Flag(object, "at_least");
  facts.source = Text(object, "source");
  facts.limit_s = json_members::Number(object, "limit_s").value_or(0);
  for (const json& item : Items(object, "arms")) facts.arms.push_back(ReadArm(item));
  for (const json& item : Items(object, "comparisons")) {
    facts.comparisons.push_back({Text(item, "name"), Whole<int>(item, "n"), ReadRatio(Member(item, "seconds")),
                                 ReadRatio(Member(item, "steps"))});
  }
  return facts;
}

}  // namespace loopscope
