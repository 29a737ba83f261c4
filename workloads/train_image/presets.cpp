#include "workloads/train_image/presets.h"

#include <fmt/format.h>

#include <fstream>

#include "workloads/train_image/knobs.h"

namespace loopscope::train_image {
namespace {

// The knob that plants the flaw a rule looks for, and that rule.
struct Flaw {
  std::string_view rule, item;
};

constexpr Flaw kFlaws[] = {
    {"input-starvation", "loader.workers=0"},
    {"host-sync", "sync.defer=off"},
    {"debug-left-on", "debug=on"},
    {"bias-before-norm", "bias.before_norm=on"},
    {"fp32-compute", "amp=off"},
    {"grads-zeroed", "grad.set_to_none=off"},
    {"single-tensor-optimizer", "optimizer.impl=single"},
    {"grad-in-eval", "eval.no_grad=off"},
    {"graph-retained", "loss.detach=off"},
    {"needless-copy", "loader.from_numpy=off"},
};

constexpr std::string_view kTuned[] = {
    "loader.workers=1",     "loader.prefetch=4",    "sync.defer=on",    "debug=off",
    "bias.before_norm=off", "grad.set_to_none=on",  "eval.no_grad=on",  "optimizer.impl=fused",
    "loss.detach=on",       "loader.from_numpy=on", "channels_last=on", "relu.inplace=on",
};

constexpr std::string_view kOnly = "only:";

// bfloat16 without these units is emulated and slower than float32.
bool HasBfloat16Units() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.find("avx512_bf16") != line.npos || line.find("amx_bf16") != line.npos) return true;
  }
  return false;
}

void Tune(Settings& settings) {
  for (const std::string_view item : kTuned) AssignItem(settings, item);
  settings.amp = HasBfloat16Units() ? "bf16" : "off";
}

}  // namespace

std::optional<std::string> ApplyPreset(Settings& settings, std::string_view name) {
  const std::string_view rule = name.starts_with(kOnly) ? name.substr(kOnly.size()) : std::string_view{};
  bool known = name == "naive" || name == "tuned";
  Settings changed = settings;
  Tune(changed);
  for (const Flaw& flaw : kFlaws) {
    if (name != "naive" && rule != flaw.rule) continue;
    AssignItem(changed, flaw.item);
    known = true;
  }
  if (!known) return fmt::format("there is no preset \"{}\": it is one of {}", name, DescribePresets());
  settings = changed;
  return std::nullopt;
}

std::string DescribePresets() {
  std::string text = "naive, tuned";
  for (const Flaw& flaw : kFlaws) text += fmt::format(", {}{}", kOnly, flaw.rule);
  return text;
}

}  // namespace loopscope::train_image
