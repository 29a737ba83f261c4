#include "profiler/core/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace loopscope {
namespace {

constexpr double kLeastShareOfStep = 0.01, kLeastShareOfOp = 0.1;
constexpr std::size_t kMostOps = 60;

void AddDifference(std::vector<std::string>& to, std::string_view what, const std::string& before,
                   const std::string& after) {
  if (before == after || before.empty() || after.empty()) return;
  to.push_back(fmt::format("{}: {} against {}", what, before, after));
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::optional<double> SamplesPerStep(const StepFacts& steps) {
  if (!steps.samples_per_s || !steps.mean_ms || *steps.mean_ms <= 0) return std::nullopt;
  return *steps.samples_per_s * *steps.mean_ms / 1000;
}

void AddObstacles(const Report& before, const Report& after, std::vector<std::string>& obstacles) {
  const RunInfo &a = before.run, &b = after.run;
  AddDifference(obstacles, "another CPU", a.cpu, b.cpu);
  if (a.cores > 0 && b.cores > 0) {
    AddDifference(obstacles, "other cores", std::to_string(a.cores), std::to_string(b.cores));
  }
  if (a.gpus != b.gpus) {
    const auto shown = [](const RunInfo& run) { return run.gpus.empty() ? std::string("none") : Joined(run.gpus); };
    AddDifference(obstacles, "other GPUs", shown(a), shown(b));
  }
  AddDifference(obstacles, "another number of ranks", std::to_string(a.ranks), std::to_string(b.ranks));
  const auto samples_a = SamplesPerStep(before.steps), samples_b = SamplesPerStep(after.steps);
  if (samples_a && samples_b && std::abs(*samples_a - *samples_b) > 0.01 * *samples_a) {
    obstacles.push_back(
        fmt::format("another batch size: {:.4g} against {:.4g} samples per step", *samples_a, *samples_b));
  }
  if (a.source != b.source) AddDifference(obstacles, "another kind of trace", a.source, b.source);
  for (const auto& [name, report] : {std::pair("the first", &before), std::pair("the second", &after)}) {
    if (!report->steps.mean_ms) obstacles.push_back(fmt::format("{} has no step that was measured", name));
  }
}

void AddMaps(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& after,
             std::vector<std::string>& to) {
  std::set<std::string> names;
  for (const auto& [name, value] : before) names.insert(name);
  for (const auto& [name, value] : after) names.insert(name);
  const auto value_of = [](const auto& map, const std::string& name) {
    const auto found = map.find(name);
    return found == map.end() ? std::string("(not set)") : found->second;
  };
  for (const std::string& name : names) AddDifference(to, name, value_of(before, name), value_of(after, name));
}

void AddDifferences(const RunInfo& before, const RunInfo& after, std::vector<std::string>& to) {
  AddDifference(to, "command", Joined(before.command), Joined(after.command));
  if (before.treatment != after.treatment) {
    const auto shown = [](const std::string& text) { return text.empty() ? std::string("none") : text; };
    AddDifference(to, "treatment", shown(before.treatment), shown(after.treatment));
  }
  AddMaps(before.versions, after.versions, to);
  AddMaps(before.environment, after.environment, to);
}

struct Use {
  double ms = 0, count = 0;  // per step
};

using Uses = std::map<std::pair<bool, std::string_view>, Use>;  // by (on a device, name)

// Ops of the training thread and the autograd engine by self time, kernels by duration.
Uses UsesOf(const Timeline& timeline) {
  std::vector<Use> by_name(timeline.trace().strings.size());
  timeline.ForEachSteady([&](EventRef ref) {
    if (timeline.event(ref).kind != EventKind::kOp) return;
    Use& use = by_name[timeline.event(ref).name];
    use.ms += static_cast<double>(timeline.self_ns(ref)) / 1e6;
    ++use.count;
  });
  Uses uses;
  for (std::size_t name = 0; name < by_name.size(); ++name) {
    if (by_name[name].count == 0) continue;
    Use& use = uses[{false, timeline.trace().text(static_cast<StringId>(name))}];
    use.ms += by_name[name].ms;
    use.count += by_name[name].count;
  }
  std::vector<Interval> windows;
  for (const std::uint32_t step : timeline.steady()) windows.push_back(timeline.steps()[step].time);
  const auto inside = [&](std::int64_t time_ns) {
    const auto after = std::ranges::upper_bound(windows, time_ns, {}, &Interval::start_ns);
    return after != windows.begin() && time_ns < std::prev(after)->end_ns;
  };
  for (const Device& device : timeline.trace().devices) {
    for (const DeviceEvent& event : device.events) {
      if (event.kind == DeviceKind::kWait || !inside(event.start_ns)) continue;
      Use& use = uses[{true, timeline.trace().text(event.name)}];
      use.ms += static_cast<double>(event.duration_ns()) / 1e6;
      ++use.count;
    }
  }
  const double steps = static_cast<double>(timeline.steady().size());
  for (auto& [name, use] : uses) use = {use.ms / steps, use.count / steps};
  return uses;
}

std::string_view ChangeOf(const Use& before, const Use& after) {
  if (before.count == 0) return "appeared";
  if (after.count == 0) return "vanished";
  return after.ms > before.ms ? "slower" : "faster";
}

void AddOps(const Timeline& before, const Timeline& after, Comparison& comparison) {
  const Uses a = UsesOf(before), b = UsesOf(after);
  std::map<std::pair<bool, std::string_view>, std::pair<Use, Use>> both;
  for (const auto& [name, use] : a) both[name].first = use;
  for (const auto& [name, use] : b) both[name].second = use;
  const double least_ms = kLeastShareOfStep * std::max(before.mean_step_ms(), after.mean_step_ms());
  for (const auto& [name, uses] : both) {
    const auto& [one, other] = uses;
    const double change_ms = std::abs(other.ms - one.ms);
    if (change_ms < least_ms || change_ms < kLeastShareOfOp * std::max(one.ms, other.ms)) continue;
    comparison.ops.push_back({std::string(name.second), name.first, std::string(ChangeOf(one, other)), one.ms, other.ms,
                              one.count, other.count});
  }
  std::ranges::stable_sort(comparison.ops, std::greater(),
                           [](const OpChange& op) { return std::abs(op.after_ms - op.before_ms); });
  if (comparison.ops.size() <= kMostOps) return;
  comparison.ops_left_out = static_cast<int>(comparison.ops.size() - kMostOps);
  comparison.ops.resize(kMostOps);
}

// Findings in `these` that are not in `others`.
std::vector<FindingName> Only(const std::vector<Finding>& these, const std::vector<Finding>& others) {
  std::vector<FindingName> only;
  for (const Finding& one : these) {
    const bool there =
        std::ranges::any_of(others, [&](const Finding& other) { return other.rule == one.rule && other.id == one.id; });
    if (!there) only.push_back({one.id, one.rule, one.title});
  }
  return only;
}

std::optional<double> PerSample(const StepFacts& steps) {
  if (!steps.samples_per_s || *steps.samples_per_s <= 0) return std::nullopt;
  return 1000 / *steps.samples_per_s;
}

bool HasSteps(const Report& report) {
  return report.timeline && !report.timeline->steady().empty();
}

}  // namespace

Comparison Compare(const Report& before, const Report& after) {
  Comparison comparison;
  AddObstacles(before, after, comparison.obstacles);
  AddDifferences(before.run, after.run, comparison.differences);
  comparison.before_ms = before.steps.mean_ms;
  comparison.after_ms = after.steps.mean_ms;
  comparison.before_sample_ms = PerSample(before.steps);
  comparison.after_sample_ms = PerSample(after.steps);
  comparison.parts_before_ms = before.breakdown_ms;
  comparison.parts_after_ms = after.breakdown_ms;
  if (HasSteps(before) && HasSteps(after)) {
    AddOps(*before.timeline, *after.timeline, comparison);
  } else {
    comparison.why_no_ops = "ops are compared between captures or traces with measured steps, not between reports";
  }
  comparison.new_findings = Only(after.findings, before.findings);
  comparison.gone_findings = Only(before.findings, after.findings);
  return comparison;
}

namespace {

constexpr double kLeastOfStep = 0.02, kLeastOfOwn = 0.1;
constexpr std::size_t kMostOfAKind = 5;

class Growing {
 public:
  explicit Growing(double step_ms) : least_ms_(kLeastOfStep * step_ms) {}

  void Add(GrownTime grown) {
    const double by_ms = grown.after_ms - grown.before_ms;
    if (by_ms >= least_ms_ && by_ms >= kLeastOfOwn * grown.after_ms) kind_.push_back(std::move(grown));
  }

  // The largest of those added since the last call go to `to`.
  void Take(std::vector<GrownTime>& to) {
    std::ranges::stable_sort(kind_, std::greater(), [](const GrownTime& one) { return one.after_ms - one.before_ms; });
    if (kind_.size() > kMostOfAKind) kind_.resize(kMostOfAKind);
    std::ranges::move(kind_, std::back_inserter(to));
    kind_.clear();
  }

 private:
  double least_ms_;
  std::vector<GrownTime> kind_;
};

void AddParts(const Report& before, const Report& after, Growing& growing) {
  for (int part = 0; part < kParts; ++part) {
    const auto index = static_cast<std::size_t>(part);
    const auto &was = before.breakdown_ms[index], &is = after.breakdown_ms[index];
    if (!was || !is) continue;
    growing.Add({GrownKind::kPart, std::string(PartName(static_cast<Part>(part))), {}, *was, *is});
  }
}

using LineKey = std::tuple<std::string, std::string, std::string>;  // file's name, function, what runs

LineKey KeyOf(const LineRow& row) {
  return {row.where->path.substr(row.where->path.rfind('/') + 1), row.where->function, row.what};
}

void AddLines(const Report& before, const Report& after, Growing& growing) {
  std::map<LineKey, double> was;
  for (const LineRow& row : before.lines) {
    if (row.where) was[KeyOf(row)] += row.ms;
  }
  struct Line {
    double ms = 0;
    const LineRow* largest = nullptr;
  };
  std::map<LineKey, Line> is;
  for (const LineRow& row : after.lines) {
    if (!row.where) continue;
    Line& line = is[KeyOf(row)];
    line.ms += row.ms;
    if (line.largest == nullptr || row.ms > line.largest->ms) line.largest = &row;
  }
  for (const auto& [key, line] : is) {
    const auto found = was.find(key);
    growing.Add(
        {GrownKind::kLine, std::get<2>(key), line.largest->where, found == was.end() ? 0 : found->second, line.ms});
  }
}

void AddOps(const Report& before, const Report& after, Growing& growing) {
  for (const OpChange& op : Compare(before, after).ops) {
    growing.Add({op.device ? GrownKind::kKernel : GrownKind::kOperator, op.name, {}, op.before_ms, op.after_ms});
  }
}

}  // namespace

std::vector<GrownTime> WhatGrew(const Report& before, const Report& after) {
  std::vector<GrownTime> grown;
  if (!before.steps.mean_ms || !after.steps.mean_ms) return grown;
  Growing growing(*before.steps.mean_ms);
  AddParts(before, after, growing);
  growing.Take(grown);
  AddLines(before, after, growing);
  growing.Take(grown);
  AddOps(before, after, growing);
  growing.Take(grown);
  return grown;
}

}  // namespace loopscope
