// Helpers that rules share for findings: counts and times by call site, costs, shares, texts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/shared/events.h"
#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// The module whose forward an op ran in, "layer1.0.conv1", if a shim recorded it in the detail window; else "".
std::string_view ModuleOf(const Timeline& timeline, EventRef ref);

// Counts and milliseconds by call site, in total over the steps looked at.
class CallSites {
 public:
  struct Site {
    std::optional<Where> where;
    std::uint64_t count = 0;
    double ms = 0;
    std::vector<std::string> modules;  // whose forward the ops ran in, each once
  };

  void Add(const Where* where, double ms = 0, std::string_view module = {});
  void Add(const CallSites& others);
  void DropRarerThan(double count);
  // Probes record the stacks of ranges in some steps only: entries without a place go to the known place, if there is
  // just one.
  void FoldUnknown();
  bool empty() const { return sites_.empty(); }
  std::uint64_t count() const;
  double ms() const;
  // The costliest first, then the most frequent; known places before unknown ones.
  std::vector<Site> Ordered() const;
  // One evidence per site, with its modules, at most `most`, the rest in one line.
  std::vector<Evidence> Describe(const std::function<std::string(const Site&)>& text, std::size_t most = 8) const;

 private:
  std::map<std::optional<Where>, Site> sites_;
};

// Where the training thread asks for its batches; nullopt when no stack of a steady step shows it.
std::optional<Where> LoaderAskedAt(const Timeline& timeline);

// The regular distance of these steps (rising), over the run or within its epochs; absent where they keep none.
std::optional<std::uint32_t> StepDistance(const Timeline& timeline, std::span<const std::uint32_t> steps);

// A kFound finding whose cost is `ms_per_step`: cost_pct is its share of the mean step, the severity that of its share
// of WorkMs().
Finding Costing(const Timeline& timeline, double ms_per_step, std::string title);

// The same where a fix may gain all of it or nothing; its severity is at most `most`.
Finding CostingAtMost(const Timeline& timeline, double ms_per_step, std::string title, Severity most = Severity::kHigh);

// The same for work outside of steps, once per epoch or evaluation. Share of a step plus its portion of that
// work.
Finding CostingOutside(const Timeline& timeline, double ms_per_step, std::string title);

// `ms_per_step` in percent of WorkMs(): what thresholds apply to.
double SharePct(const Timeline& timeline, double ms_per_step);

// "12 % of the step", and under anomaly mode "12 % of the step without anomaly mode".
std::string ShareText(const Timeline& timeline, double ms_per_step);

// Why no steady step has details (inputs, call stacks), and what to do about it: the beginning of a sentence.
std::string WhyNoDetail(const Timeline& timeline);

// "once per step", "0.83 times per step".
std::string TimesPerStep(double times);

// "12.3 ms", "0.41 ms", "85 us": three digits that a person reads.
std::string MsText(double ms);

// The place in a fact's text: "train.py:36".
std::optional<Where> PlaceOf(std::string_view text);

// "1 step", "3 steps".
std::string Counted(std::uint64_t count, std::string_view singular);

}  // namespace loopscope
