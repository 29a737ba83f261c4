#include "workloads/common/knobs/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace loopscope::train {
namespace {

constexpr std::string_view kOnly = "only:";

// bfloat16 without these units is emulated and slower than float32.
bool HasBfloat16Units() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.find("avx512_bf16") != line.npos || line.find("amx_bf16") != line.npos) return true;
  }
  return false;
}

bool OnGpu(const Knobs& knobs) {
  return knobs.Value("device") == "cuda";
}

void Tune(const Knobs& knobs, const Presets& presets) {
  for (const std::string_view item : presets.tuned) knobs.AssignItem(item);
  const bool gpu = OnGpu(knobs);
  knobs.AssignItem(gpu || HasBfloat16Units() ? "amp=bf16" : "amp=off");
  if (!gpu) return;
  // A GPU takes batches faster than one worker makes them; two processors are left to the loop and to the driver.
  constexpr int kSpare = 2, kMost = 32;
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  knobs.AssignItem(fmt::format("loader.workers={}", std::clamp(processors - kSpare, 1, kMost)));
  for (const std::string_view item : {"loader.pin_memory=on", "copy.non_blocking=on", "cudnn.benchmark=on", "tf32=on",
                                      "deterministic=off", "cache.empty=off"}) {
    knobs.AssignItem(item);
  }
  for (const std::string_view item : presets.tuned_cuda) knobs.AssignItem(item);
}

}  // namespace

Flaw TooManyThreads() {
  const auto processors = std::max(1u, std::thread::hardware_concurrency());
  static const std::string item = fmt::format("threads={}", processors + (processors + 1) / 2);
  return {"thread-oversubscription", {item}, /*in_naive=*/false};
}

std::vector<Flaw> WithRankFlaws(std::vector<Flaw> flaws) {
  const std::vector<Flaw> of_ranks = {
      {"accumulation-allreduce", {"accumulate=4", "ddp.no_sync=off"}, false},
      {"unused-parameter-search", {"ddp.find_unused=on"}, false},
      {"duplicated-data", {"sampler.distributed=off"}, false},
      {"loss-reduction", {"sync.defer=off"}, false},
      {"redundant-logging", {"log.rank0=off", "log.every=3", "log.weights=180000"}, false},
      {"straggler", {"ranks.slow=1"}, false},
      {"overdistributed", {"batch.size=2", "ddp.exchanges=40", "model.size=small"}, false},
  };
  flaws.insert(flaws.end(), of_ranks.begin(), of_ranks.end());
  return flaws;
}

std::vector<Flaw> WithGpuFlaws(std::vector<Flaw> flaws) {
  const std::vector<Flaw> of_gpus = {
      {"pageable-copy", {"loader.pin_memory=off"}, true, true},
      {"blocking-copy", {"copy.non_blocking=off"}, true, true},
      {"cache-emptied", {"cache.empty=on"}, false, true},
  };
  flaws.insert(flaws.end(), of_gpus.begin(), of_gpus.end());
  return flaws;
}

std::optional<std::string> ApplyPreset(const Knobs& knobs, const Presets& presets, std::string_view name) {
  const std::string_view rule = name.starts_with(kOnly) ? name.substr(kOnly.size()) : std::string_view{};
  const auto planted = [&](const Flaw& flaw) { return rule.empty() ? flaw.in_naive : rule == flaw.rule; };
  const bool known =
      name == "naive" || name == "tuned" || (!rule.empty() && std::ranges::any_of(presets.flaws, planted));
  if (!known) return fmt::format("there is no preset \"{}\": it is one of {}", name, DescribePresets(presets));
  const bool gpu = OnGpu(knobs);
  const auto missing = [&](const Flaw& flaw) { return rule == flaw.rule && flaw.of_gpus && !gpu; };
  if (std::ranges::any_of(presets.flaws, missing)) {
    return fmt::format("the preset {} plants a GPU flaw: add --device cuda", name);
  }
  Tune(knobs, presets);
  if (name == "tuned") return std::nullopt;
  for (const Flaw& flaw : presets.flaws) {
    if (!planted(flaw) || (flaw.of_gpus && !gpu)) continue;
    for (const std::string_view item : flaw.items) knobs.AssignItem(item);
  }
  return std::nullopt;
}

std::string DescribePresets(const Presets& presets) {
  std::string text = "naive, tuned";
  for (const Flaw& flaw : presets.flaws) text += fmt::format(", {}{}", kOnly, flaw.rule);
  return text;
}

}  // namespace loopscope::train
