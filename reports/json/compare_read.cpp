#include "profiler/core/json_members.h"
#include "reports/json/compare.h"

namespace loopscope {
namespace {

using namespace json_members;

void ReadChange(const json& object, std::optional<double>& before, std::optional<double>& after) {
  before = Number(object, "before_ms");
  after = Number(object, "after_ms");
}

OpChange ReadOp(const json& object) {
  return {Text(object, "name"),
          Text(object, "on") == "device",
          Text(object, "change"),
          Number(object, "before_ms").value_or(0),
          Number(object, "after_ms").value_or(0),
          Number(object, "before_count").value_or(0),
          Number(object, "after_count").value_or(0)};
}

std::vector<FindingName> ReadFindings(const json& object, const char* key) {
  std::vector<FindingName> findings;
  for (const json& row : Items(object, key)) {
    findings.push_back({Text(row, "id"), Text(row, "rule"), Text(row, "title")});
  }
  return findings;
}

}  // namespace

Comparison ReadCompare(const json& object) {
  Comparison compare;
  compare.before = Text(object, "before");
  compare.after = Text(object, "after");
  compare.obstacles = Texts(object, "obstacles");
  compare.differences = Texts(object, "differences");
  ReadChange(Member(object, "step"), compare.before_ms, compare.after_ms);
  ReadChange(Member(object, "sample"), compare.before_sample_ms, compare.after_sample_ms);
  for (int part = 0; part < kParts; ++part) {
    const std::string name(PartName(static_cast<Part>(part)));
    ReadChange(Member(Member(object, "parts"), name.c_str()), compare.parts_before_ms[part],
               compare.parts_after_ms[part]);
  }
  compare.why_no_ops = Text(object, "why_no_ops");
  for (const json& row : Items(object, "ops")) compare.ops.push_back(ReadOp(row));
  compare.ops_left_out = Whole<int>(object, "ops_left_out");
  compare.new_findings = ReadFindings(object, "new_findings");
  compare.gone_findings = ReadFindings(object, "gone_findings");
  return compare;
}

}  // namespace loopscope
