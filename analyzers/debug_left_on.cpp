#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzers/shared/anomaly_cost.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

// A switch that is on in fewer of the timed steps is a deliberate sample (a profiler's schedule, one checked step).
constexpr double kMinShareOfSteps = 0.1;
// From this share of the steps on, a profiler affects every measurement.
constexpr double kInAllFigures = 0.9;
// A torch profiler's cost per operator without shapes or call stacks, on a fast processor (torch 2.11: 0.5 us, with
// both 0.9; slower processors take several times as long).
constexpr double kProfiledOpUs = 0.5;

struct DebugSwitch {
  wire::OpFlag flag;
  std::string_view name;
  Severity severity;  // at least
  facts::Key place;   // the fact that records where the program turns it on
};
constexpr DebugSwitch kSwitches[] = {
    {wire::kOpAnomaly, "anomaly mode", Severity::kMedium, "debug.anomaly.where"},
    {wire::kOpProfiler, "a torch profiler", Severity::kLow, "debug.profiler.where"},
    {wire::kOpEmitNvtx, "emit_nvtx", Severity::kLow, "debug.emit_nvtx.where"},
};

struct SwitchUse {
  std::vector<bool> steps;  // by index into steps(): on in it
  std::uint64_t ops = 0;

  std::uint64_t count() const { return static_cast<std::uint64_t>(std::ranges::count(steps, true)); }
};

std::array<SwitchUse, std::size(kSwitches)> Uses(const Timeline& timeline) {
  std::array<SwitchUse, std::size(kSwitches)> uses;
  for (SwitchUse& use : uses) use.steps.resize(timeline.steps().size());
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.kind != EventKind::kOp) return;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (!(event.flags & kSwitches[i].flag)) continue;
      ++uses[i].ops;
      if (const int step = timeline.step_at(event.start_ns); step >= 0)
        uses[i].steps[static_cast<std::size_t>(step)] = true;
    }
  });
  return uses;
}

// For traces without steps: ops of the whole trace.
std::array<std::uint64_t, std::size(kSwitches)> OpsWith(const Trace& trace, std::uint64_t& all) {
  std::array<std::uint64_t, std::size(kSwitches)> ops{};
  for (const Thread& thread : trace.threads) {
    for (const Event& event : thread.events) {
      if (event.kind != EventKind::kOp) continue;
      ++all;
      for (std::size_t i = 0; i < ops.size(); ++i) ops[i] += (event.flags & kSwitches[i].flag) != 0;
    }
  }
  return ops;
}

std::vector<Finding> RunWithoutSteps(const Timeline& timeline) {
  std::uint64_t all = 0;
  const auto ops = OpsWith(timeline.trace(), all);
  Finding finding;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i] == 0 || static_cast<double>(ops[i]) < kMinShareOfSteps * static_cast<double>(all)) continue;
    finding.title += (finding.title.empty() ? "" : " and ") + std::string(kSwitches[i].name);
    finding.severity = std::max(finding.severity, kSwitches[i].severity);
    finding.evidence.push_back(
        {fmt::format("{} is on in {} of {}", kSwitches[i].name, ops[i], Counted(all, "recorded operator")),
         ops[i],
         {}});
  }
  if (finding.evidence.empty()) return {Finding::CannotTell(timeline.why_no_steps())};
  finding.title += " left on; its cost is unknown without a timed step";
  return {finding};
}

struct Setting {
  std::string text;
  Severity severity;
};

// Environment switches that are costly here: GPU ones only with a GPU, process group ones only with several ranks.
std::vector<Setting> CostlySettings(const RunInfo& run) {
  const auto value = [&](const std::string& name) {
    const auto found = run.environment.find(name);
    return found == run.environment.end() ? std::string() : found->second;
  };
  std::vector<Setting> settings;
  if (!run.gpus.empty() && value("CUDA_LAUNCH_BLOCKING") == "1") {
    settings.push_back({"CUDA_LAUNCH_BLOCKING=1: the host waits for every kernel", Severity::kMedium});
  }
  const std::string distributed = value("TORCH_DISTRIBUTED_DEBUG");
  if (run.ranks > 1 && (distributed == "DETAIL" || distributed == "INFO")) {
    const bool all = distributed == "DETAIL";
    settings.push_back({fmt::format("TORCH_DISTRIBUTED_DEBUG={}: {}", distributed,
                                    all ? "every collective is checked by one more" : "extra logging and statistics"),
                        all ? Severity::kMedium : Severity::kLow});
  }
  return settings;
}

// The line to change comes before those that take the time.
void AddPlace(const Trace& trace, const DebugSwitch& one, std::vector<Evidence>& evidence) {
  const auto where = PlaceOf(FactOf(trace, one.place));
  if (where) {
    evidence.insert(evidence.begin(), {fmt::format("{} is turned on here", one.name), 1, where});
  } else {
    evidence.back().text += "; the line that turns it on is not known";
  }
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.steady().empty()) return RunWithoutSteps(timeline);
  const auto uses = Uses(timeline);
  const std::size_t steps = timeline.steady().size();
  std::string names;
  double cost_ms = 0, profiler_ms = 0;
  bool in_all_figures = false;
  Severity severity = Severity::kInfo;
  std::vector<Evidence> evidence;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const std::uint64_t on = uses[i].count();
    if (on == 0 || static_cast<double>(on) < kMinShareOfSteps * static_cast<double>(steps)) continue;
    names += (names.empty() ? "" : " and ") + std::string(kSwitches[i].name);
    severity = std::max(severity, kSwitches[i].severity);
    evidence.push_back(
        {fmt::format("{} is on in {} of {}", kSwitches[i].name, on, Counted(steps, "timed step")), on, {}});
    if (kSwitches[i].flag == wire::kOpProfiler) {
      const double ops = CountPerStep(timeline, static_cast<double>(uses[i].ops));
      profiler_ms = ops * kProfiledOpUs / 1e3;
      in_all_figures = static_cast<double>(on) >= kInAllFigures * static_cast<double>(steps);
      evidence.back().text +=
          fmt::format("; it records {:.0f} operators per step, {:.1f} µs or more each", ops, kProfiledOpUs);
    }
    if (kSwitches[i].flag != wire::kOpAnomaly) {
      AddPlace(timeline.trace(), kSwitches[i], evidence);
      continue;
    }
    const AnomalyCost anomaly = MeasureAnomaly(timeline);
    cost_ms += anomaly.upper_ms();
    evidence.back().where = anomaly.backward;
    evidence.back().text += fmt::format("; per step {} for {:.0f} NaN checks in the backward pass",
                                        MsText(anomaly.checks_ms), anomaly.checks);
    if (anomaly.nodes >= 0.5) {
      evidence.back().text += fmt::format(", and at most {} to note down where {:.0f} nodes are made",
                                          MsText(anomaly.recording_ms), anomaly.nodes);
    }
    AddPlace(timeline.trace(), kSwitches[i], evidence);
  }
  for (const Setting& setting : CostlySettings(timeline.trace().run)) {
    names += (names.empty() ? "" : " and ") + setting.text.substr(0, setting.text.find(':'));
    severity = std::max(severity, setting.severity);
    evidence.push_back({setting.text, 1, {}});
  }
  if (evidence.empty()) return {};
  const char* const bound = profiler_ms <= 0 ? "up to" : cost_ms > 0 ? "about" : "at least";
  const bool least = in_all_figures && cost_ms <= 0;  // with anomaly mode on too, its bound is the larger part
  cost_ms += profiler_ms;
  std::string cost = cost_ms > 0 ? fmt::format(": {} {} per step", bound, MsText(cost_ms)) : "";
  if (least) cost += ", and every other figure includes what it takes";
  Finding finding = Costing(timeline, cost_ms, names + " left on" + cost);
  if (least) {
    finding.cost_is = CostKind::kLeast;
    severity = std::max(severity, Severity::kMedium);
  }
  finding.severity = std::max(finding.severity, severity);
  finding.evidence = std::move(evidence);
  return {finding};
}

}  // namespace

extern const Analyzer kDebugLeftOn{.id = "debug-left-on",
                                   .question = "Is a debugging switch on in the steps that count?",
                                   .run = Run,
                                   .without_steps = true,
                                   .setting = true};

}  // namespace loopscope
