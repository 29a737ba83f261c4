#include "analyzers/forms/forms.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace loopscope {
namespace {

constexpr double kMinFormPct = 5;   // of the step, in all uses of a form
constexpr double kMinTrialPct = 1;  // in uses of a form with the same work
constexpr std::size_t kMostTrials = 12;

}  // namespace

std::vector<const Form*> AllForms() {
  std::vector<const Form*> all;
  for (const auto family : {AttentionForms(), ContractionForms(), ConvolutionForms(), ElementwiseForms(), LookupForms(),
                            LossForms(), NormForms(), ProductForms(), RecurrentForms(), SelectionForms()}) {
    for (const Form& one : family) all.push_back(&one);
  }
  return all;
}

std::vector<FormUse> FormUsesOf(const Timeline& timeline) {
  if (!timeline.devices().empty()) return {};
  const StepCalls calls(timeline);
  const double steps = timeline.detail_steps();
  std::map<std::tuple<std::string_view, std::string, std::optional<Where>>, FormUse> uses;
  for (const Form* form : AllForms()) {
    for (std::uint32_t at = 0; at < calls.all().size(); ++at) {
      const Call& call = calls[at];
      if (call.in_backward || call.in_optimizer || !IsOneOf(call.name, form->anchor)) continue;
      std::optional<Match> match = form->match(calls, at);
      if (!match || match->calls.empty()) continue;
      std::ranges::sort(match->calls);
      const auto repeated = std::ranges::unique(match->calls);
      match->calls.erase(repeated.begin(), repeated.end());
      const std::uint32_t most =
          *std::ranges::max_element(match->calls, {}, [&](std::uint32_t one) { return calls[one].ms; });
      const Where* const where = calls.where(most);
      const std::optional<Where> place = where != nullptr ? std::optional(*where) : std::nullopt;
      FormUse& use = uses[{form->id, match->work, place}];
      if (use.form == nullptr) {
        use.form = form;
        use.work = std::move(match->work);
        use.where = place;
      }
      for (const std::uint32_t one : match->calls) use.ms += calls[one].ms;
      use.count += 1 / steps;
      use.calls.insert(use.calls.end(), match->calls.begin(), match->calls.end());
    }
  }
  std::vector<FormUse> all;
  for (auto& [key, use] : uses) all.push_back(std::move(use));
  std::ranges::stable_sort(all, std::ranges::greater{}, &FormUse::ms);
  return all;
}

const MeasuredGain* GainOf(const Trace& trace, const FormUse& use) {
  const std::string change = std::string(kFormChange) + std::string(use.form->id);
  const auto found = std::ranges::find_if(
      trace.gains, [&](const MeasuredGain& one) { return one.change == change && one.work == use.work; });
  return found == trace.gains.end() || found->before_ns <= 0 ? nullptr : &*found;
}

std::vector<FormRow> FormRowsOf(const Timeline& timeline) {
  constexpr std::size_t kMost = 80;
  std::vector<FormRow> rows;
  for (const FormUse& use : FormUsesOf(timeline)) {
    if (rows.size() == kMost) break;
    FormRow& row = rows.emplace_back();
    row.form = use.form->id;
    row.where = use.where;
    row.ms = use.ms;
    row.uses = use.count;
    if (const MeasuredGain* const gain = GainOf(timeline.trace(), use)) {
      row.ratio = static_cast<double>(gain->after_ns) / static_cast<double>(gain->before_ns);
    }
  }
  return rows;
}

std::vector<FormTrial> FormTrialsOf(const Timeline& timeline) {
  std::map<std::string_view, double> by_form;
  std::vector<FormTrial> trials;
  for (const FormUse& use : FormUsesOf(timeline)) {
    by_form[use.form->id] += use.ms;
    const auto known = std::ranges::find_if(
        trials, [&](const FormTrial& one) { return one.form == use.form->id && one.work == use.work; });
    if (known != trials.end()) {
      known->ms += use.ms;
    } else {
      trials.push_back({std::string(use.form->id), use.work, use.ms});
    }
  }
  const double percent_ms = timeline.mean_step_ms() / 100;
  std::erase_if(trials, [&](const FormTrial& one) {
    return by_form[one.form] < kMinFormPct * percent_ms || one.ms < kMinTrialPct * percent_ms;
  });
  std::ranges::stable_sort(trials, std::ranges::greater{}, &FormTrial::ms);
  trials.resize(std::min(trials.size(), kMostTrials));
  return trials;
}

}  // namespace loopscope
