#include "reports/json/sweep.h"

#include <nlohmann/json.hpp>

#include "profiler/core/json_members.h"
#include "reports/json/values.h"

namespace loopscope {
namespace {

using json_members::Flag;
using json_members::Interval95;
using json_members::Items;
using json_members::Member;
using json_members::Named;
using json_members::Text;
using json_members::Texts;
using json_members::Whole;
using json_values::Json;
using json_values::NumberOrNull;
using json_values::TextOrNull;
using nlohmann::json;

Json CellJson(const SweepCell& cell) {
  return {{"values", cell.values},
          {"own", cell.own},
          {"verdict", CellVerdictName(cell.verdict)},
          {"reason", cell.reason},
          {"n", cell.n},
          {"ms", NumberOrNull(cell.ms)},
          {"samples_per_s", NumberOrNull(cell.samples_per_s)},
          {"epoch_ms", NumberOrNull(cell.epoch_ms)},
          {"ratio", NumberOrNull(cell.ratio)},
          {"ci95", json_values::Interval95(cell.ci95)},
          {"peak_bytes", NumberOrNull(cell.peak_bytes)},
          {"published_s", NumberOrNull(cell.published_s)}};
}

Json ComparisonJson(const SweepComparison& one) {
  return {{"cell", one.cell},
          {"speedup", NumberOrNull(one.speedup)},
          {"ci95", json_values::Interval95(one.ci95)},
          {"n", one.n},
          {"p", NumberOrNull(one.p)},
          {"p_holm", NumberOrNull(one.p_holm)},
          {"method", TextOrNull(one.method)},
          {"verdict", TrialVerdictName(one.verdict)},
          {"reason", one.reason}};
}

SweepCell ReadCell(const json& object) {
  SweepCell cell;
  cell.values = Texts(object, "values");
  cell.own = Flag(object, "own");
  cell.verdict = Named(object, "verdict", CellVerdictName, CellVerdict::kFailed);
  cell.reason = Text(object, "reason");
  cell.n = Whole<int>(object, "n");
  cell.ms = json_members::Number(object, "ms");
  cell.samples_per_s = json_members::Number(object, "samples_per_s");
  cell.epoch_ms = json_members::Number(object, "epoch_ms");
  cell.ratio = json_members::Number(object, "ratio");
  cell.ci95 = Interval95(object);
  cell.peak_bytes = json_members::Number(object, "peak_bytes");
  cell.published_s = json_members::Number(object, "published_s");
  return cell;
}

SweepComparison ReadComparison(const json& object) {
  SweepComparison one;
  one.cell = Whole<int>(object, "cell");
  one.speedup = json_members::Number(object, "speedup");
  one.ci95 = Interval95(object);
  one.n = Whole<int>(object, "n");
  one.p = json_members::Number(object, "p");
  one.p_holm = json_members::Number(object, "p_holm");
  one.method = Text(object, "method");
  one.verdict = Named(object, "verdict", TrialVerdictName, TrialVerdict::kUseful);
  one.reason = Text(object, "reason");
  return one;
}

// Indices in a file must not point outside the cells.
void CheckIndices(const SweepFacts& sweep, const json& object) {
  const auto out = [&](int cell) { return cell < 0 || cell >= static_cast<int>(sweep.cells.size()); };
  bool wrong = sweep.best && out(*sweep.best);
  for (const SweepComparison& one : sweep.comparisons) wrong = wrong || out(one.cell);
  for (const SweepCell& cell : sweep.cells) {
    wrong = wrong || (!cell.values.empty() && cell.values.size() != sweep.axes.size());
  }
  if (wrong) throw json::other_error::create(501, "a sweep that names a cell which it has not", &object);
}

}  // namespace

Json SweepJson(const std::optional<SweepFacts>& sweep) {
  if (!sweep) return nullptr;
  Json axes = Json::array(), cells = Json::array(), comparisons = Json::array();
  for (const SweepAxis& axis : sweep->axes) axes.push_back({{"key", axis.key}, {"values", axis.values}});
  for (const SweepCell& cell : sweep->cells) cells.push_back(CellJson(cell));
  for (const SweepComparison& one : sweep->comparisons) comparisons.push_back(ComparisonJson(one));
  return {{"axes", std::move(axes)},
          {"loader_only", sweep->loader_only},
          {"metric", sweep->metric},
          {"cells", std::move(cells)},
          {"best", sweep->best ? Json(*sweep->best) : Json(nullptr)},
          {"stands_out", sweep->stands_out},
          {"verdict", sweep->verdict},
          {"comparisons", std::move(comparisons)},
          {"notes", sweep->notes},
          {"published", TextOrNull(sweep->published)}};
}

SweepFacts ReadSweep(const json& object) {
  SweepFacts sweep;
  for (const json& item : Items(object, "axes")) sweep.axes.push_back({Text(item, "key"), Texts(item, "values")});
  sweep.loader_only = Flag(object, "loader_only");
  sweep.metric = Text(object, "metric");
  for (const json& item : Items(object, "cells")) sweep.cells.push_back(ReadCell(item));
  if (!Member(object, "best").is_null()) sweep.best = Whole<int>(object, "best");
  sweep.stands_out = Flag(object, "stands_out");
  sweep.verdict = Text(object, "verdict");
  for (const json& item : Items(object, "comparisons")) sweep.comparisons.push_back(ReadComparison(item));
  sweep.notes = Texts(object, "notes");
  sweep.published = Text(object, "published");
  CheckIndices(sweep, object);
  return sweep;
}

}  // namespace loopscope
