#include <nlohmann/json.hpp>

#include "reports/json/compare.h"

namespace loopscope {
namespace {

using nlohmann::json;

// Unknown where the member is missing or null.
template <class Value>
Value Of(const json& object, const char* key, Value unknown = {}) {
  const auto& members = object.get_ref<const json::object_t&>();
  const auto member = members.find(key);
  return member == members.end() || member->second.is_null() ? unknown : member->second.get<Value>();
}

const json& Child(const json& object, const char* key) {
  static const json kEmpty = json::object();
  const auto& members = object.get_ref<const json::object_t&>();
  const auto member = members.find(key);
  return member == members.end() || member->second.is_null() ? kEmpty : member->second;
}

std::optional<double> Number(const json& object, const char* key) {
  const json& value = Child(object, key);
  if (value.is_object() && value.empty()) return std::nullopt;
  return value.get<double>();
}

void ReadChange(const json& object, std::optional<double>& before, std::optional<double>& after) {
  before = Number(object, "before_ms");
  after = Number(object, "after_ms");
}

OpChange ReadOp(const json& object) {
  return {Of<std::string>(object, "name"),          Of<std::string>(object, "on") == "device",
          Of<std::string>(object, "change"),        Number(object, "before_ms").value_or(0),
          Number(object, "after_ms").value_or(0),   Number(object, "before_count").value_or(0),
          Number(object, "after_count").value_or(0)};
}

std::vector<FindingName> ReadFindings(const json& rows) {
  std::vector<FindingName> findings;
  for (const json& row : rows) {
    findings.push_back({Of<std::string>(row, "id"), Of<std::string>(row, "rule"), Of<std::string>(row, "title")});
  }
  return findings;
}

}  // namespace

Comparison ReadCompare(const json& object) {
  Comparison compare;
  compare.before = Of<std::string>(object, "before");
  compare.after = Of<std::string>(object, "after");
  compare.obstacles = Of<std::vector<std::string>>(object, "obstacles");
  compare.differences = Of<std::vector<std::string>>(object, "differences");
  ReadChange(Child(object, "step"), compare.before_ms, compare.after_ms);
  ReadChange(Child(object, "sample"), compare.before_sample_ms, compare.after_sample_ms);
  for (int part = 0; part < kParts; ++part) {
    const std::string name(PartName(static_cast<Part>(part)));
    ReadChange(Child(Child(object, "parts"), name.c_str()), compare.parts_before_ms[part],
               compare.parts_after_ms[part]);
  }
  compare.why_no_ops = Of<std::string>(object, "why_no_ops");
  for (const json& row : Child(object, "ops")) compare.ops.push_back(ReadOp(row));
  compare.ops_left_out = Of<int>(object, "ops_left_out");
  compare.new_findings = ReadFindings(Child(object, "new_findings"));
  compare.gone_findings = ReadFindings(Child(object, "gone_findings"));
  return compare;
}

}  // namespace loopscope
