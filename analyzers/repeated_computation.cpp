#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzers/forms/step_calls.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 3;  // of the step's work, that computing once would save

// Draws numbers, so that no two results are the same.
bool Draws(std::string_view name) {
  return IsOneOf(
      name, "dropout feature_dropout alpha_dropout bernoulli bernoulli_ rand_like randn_like rrelu multinomial normal");
}

// The result of a call, where parameters alone determine it: the operator, its inputs and what made them.
struct Outcome {
  std::string key;  // "" where anything else goes in
  bool computes = false;
};

// One that no parameter's number marks, and that asks for no gradient, is data or a buffer: it may be another each
// time.
bool OnlyParameters(const StepCalls& calls, std::uint32_t at, const std::vector<Outcome>& results) {
  const Call& call = calls[at];
  bool any = false, made = false;
  for (const TensorText& input : call.inputs) {
    if (!input.is_tensor) {
      if (input.scalar.starts_with('(')) return false;
      continue;
    }
    if (!input.defined || (input.sizes.empty() && !input.requires_grad)) continue;
    if (!input.requires_grad) return false;
    any = true;
    made |= input.leaf == 0;
  }
  if (made && call.from.empty()) return false;
  return any && std::ranges::none_of(call.from, [&](std::uint32_t one) { return results[one].key.empty(); });
}

std::vector<Outcome> ResultsOf(const StepCalls& calls) {
  std::vector<Outcome> results(calls.all().size());
  // Parameters change where an optimizer updates them.
  int updates = 0;
  bool updating = false;
  std::map<std::string, int> numbers;
  for (std::uint32_t i = 0; i < results.size(); ++i) {
    const Call& call = calls[i];
    if (call.in_optimizer && !updating) ++updates;
    updating = call.in_optimizer;
    if (call.in_optimizer || call.in_backward || call.name.ends_with('_') || Draws(call.name)) continue;
    if (!OnlyParameters(calls, i, results)) continue;
    // A backward pass frees what it went through, so that a later one needs it computed anew.
    std::string key =
        fmt::format("{}:{}:{}:{}:{}", call.step, updates, call.pass, call.name, calls.timeline().inputs(call.ref));
    for (const std::uint32_t from : call.from) {
      key += fmt::format("|{}", numbers[results[from].key]);
      results[i].computes |= results[from].computes;
    }
    results[i].computes |= !ops::IsView(call.name);
    numbers.try_emplace(key, static_cast<int>(numbers.size()) + 1);
    results[i].key = std::move(key);
  }
  return results;
}

struct Place {
  double saved_ms = 0;
  double times = 0;  // a step, of the one that costs most
  double most_ms = 0;
  std::string what;
};

std::vector<Finding> Run(const Timeline& timeline) {
  if (timeline.detail_steps() == 0) return {Finding::CannotTell(WhyNoDetail(timeline))};
  const StepCalls calls(timeline);
  const std::vector<Outcome> results = ResultsOf(calls);
  std::map<std::string_view, Calls> same;
  for (std::uint32_t i = 0; i < results.size(); ++i) {
    if (results[i].computes) same[results[i].key].push_back(i);
  }
  std::map<std::optional<Where>, Place> places;
  double saved_ms = 0;
  for (const auto& [key, all] : same) {
    const auto count = static_cast<double>(all.size());
    if (count < 2) continue;
    double ms = 0;
    for (const std::uint32_t one : all) ms += calls[one].ms;
    const double saved = ms * (count - 1) / count;
    saved_ms += saved;
    const Where* const where = calls.where(all.front());
    Place& place = places[where != nullptr ? std::optional(*where) : std::nullopt];
    place.saved_ms += saved;
    if (saved <= place.most_ms) continue;
    place.most_ms = saved;
    place.times = count;
    place.what = std::string(calls[all.front()].name);
  }
  if (SharePct(timeline, saved_ms) < kMinSharePct) return {};
  const auto most = std::ranges::max_element(places, {}, [](const auto& one) { return one.second.saved_ms; });
  Finding finding =
      Costing(timeline, saved_ms,
              fmt::format("the same result is computed from the same parameters {:.0f} times per step: {}",
                          most->second.times, most->second.what));
  std::vector<std::pair<std::optional<Where>, Place>> ordered(places.begin(), places.end());
  std::ranges::stable_sort(ordered, std::ranges::greater{}, [](const auto& one) { return one.second.saved_ms; });
  for (const auto& [where, place] : ordered) {
    if (finding.evidence.size() == 8) break;
    finding.evidence.push_back(
        {fmt::format("{} {:.0f} times with the same result: computed once, it would take {} less "
                     "per step, forward and backward",
                     place.what, place.times, MsText(place.saved_ms)),
         static_cast<std::uint64_t>(place.times), where, place.saved_ms});
  }
  return {finding};
}

}  // namespace

extern const Analyzer kRepeatedComputation{.id = "repeated-computation",
                                           .question = "Is the same result computed again and again within a step?",
                                           .run = Run,
                                           .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
