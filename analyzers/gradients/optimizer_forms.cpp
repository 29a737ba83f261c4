#include "analyzers/gradients/optimizer_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "analyzers/shared/devices.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

// Suffixes of the facts about optimizers of that class: "", "#2".
std::vector<std::string> OptimizersOf(const Trace& trace, std::string_view name) {
  std::vector<std::string> found;
  std::string which;
  for (int number = 2; !FactOf(trace, "optimizer{}.class", which).empty(); ++number) {
    if (FactOf(trace, "optimizer{}.class", which) == name) found.push_back(which);
    which = "#" + std::to_string(number);
  }
  return found;
}

// Whether optimizers of that class have a setting for many tensors at once, as recorded or as in
// torch.optim.
bool HasForm(const Timeline& timeline, std::string_view name, facts::Key form,
             std::initializer_list<std::string_view> of_torch) {
  return std::ranges::find(of_torch, name) != of_torch.end() ||
         std::ranges::any_of(OptimizersOf(timeline.trace(), name),
                             [&](const std::string& which) { return !FactOf(timeline.trace(), form, which).empty(); });
}

bool HasFusedForm(const Timeline& timeline, std::string_view name) {
  return HasForm(timeline, name, "optimizer{}.fused", {"Adam", "AdamW", "SGD", "Adagrad"});
}

bool HasForeachForm(const Timeline& timeline, std::string_view name) {
  return HasForm(timeline, name, "optimizer{}.foreach",
                 {"Adadelta", "Adafactor", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"});
}

}  // namespace

bool HasNoOtherForm(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames{"LBFGS", "SparseAdam", "Muon"};
  return std::ranges::find(kNames, name) != kNames.end();
}

std::optional<std::uint64_t> TensorsOf(const Trace& trace, std::string_view name) {
  std::optional<std::uint64_t> most;
  for (const std::string& which : OptimizersOf(trace, name)) {
    const auto tensors = NumberFact(trace, "optimizer{}.parameters", which);
    if (tensors) most = std::max(most.value_or(0), static_cast<std::uint64_t>(std::max<std::int64_t>(*tensors, 0)));
  }
  return most;
}

bool SaysMultiTensor(const Timeline& timeline, std::string_view name) {
  const std::vector<std::string> optimizers = OptimizersOf(timeline.trace(), name);
  return !optimizers.empty() && std::ranges::all_of(optimizers, [&](const std::string& which) {
    return FactOf(timeline.trace(), "optimizer{}.fused", which) == "on" ||
           (FactOf(timeline.trace(), "optimizer{}.foreach", which) == "on" && OnDevice(timeline));
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
