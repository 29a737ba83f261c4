#include <fmt/format.h>

#include <algorithm>

#include "tests/support/case_reader.h"
#include "tests/support/case_tokens.h"

namespace loopscope::test {
namespace {

Severity ReadSeverity(const std::string& value, int line) {
  for (const Severity one : {Severity::kInfo, Severity::kLow, Severity::kMedium, Severity::kHigh}) {
    if (SeverityName(one) == value) return one;
  }
  throw CaseError{line, "unknown severity '" + value + "'"};
}

Verdict ReadVerdict(const std::string& value, int line) {
  for (const Verdict one : {Verdict::kFound, Verdict::kClear, Verdict::kCannotTell, Verdict::kNotApplicable}) {
    if (VerdictName(one) == value) return one;
  }
  throw CaseError{line, "expect found, clear, cannot-tell or not-applicable, not '" + value + "'"};
}

void ReadBound(const std::string& key, double number, int line, Expectation& expected) {
  if (key == "cost>=") {
    expected.cost_at_least = number;
  } else if (key == "cost<=") {
    expected.cost_at_most = number;
  } else if (key == "gain>=") {
    expected.gain_at_least = number;
  } else if (key == "gain<=") {
    expected.gain_at_most = number;
  } else if (key == "pct>=") {
    expected.pct_at_least = number;
  } else if (key == "pct<=") {
    expected.pct_at_most = number;
  } else if (key == "evidence") {
    expected.evidence = static_cast<std::size_t>(number);
  } else if (key == "count") {
    expected.count = static_cast<std::uint64_t>(number);
  } else {
    throw CaseError{line, "unknown expectation '" + key + "'"};
  }
}

// Everything the findings say, for `text=`.
std::string AllText(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& one : findings) {
    text += one.reason + "\n" + one.title + "\n" + one.advice + "\n";
    for (const Evidence& evidence : one.evidence) text += evidence.text + "\n";
  }
  return text;
}

std::string TextOf(const std::optional<Where>& where) {
  return where ? fmt::format("{}:{}", where->path, where->line) : "-";
}

std::string PlaceOf(const Finding& finding) {
  return finding.evidence.empty() ? "-" : TextOf(finding.evidence[0].where);
}

// The first place that it names, as the first sentence of a report does.
std::string FirstPlaceOf(const Finding& finding) {
  const auto placed = std::ranges::find_if(finding.evidence, [](const Evidence& one) { return one.where.has_value(); });
  return placed == finding.evidence.end() ? "-" : TextOf(placed->where);
}

std::string Outside(std::string_view what, double value, std::optional<double> least, std::optional<double> most) {
  if (least && value < *least) return fmt::format("{} is {:.4g}, expected at least {:.4g}", what, value, *least);
  if (most && value > *most) return fmt::format("{} is {:.4g}, expected at most {:.4g}", what, value, *most);
  return "";
}

std::string MismatchOfFound(const Expectation& expected, const Finding& finding) {
  std::string wrong = Outside("the cost", finding.cost_ms_per_step, expected.cost_at_least, expected.cost_at_most);
  if (wrong.empty() && (expected.gain_at_least || expected.gain_at_most)) {
    wrong = finding.expected_gain_ms
                ? Outside("the expected gain", *finding.expected_gain_ms, expected.gain_at_least, expected.gain_at_most)
                : "no gain is expected";
  }
  if (wrong.empty()) wrong = Outside("the share", finding.cost_pct, expected.pct_at_least, expected.pct_at_most);
  if (!wrong.empty()) return wrong;
  if (expected.severity && finding.severity != *expected.severity) {
    return fmt::format("severity {}, expected {}", SeverityName(finding.severity), SeverityName(*expected.severity));
  }
  if (!expected.at.empty() && PlaceOf(finding) != expected.at) {
    return fmt::format("blames {}, expected {}", PlaceOf(finding), expected.at);
  }
  if (!expected.place.empty() && FirstPlaceOf(finding) != expected.place) {
    return fmt::format("names {} first, expected {}", FirstPlaceOf(finding), expected.place);
  }
  if (expected.evidence && finding.evidence.size() != *expected.evidence) {
    return fmt::format("{} pieces of evidence, expected {}", finding.evidence.size(), *expected.evidence);
  }
  if (expected.count && (finding.evidence.empty() || finding.evidence[0].count != *expected.count)) {
    return fmt::format("the first evidence counts {}, expected {}",
                       finding.evidence.empty() ? 0 : finding.evidence[0].count, *expected.count);
  }
  // What a place takes of a cost is no more than the cost, but for rounding.
  for (const Evidence& one : finding.evidence) {
    if (one.ms > 1.01 * finding.cost_ms_per_step) {
      return fmt::format("evidence of {:.4g} ms, more than the cost of {:.4g} ms", one.ms, finding.cost_ms_per_step);
    }
  }
  return finding.advice.empty() ? "the finding has no advice" : "";
}

}  // namespace

Expectation ReadExpectation(const CaseLine& line) {
  Expectation expected;
  expected.verdict = ReadVerdict(line.words.size() > 1 ? line.words[1] : "", line.number);
  for (std::size_t i = 2; i < line.words.size(); ++i) {
    const auto [key, value] = SplitAttribute(line.words[i]);
    if (key == "text") {
      expected.text.push_back(value);
    } else if (key == "at") {
      expected.at = value;
    } else if (key == "place") {
      expected.place = value;
    } else if (key == "severity") {
      expected.severity = ReadSeverity(value, line.number);
    } else {
      ReadBound(key, ReadNumber(value, line.number), line.number, expected);
    }
  }
  return expected;
}

std::string Mismatch(const Expectation& expected, const std::vector<Finding>& findings) {
  const Verdict verdict = findings.empty() ? Verdict::kClear : findings.front().verdict;
  const std::string all = AllText(findings);
  if (verdict != expected.verdict) {
    return fmt::format("{}, expected {}\n{}", VerdictName(verdict), VerdictName(expected.verdict), all);
  }
  for (const std::string& part : expected.text) {
    if (all.find(part) == std::string::npos) return fmt::format("'{}' is not said in:\n{}", part, all);
  }
  return verdict == Verdict::kFound ? MismatchOfFound(expected, findings.front()) : "";
}

}  // namespace loopscope::test
