#include "analyzers/shared/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "analyzers/shared/anomaly_cost.h"
#include "profiler/core/statistics/series.h"

namespace loopscope {

std::string_view ModuleOf(const Timeline& timeline, EventRef ref) {
  const EventRef range = Ancestor(timeline, ref, [](const Event& up) { return up.is_range(RangeCategory::kModule); });
  return Exists(range) ? timeline.name(range) : std::string_view();
}

namespace {

constexpr std::size_t kMostModules = 4;  // named in one evidence

// ", in layer1.0.conv1, layer1.0.conv2 and 3 more modules"; empty when none is known.
std::string ModulesText(const std::vector<std::string>& modules) {
  if (modules.empty()) return "";
  const std::size_t named = std::min(modules.size(), kMostModules);
  std::string text =
      fmt::format(", in {}", fmt::join(modules.begin(), modules.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (modules.size() > named) text += fmt::format(" and {}", Counted(modules.size() - named, "more module"));
  return text;
}

}  // namespace

void CallSites::Add(const Where* where, double ms, std::string_view module) {
  const std::optional<Where> key = where != nullptr ? std::optional(*where) : std::nullopt;
  Site& site = sites_[key];
  site.where = key;
  ++site.count;
  site.ms += ms;
  const bool known = std::ranges::find(site.modules, module) != site.modules.end();
  if (!module.empty() && !known) site.modules.emplace_back(module);
}

void CallSites::DropRarerThan(double count) {
  std::erase_if(sites_, [&](const auto& entry) { return static_cast<double>(entry.second.count) < count; });
}

void CallSites::Add(const CallSites& others) {
  for (const auto& [where, other] : others.sites_) {
    Site& site = sites_.try_emplace(where, Site{.where = where, .count = 0, .ms = 0, .modules = {}}).first->second;
    site.count += other.count;
    site.ms += other.ms;
    std::ranges::copy_if(other.modules, std::back_inserter(site.modules), [&](const std::string& module) {
      return std::ranges::find(site.modules, module) == site.modules.end();
    });
  }
}

void CallSites::FoldUnknown() {
  const auto unknown = sites_.find(std::nullopt);
  if (unknown == sites_.end() || sites_.size() != 2) return;
  Site& known = sites_.rbegin()->second;  // an empty key sorts first
  known.count += unknown->second.count;
  known.ms += unknown->second.ms;
  sites_.erase(unknown);
}

std::uint64_t CallSites::count() const {
  std::uint64_t total = 0;
  for (const auto& [where, site] : sites_) total += site.count;
  return total;
}

double CallSites::ms() const {
  double total = 0;
  for (const auto& [where, site] : sites_) total += site.ms;
  return total;
}

std::vector<CallSites::Site> CallSites::Ordered() const {
  std::vector<Site> ordered;
  for (const auto& [where, site] : sites_) ordered.push_back(site);
  std::ranges::stable_sort(ordered, [](const Site& a, const Site& b) {
    if (a.where.has_value() != b.where.has_value()) return a.where.has_value();
    return a.ms != b.ms ? a.ms > b.ms : a.count > b.count;
  });
  return ordered;
}

std::vector<Evidence> CallSites::Describe(const std::function<std::string(const Site&)>& text, std::size_t most) const {
  std::vector<Evidence> evidence;
  Site rest;
  std::size_t left_out = 0;
  for (const Site& site : Ordered()) {
    if (evidence.size() < most) {
      evidence.push_back({text(site) + ModulesText(site.modules), site.count, site.where});
      continue;
    }
    ++left_out;
    rest.count += site.count;
    rest.ms += site.ms;
  }
  if (left_out > 0) {
    evidence.push_back({fmt::format("{}: {}", Counted(left_out, "more place"), text(rest)), rest.count, {}});
  }
  return evidence;
}

std::optional<Where> LoaderAskedAt(const Timeline& timeline) {
  CallSites sites;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread() || !event.is_range(RangeCategory::kLoader)) return;
    if (const Where* where = timeline.where(ref)) sites.Add(where, Ms(event.duration_ns()));
  });
  return sites.empty() ? std::nullopt : sites.Ordered().front().where;
}

Finding Costing(const Timeline& timeline, double ms_per_step, std::string title) {
  Finding finding;
  finding.title = std::move(title);
  finding.cost_ms_per_step = ms_per_step;
  finding.cost_pct = timeline.mean_step_ms() > 0 ? 100 * ms_per_step / timeline.mean_step_ms() : 0;
  finding.severity = SeverityOfShare(SharePct(timeline, ms_per_step));
  return finding;
}

Finding CostingOutside(const Timeline& timeline, double ms_per_step, std::string title) {
  Finding finding = Costing(timeline, ms_per_step, std::move(title));
  const double all_ms = timeline.mean_step_ms() + ms_per_step;
  finding.cost_pct = all_ms > 0 ? 100 * ms_per_step / all_ms : 0;
  finding.severity = SeverityOfShare(finding.cost_pct);
  finding.per_epoch = true;
  return finding;
}

Finding CostingAtMost(const Timeline& timeline, double ms_per_step, std::string title, Severity most) {
  Finding finding = Costing(timeline, ms_per_step, std::move(title));
  finding.cost_is = CostKind::kBound;
  finding.severity = std::min(finding.severity, most);
  return finding;
}

double SharePct(const Timeline& timeline, double ms_per_step) {
  const double work_ms = WorkMs(timeline);
  return work_ms > 0 ? 100 * ms_per_step / work_ms : 0;
}

std::string ShareText(const Timeline& timeline, double ms_per_step) {
  const bool other = WorkMs(timeline) < timeline.mean_step_ms();
  const double share = SharePct(timeline, ms_per_step);
  // It cannot exceed the step: part of it disappears with anomaly mode.
  if (share > 100) return fmt::format("{:.0f} % of the step", 100 * ms_per_step / timeline.mean_step_ms());
  return fmt::format("{:.0f} % of the step{}", share, other ? " without anomaly mode" : "");
}

std::string MsText(double ms) {
  if (ms < 0.1) return fmt::format("{:.0f} µs", ms * 1e3);
  if (ms < 10) return fmt::format("{:.2f} ms", ms);
  if (ms < 1000) return fmt::format("{:.1f} ms", ms);
  return fmt::format("{:.2f} s", ms / 1e3);
}

std::string TimesPerStep(double times) {
  const std::string text = times < 1000 ? fmt::format("{:.3g}", times) : fmt::format("{:.0f}", times);
  return text == "1" ? "once per step" : text + " times per step";
}

std::string Counted(std::uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

std::string WhyNoDetail(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  if (trace.details.empty() && trace.run.source == "kineto") {
    return "the trace holds no shapes (torch.profiler records them with record_shapes=True)";
  }
  if (trace.details.empty() && trace.run.source == "nsys") {
    return "the export holds no shapes (only emit_nvtx(record_shapes=True) records them)";
  }
  return "no timed step lies in the detail window";
}

std::optional<Where> PlaceOf(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  Where where;
  if (colon == text.npos || colon == 0) return std::nullopt;
  const std::string_view line = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), where.line);
  if (error != std::errc() || end != line.data() + line.size()) return std::nullopt;
  where.path = text.substr(0, colon);
  return where;
}

std::optional<std::uint32_t> StepDistance(const Timeline& timeline, std::span<const std::uint32_t> steps) {
  std::vector<std::uint32_t> distances, within_epochs;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    distances.push_back(steps[i] - steps[i - 1]);
    const auto between = timeline.steps().subspan(steps[i - 1] + 1, distances.back());
    if (std::ranges::none_of(between, &Step::boundary)) within_epochs.push_back(distances.back());
  }
  const auto distance = RegularDistance(std::move(distances));
  return distance ? distance : RegularDistance(std::move(within_epochs));
}

}  // namespace loopscope
