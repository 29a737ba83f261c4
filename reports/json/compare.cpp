#include "reports/json/compare.h"

#include <nlohmann/json.hpp>

#include "reports/json/values.h"

namespace loopscope {
namespace {

using json_values::Json;
using json_values::NumberOrNull;

Json Change(const std::optional<double>& before, const std::optional<double>& after) {
  return {{"before_ms", NumberOrNull(before)}, {"after_ms", NumberOrNull(after)}};
}

Json OpsJson(const std::vector<OpChange>& ops) {
  Json rows = Json::array();
  for (const OpChange& op : ops) {
    rows.push_back({{"name", op.name},
                    {"on", op.device ? "device" : "host"},
                    {"change", op.change},
                    {"before_ms", NumberOrNull(op.before_ms)},
                    {"after_ms", NumberOrNull(op.after_ms)},
                    {"before_count", NumberOrNull(op.before_count)},
                    {"after_count", NumberOrNull(op.after_count)}});
  }
  return rows;
}

Json FindingsJson(const std::vector<FindingName>& findings) {
  Json rows = Json::array();
  for (const FindingName& one : findings) rows.push_back({{"id", one.id}, {"rule", one.rule}, {"title", one.title}});
  return rows;
}

}  // namespace

Json CompareJson(const std::optional<Comparison>& compare) {
  if (!compare) return nullptr;
  Json parts = Json::object();
  for (int part = 0; part < kParts; ++part) {
    parts[std::string(PartName(static_cast<Part>(part)))] =
        Change(compare->parts_before_ms[part], compare->parts_after_ms[part]);
  }
  return {{"before", compare->before},
          {"after", compare->after},
          {"obstacles", compare->obstacles},
          {"differences", compare->differences},
          {"step", Change(compare->before_ms, compare->after_ms)},
          {"sample", Change(compare->before_sample_ms, compare->after_sample_ms)},
          {"parts", std::move(parts)},
          {"why_no_ops", compare->why_no_ops},
          {"ops", OpsJson(compare->ops)},
          {"ops_left_out", compare->ops_left_out},
          {"new_findings", FindingsJson(compare->new_findings)},
          {"gone_findings", FindingsJson(compare->gone_findings)}};
}

}  // namespace loopscope
