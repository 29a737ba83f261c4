// What a change in counters means for a gate.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "profiler/core/report/counters.h"

namespace loopscope {
namespace {

constexpr double kSurely = 2;  // times the share of the step at which a severity starts
constexpr std::size_t kMostPlaces = 10;

bool Same(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

// A place by its file's name and function: the two commands may lie in different folders, and edits move lines.
std::string PlaceKey(const Where& where) {
  return where.path.substr(where.path.rfind('/') + 1) + "\x1f" + where.function;
}

std::string FindingKey(const CountedFinding& finding) {
  return finding.rule + "\x1f" + (finding.sites.empty() ? "" : PlaceKey(finding.sites.front().where));
}

double At(const std::vector<CounterSite>& sites, const std::string& key, int line = -1) {
  double sum = 0;
  for (const CounterSite& site : sites) {
    if (PlaceKey(site.where) == key && (line < 0 || site.where.line == line)) sum += site.per_step;
  }
  return sum;
}

// Where the candidate does more; within a function that does more, the lines that did not do so before.
std::vector<CounterPlace> PlacesOf(const std::vector<CounterSite>& before, const std::vector<CounterSite>& after) {
  std::vector<CounterPlace> places;
  for (const CounterSite& site : after) {
    const std::string key = PlaceKey(site.where);
    if (At(after, key) <= At(before, key) + 1e-9) continue;
    const double was = At(before, key, site.where.line);
    if (site.per_step > was + 1e-9) places.push_back({site.where, was, site.per_step});
  }
  std::ranges::stable_sort(places, std::greater(), [](const CounterPlace& one) { return one.after - one.before; });
  if (places.size() > kMostPlaces) places.resize(kMostPlaces);
  return places;
}

std::string ChangeOf(double before, double after) {
  if (before == 0) return "new";
  if (after == 0) return "gone";
  return after > before ? "more" : "fewer";
}

std::string WhyFails(CounterKind kind, const CounterRules& rules, bool more) {
  if (kind == CounterKind::kSync && more) return "a new synchronising call";
  if (kind == CounterKind::kDebug && more) return "a debugging switch is left on";
  return rules.strict ? "every change fails under --strict-counters" : "";
}

// The smallest share of the step, in percent, with this severity (SeverityOfShare).
double LeastShareOf(Severity severity) {
  double least = 0;
  for (const double share : {20.0, 5.0, 1.0}) {
    if (SeverityOfShare(share) >= severity) least = share;
  }
  return least;
}

class Comparing {
 public:
  Comparing(const Counters& before, const Counters& after, const CounterRules& rules)
      : before_(before), after_(after), rules_(rules) {}

  CounterComparison Run() {
    std::set<std::string> names;
    for (const auto& [name, count] : before_.counts) names.insert(name);
    for (const auto& [name, count] : after_.counts) names.insert(name);
    for (const std::string& name : names) CompareCount(name);
    other_calls_ = std::ranges::any_of(result_.rows, [](const CounterRow& row) { return row.change != "ignored"; });
    std::set<std::string> rules;
    for (const CountedFinding& finding : before_.findings) rules.insert(finding.rule);
    for (const CountedFinding& finding : after_.findings) rules.insert(finding.rule);
    for (const std::string& rule : rules) CompareRule(rule);
    std::ranges::stable_sort(result_.rows, {}, [](const CounterRow& row) {
      return row.fails ? 0 : row.change == "ignored" ? 2 : 1;
    });
    return std::move(result_);
  }

 private:
  bool Ignored(const std::string& name, CounterKind kind) {
    if (!before_.unstable.contains(name)) {
      ++result_.compared;
      return false;
    }
    CounterRow row;
    row.name = name;
    row.kind = kind;
    row.change = "ignored";
    row.reason = "differs between two runs of what is gated against";
    result_.rows.push_back(std::move(row));
    return true;
  }

  void CompareCount(const std::string& name) {
    const auto a = before_.counts.find(name), b = after_.counts.find(name);
    const Count none, &was = a == before_.counts.end() ? none : a->second,
                      &is = b == after_.counts.end() ? none : b->second;
    const CounterKind kind = b == after_.counts.end() ? was.kind : is.kind;
    if (Ignored(name, kind) || Same(was.per_step, is.per_step)) return;
    CounterRow row;
    row.name = name;
    row.kind = kind;
    row.before = was.per_step;
    row.after = is.per_step;
    row.change = ChangeOf(was.per_step, is.per_step);
    row.reason = WhyFails(kind, rules_, is.per_step > was.per_step);
    row.fails = !row.reason.empty();
    row.places = PlacesOf(was.sites, is.sites);
    result_.rows.push_back(std::move(row));
  }

  void CompareRule(const std::string& rule) {
    if (Ignored(rule, CounterKind::kFinding)) return;
    std::set<std::string> known, still;
    for (const CountedFinding& one : before_.findings) known.insert(FindingKey(one));
    for (const CountedFinding& one : after_.findings) {
      still.insert(FindingKey(one));
      if (one.rule == rule && !known.contains(FindingKey(one))) AddFinding(one, "new");
    }
    for (const CountedFinding& one : before_.findings) {
      if (one.rule == rule && !still.contains(FindingKey(one))) AddFinding(one, "gone");
    }
  }

  void AddFinding(const CountedFinding& finding, const std::string& change) {
    CounterRow row;
    row.name = finding.rule;
    row.kind = CounterKind::kFinding;
    row.change = change;
    row.reason = finding.title;
    row.fails =
        change == "new" && (Weighs(finding) || (rules_.strict && (rules_.same_machine || finding.cost_pct <= 0)));
    if (change == "new") {
      for (const CounterSite& site : finding.sites) {
        if (row.places.size() < kMostPlaces) row.places.push_back({site.where, 0, 1});
      }
    }
    result_.rows.push_back(std::move(row));
  }

  // Whether its severity is certain, regardless of noise and machine. If the same calls as before now cost enough to be
  // a finding, the machine may have been busy: the timed pairs decide. They also decide for rules that report time at a
  // place, whatever runs there.
  bool Weighs(const CountedFinding& finding) const {
    if (finding.severity < rules_.fails_from || finding.whatever_runs) return false;
    const bool fact = finding.cost_pct <= 0 || finding.setting;
    const bool surely = finding.cost_pct >= kSurely * LeastShareOf(rules_.fails_from);
    return fact || (other_calls_ && rules_.same_machine && surely);
  }

  const Counters &before_, &after_;
  const CounterRules& rules_;
  CounterComparison result_;
  bool other_calls_ = false;  // some stable count changed
};

std::string RowKey(const CounterRow& row) {
  return row.name + "\x1f" + row.change + (row.places.empty() ? "" : PlaceKey(row.places.front().where));
}

}  // namespace

Counters Stable(Counters first, const Counters& second) {
  const CounterComparison difference = CompareCounters(first, second, {.strict = true});
  for (const CounterRow& row : difference.rows) first.unstable.insert(row.name);
  return first;
}

std::string OtherWork(const Counters& before, const Counters& after) {
  if (before.steps != after.steps) {
    return fmt::format("{} steps were counted instead of {}", after.steps, before.steps);
  }
  const bool known = before.samples_per_step > 0 && after.samples_per_step > 0;
  if (known && std::abs(after.samples_per_step / before.samples_per_step - 1) > 1e-3) {
    return fmt::format("{:.1f} samples per step instead of {:.1f}", after.samples_per_step, before.samples_per_step);
  }
  return "";
}

bool CounterComparison::fails() const {
  return std::ranges::any_of(rows, &CounterRow::fails);
}

CounterComparison CompareCounters(const Counters& before, const Counters& after, const CounterRules& rules) {
  return Comparing(before, after, rules).Run();
}

void Confirm(const CounterComparison& again, CounterComparison& comparison) {
  std::set<std::string> confirmed;
  for (const CounterRow& row : again.rows) {
    if (row.fails) confirmed.insert(RowKey(row));
  }
  for (CounterRow& row : comparison.rows) {
    if (!row.fails || confirmed.contains(RowKey(row))) continue;
    row.fails = false;
    row.reason = "seen in one of two launches only: " + row.reason;
  }
  std::ranges::stable_partition(comparison.rows, &CounterRow::fails);
}

Result<CounterComparison> CompareAndConfirm(Counters before, const Counters& after, const CounterRules& rules,
                                            bool against_runs, const Recount& recount) {
  CounterComparison comparison = CompareCounters(before, after, rules);
  if (!comparison.fails()) return comparison;
  const auto again = recount(true);
  if (!again) return again.error();
  Confirm(CompareCounters(before, *again, rules), comparison);
  if (!comparison.fails() || !against_runs) return comparison;
  const auto third = recount(false);
  if (!third) return third.error();
  // A launch that did different work says nothing about these counters.
  if (!OtherWork(before, *third).empty()) return comparison;
  CounterComparison closing = CompareCounters(Stable(std::move(before), *third), after, rules);
  Confirm(comparison, closing);
  return closing;
}

}  // namespace loopscope
