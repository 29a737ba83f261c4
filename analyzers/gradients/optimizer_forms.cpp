#include "analyzers/gradients/optimizer_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/facts.h"

namespace loopscope {
namespace {

// What the keys of the facts about each optimizer of that class begin with: "optimizer.", "optimizer#2.".
std::vector<std::string> PrefixesOf(const Trace& trace, std::string_view name) {
  std::vector<std::string> prefixes;
  for (auto fact = trace.facts.lower_bound("optimizer"); fact != trace.facts.end(); ++fact) {
    const auto& [key, value] = *fact;
    if (!key.starts_with("optimizer")) break;
    if (!key.ends_with(".class") || value != name) continue;
    prefixes.push_back(key.substr(0, key.size() - std::string_view("class").size()));
  }
  return prefixes;
}

// Whether optimizers of that class can be told to take many tensors at once, by the settings that they were seen to
// have or as torch.optim's.
bool HasForm(const Timeline& timeline, std::string_view name, std::string_view form,
             std::initializer_list<std::string_view> of_torch) {
  const std::vector<std::string> prefixes = PrefixesOf(timeline.trace(), name);
  return std::ranges::find(of_torch, name) != of_torch.end() ||
         std::ranges::any_of(prefixes, [&](const std::string& prefix) {
           return !FactOf(timeline.trace(), prefix + std::string(form)).empty();
         });
}

bool HasFusedForm(const Timeline& timeline, std::string_view name) {
  return HasForm(timeline, name, "fused", {"Adam", "AdamW", "SGD", "Adagrad"});
}

bool HasForeachForm(const Timeline& timeline, std::string_view name) {
  return HasForm(timeline, name, "foreach",
                 {"Adadelta", "Adafactor", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"});
}

}  // namespace

bool HasNoOtherForm(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames{"LBFGS", "SparseAdam", "Muon"};
  return std::ranges::find(kNames, name) != kNames.end();
}

std::optional<std::uint64_t> TensorsOf(const Trace& trace, std::string_view name) {
  std::optional<std::uint64_t> most;
  for (const std::string& prefix : PrefixesOf(trace, name)) {
    const auto tensors = NumberFact(trace, prefix + "parameters");
    if (tensors) most = std::max(most.value_or(0), static_cast<std::uint64_t>(std::max<std::int64_t>(*tensors, 0)));
  }
  return most;
}

bool SaysMultiTensor(const Timeline& timeline, std::string_view name) {
  const auto on = [&](const std::string& key) { return FactOf(timeline.trace(), key) == "on"; };
  const std::vector<std::string> prefixes = PrefixesOf(timeline.trace(), name);
  return !prefixes.empty() && std::ranges::all_of(prefixes, [&](const std::string& prefix) {
    return on(prefix + "fused") || (on(prefix + "foreach") && OnDevice(timeline));
  });
}

std::string AdviceFor(const Timeline& timeline, const std::map<std::string_view, int>& names) {
  const auto any = [&](auto has) {
    return std::ranges::any_of(names, [&](const auto& one) { return has(timeline, one.first); });
  };
  if (names.empty() || any(HasFusedForm)) return "";
  if (OnDevice(timeline) && any(HasForeachForm)) {
    return fmt::format(
        "{} has no fused form: use foreach=True. Sums are taken in a different order, so losses differ "
        "in the last digits.",
        names.begin()->first);
  }
  return fmt::format(
      "{} has no form that takes many tensors at once here: compile its update "
      "(torch.compile(optimizer.step)), or use an optimizer of torch.optim with fused=True. Losses differ "
      "in the last digits.",
      names.begin()->first);
}

}  // namespace loopscope
