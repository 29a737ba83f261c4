#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzers/forms/forms.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinSavedPct = 1;  // of the step's work
constexpr double kMostRatio = 0.9;  // of the time: less of a gain is lost in what surrounds the operators
constexpr double kMinSharePct = 5;  // of the step, from which on an untried form is worth a word

// A use and what the trial of its form says.
struct Tried {
  const FormUse* use = nullptr;
  double ratio = 1;  // time of the better form over that of the program's own
  double saved_ms() const { return use->ms * (1 - ratio); }
};

// Each call counts for the form that saves most of it.
std::vector<Tried> Chosen(std::vector<Tried> tried) {
  std::ranges::stable_sort(tried, std::ranges::greater{}, &Tried::saved_ms);
  std::vector<Tried> chosen;
  std::set<std::uint32_t> taken;
  for (const Tried& one : tried) {
    if (std::ranges::any_of(one.use->calls, [&](std::uint32_t call) { return taken.contains(call); })) continue;
    taken.insert(one.use->calls.begin(), one.use->calls.end());
    chosen.push_back(one);
  }
  return chosen;
}

Finding FindingOf(const Timeline& timeline, const std::vector<Tried>& uses) {
  const Form& form = *uses.front().use->form;
  double ms = 0, saved_ms = 0;
  for (const Tried& one : uses) {
    ms += one.use->ms;
    saved_ms += one.saved_ms();
  }
  Finding finding =
      Costing(timeline, saved_ms,
              fmt::format("{}: {} takes {:.2f} of the time, tried here", form.slow, form.better, 1 - saved_ms / ms));
  finding.cost_is = CostKind::kMeasured;
  finding.advice = form.fix;
  for (const Tried& one : uses) {
    finding.evidence.push_back({fmt::format("{} per step, forward and backward, in {:.3g} uses; tried on these shapes: "
                                            "{:.2f} of the time",
                                            MsText(one.use->ms), one.use->count, one.ratio),
                                static_cast<std::uint64_t>(one.use->count + 0.5), one.use->where, one.saved_ms()});
  }
  return finding;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (!timeline.devices().empty()) return {Finding::NotApplicable("forms of operators are tried on a CPU only")};
  if (FactOf(timeline.trace(), "program.language") == "c++") {
    return {Finding::NotApplicable("forms of operators are tried for Python programs only")};
  }
  if (timeline.detail_steps() == 0) return {Finding::CannotTell(WhyNoDetail(timeline))};
  const std::vector<FormUse> uses = FormUsesOf(timeline);
  std::vector<Tried> tried, faster;
  double untried_ms = 0;
  for (const FormUse& use : uses) {
    const MeasuredGain* const gain = GainOf(timeline.trace(), use);
    if (gain == nullptr) {
      untried_ms += use.ms;
      continue;
    }
    const double ratio = static_cast<double>(gain->after_ns) / static_cast<double>(gain->before_ns);
    tried.push_back({&use, ratio});
    // Not where the trials' own spread holds a ratio of one.
    if (ratio <= kMostRatio && gain->ratio_high < 1) faster.push_back(tried.back());
  }
  std::map<std::string_view, std::vector<Tried>> by_form;
  for (const Tried& one : Chosen(std::move(faster))) by_form[one.use->form->id].push_back(one);
  std::vector<Finding> findings;
  for (const auto& [id, of_form] : by_form) {
    Finding finding = FindingOf(timeline, of_form);
    if (SharePct(timeline, finding.cost_ms_per_step) >= kMinSavedPct) findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return findings;
  if (!tried.empty()) {
    std::set<std::string_view> forms;
    for (const Tried& one : tried) forms.insert(one.use->form->id);
    return {Finding::Clear(
        fmt::format("of {} of operators that were tried, none is faster here", Counted(forms.size(), "other form")))};
  }
  if (SharePct(timeline, untried_ms) < kMinSharePct) return {};
  return {Finding::CannotTell(
      fmt::format("{} per step are in operators that have another form ({}), but none was tried: trials run after the "
                  "diagnosis of a Python program on its own machine",
                  MsText(untried_ms), uses.front().form->better))};
}

}  // namespace

extern const Analyzer kBetterForm{.id = "better-form",
                                  .question = "Are operators used that have a faster form here?",
                                  .run = Run,
                                  .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
