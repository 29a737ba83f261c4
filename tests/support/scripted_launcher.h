// A Launcher without programs or clock: step times, memory, losses and failures come from a script and a seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "probes/wire.h"
#include "profiler/core/launch.h"

namespace loopscope {

enum class ScriptedLoss { kSame, kRounding, kFrozen, kOther };

// What one treatment truly does. `factor` multiplies the step time.
struct ScriptedTreatment {
  double factor = 1;
  double epoch_factor = 1, peak_factor = 1;
  double noise_factor = 1;                    // of the launch noise
  std::map<std::string, double> values = {};  // factors of single values, where they differ
  ScriptedLoss loss = ScriptedLoss::kSame;
  std::string not_applicable = "";  // the reason it reports; nothing is changed then
  bool fails = false;
  int samples = 32;
  int boundaries = 0;  // steps of the window at the turn of an epoch
  int settled_after = 0;
  double starts_in_s = 0;  // more than without it
  bool acts_live = true;   // in live pairs: reports that it changed something
};

class ScriptedProgram {
 public:
  explicit ScriptedProgram(unsigned seed) : random_(seed) {}

  std::map<std::string, ScriptedTreatment> treatments;
  std::vector<std::set<std::string>> conflicts;  // keys that fail together
  double ms_per_step = 100, other_side_factor = 1;
  double noise = 0.04, drift = 0;  // of the log, per launch
  bool heavy_tails = false;
  double startup_s = 1, epoch_ms = 500, peak_bytes = 1e9;
  bool losses_repeat = true, fixes_samples = true, follows_seed = false;
  std::string clock = "optimizer:SGD#1", other_side_clock = clock;
  std::function<bool(const LaunchSpec&, int launch)> dies;  // failures of its own
  std::vector<LaunchSpec> log;

  LaunchResult operator()(const LaunchSpec& spec) {
    const int launch = static_cast<int>(log.size());
    log.push_back(spec);
    LaunchResult result;
    double starts_in_s = startup_s, factor = spec.side == 1 ? other_side_factor : 1, epoch = 1, peak = 1,
           spread = noise;
    std::set<std::string> keys;
    int samples = 32, boundaries = 0;
    for (const auto& [key, value] : spec.treatment) {
      keys.insert(key);
      const ScriptedTreatment& one = treatments[key];
      if (one.fails) result.status = {LaunchEnd::kExit, "1"};
      if (!one.not_applicable.empty()) {
        result.applied.push_back({key, "", "", one.not_applicable, wire::kAppliedNotApplicable});
        continue;
      }
      result.applied.push_back({key, "train.cpp:1", "old", value, 0});
      factor *= one.values.count(value) ? one.values.at(value) : one.factor;
      epoch *= one.epoch_factor, peak *= one.peak_factor, spread *= one.noise_factor;
      samples = one.samples;
      boundaries += one.boundaries;
      starts_in_s += one.starts_in_s;
      result.settled_after = std::max(result.settled_after, one.settled_after);
    }
    for (const auto& conflict : conflicts) {
      if (std::ranges::includes(keys, conflict)) result.status = {LaunchEnd::kExit, "1"};
    }
    if (dies && dies(spec, launch)) result.status = {LaunchEnd::kSignal, "9"};
    result.ms_per_step = ms_per_step * factor * std::exp(spread * Draw() + drift * launch);
    result.ms_per_sample = result.ms_per_step / samples;
    result.wall_s = starts_in_s + (spec.warmup + spec.steps) * result.ms_per_step / 1e3;
    result.startup_s = starts_in_s + spec.warmup * result.ms_per_step / 1e3;
    result.steps = spec.steps - boundaries;
    result.clock = spec.side == 1 ? other_side_clock : clock;
    result.epoch_ms = epoch_ms * epoch * std::exp(spread * Draw());
    result.peak_bytes = peak_bytes * peak * std::exp(0.01 * Draw());
    if (spec.live) FillLive(spec, result);
    if (spec.mode == LaunchMode::kCheck) FillLosses(spec, launch, result);
    if (!result.ok()) result.tail = "line before\nit went wrong\n";
    return result;
  }

 private:
  double Draw() { return heavy_tails ? heavy_(random_) / std::sqrt(3.0) : normal_(random_); }

  // Blocks in each round's random order; what is not applicable changes nothing.
  void FillLive(const LaunchSpec& spec, LaunchResult& result) {
    const LiveSchedule& live = *spec.live;
    std::vector<std::uint32_t> arms = live.arms;
    const int rounds = spec.steps / (static_cast<int>(arms.size()) * live.block_steps);
    double spent_ms = 1e3 * result.startup_s, opened_ms = spent_ms;
    for (int round = 0; round < rounds; ++round) {
      const double round_ms = (spent_ms - opened_ms) / std::max(1, round);
      if (live.seconds > 0 && spent_ms + round_ms > 1e3 * live.seconds) break;
      std::shuffle(arms.begin(), arms.end(), random_);
      for (const std::uint32_t arm : arms) {
        LiveBlock block{arm, 0, {}};
        double factor = 1;
        for (std::size_t t = 0; t < live.treatments.size(); ++t) {
          const ScriptedTreatment& one = treatments[live.treatments[t].first];
          if ((arm >> t & 1) == 0 || !one.not_applicable.empty()) continue;
          factor *= one.factor;
          block.acted |= one.acts_live ? 1u << t : 0u;
        }
        for (int step = 0; step < live.block_steps; ++step) {
          const bool cold = step < 2;  // what a switch leaves behind
          block.step_ms.push_back(result.ms_per_step * (cold ? 3 : factor * std::exp(noise * Draw())));
          spent_ms += block.step_ms.back();
        }
        result.live.push_back(std::move(block));
      }
    }
    result.wall_s = spent_ms / 1e3;
    for (const auto& [key, value] : live.treatments) {
      const std::string& why = treatments[key].not_applicable;
      result.applied.push_back(why.empty() ? Applied{key, "train.cpp:1", "old", value, 0}
                                           : Applied{key, "", "", why, wire::kAppliedNotApplicable});
    }
  }

  void FillLosses(const LaunchSpec& spec, int launch, LaunchResult& result) {
    // The same batches in every launch; a program that does not repeat itself adds noise of its own.
    std::mt19937 batches(7), rounding(static_cast<unsigned>(launch) + 100);
    std::mt19937 seeded(static_cast<unsigned>(spec.seed.value_or(1)) + 5000);
    std::normal_distribution<double> batch_noise, own_noise, seed_noise;
    bool frozen = false, rounded = false, other = false, resampled = false;
    for (const auto& [key, value] : spec.treatment) {
      const ScriptedLoss loss = treatments[key].loss;
      frozen = frozen || loss == ScriptedLoss::kFrozen;
      rounded = rounded || loss == ScriptedLoss::kRounding;
      other = other || loss == ScriptedLoss::kOther;
      resampled = resampled || (key == "loader.workers" && !(spec.hash_samples && fixes_samples));
    }
    for (int step = 0; step < spec.warmup + spec.steps; ++step) {
      double loss = (frozen ? 2.3 : 2.3 * std::exp(-step / 25.0)) + 0.05 * batch_noise(batches);
      if (rounded) loss += 0.01 * own_noise(rounding);
      if (resampled || !losses_repeat) loss += 0.05 * own_noise(rounding);
      if (follows_seed) loss += 0.2 * seed_noise(seeded);
      if (other) loss += 1.5;
      result.losses.push_back(loss);
      result.sample_hashes.push_back(1000 + step + (other ? 5000 : 0));
    }
  }

  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> heavy_{3};
};

}  // namespace loopscope
