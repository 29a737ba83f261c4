// What a run does per step, as numbers that do not depend on its speed: calls, copies, launches, findings. A gate
// compares them without statistics. The verdict on them is also decided here, without any launches.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/report/gate.h"
#include "profiler/core/result.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

struct CounterSite {
  Where where;  // relative to the run's working folder where it lies inside
  double per_step = 0;
};

struct Count {
  CounterKind kind = CounterKind::kCount;
  double per_step = 0;             // for a switch: the share of steps with it on
  std::vector<CounterSite> sites;  // where calls came from; for most counts only in the detail window
};

struct CountedFinding {
  std::string rule, title;
  Severity severity = Severity::kLow;
  double cost_pct = 0;  // 0: a fact without a measured cost
  std::vector<CounterSite> sites;
  bool whatever_runs = false, setting = false;  // see Finding; false for counters read from a file
};

struct Counters {
  int steps = 0;                // that were counted
  double samples_per_step = 0;  // 0 unknown
  std::string clock;            // what ends a step
  double ms_per_step = 0;       // under tracing; not used for any verdict
  std::map<std::string, Count> counts;
  std::vector<CountedFinding> findings;
  std::set<std::string> unstable;  // names of counts and rules that differed between two runs of the same program
};

// Over the first `steps` steps after warm-up, slow ones included: which steps are slow differs between launches, and so
// would counts of what runs in every tenth step. Steps at an epoch's boundary, with an evaluation, or without operators
// are left out. On the training thread and the autograd engine's: synchronising calls
// ("host reads", "waits for the device"), debugging switches, operators in all and outermost ones by name ("op
// aten::clone"), tensors allocated, kernels, bytes each way, collectives and their bytes, peak memory of devices.
Counters CountersOf(const Timeline& timeline, std::span<const Finding> findings, int steps);

// Combines two runs of one program with the same seed: the first one's counters, with what differs marked unstable.
Counters Stable(Counters first, const Counters& second);

// Why the two do different work per step and are not compared; empty when the work is the same.
std::string OtherWork(const Counters& before, const Counters& after);

struct CounterRules {
  bool strict = false;                      // every change fails
  Severity fails_from = Severity::kMedium;  // of new findings
  bool same_machine = true;                 // costs of findings were measured on the same one
};

struct CounterComparison {
  int compared = 0;              // counts and rules that are stable
  std::vector<CounterRow> rows;  // those that fail first, ignored ones last

  bool fails() const;
};

// New synchronising calls, switches and findings of `fails_from` or worse fail. A finding whose cost is a measured
// share of the step fails only if some count changed too, and from twice that severity's threshold on: noise may push
// others across it, and the time gate judges that slowdown.
CounterComparison CompareCounters(const Counters& before, const Counters& after, const CounterRules& rules);

// A failure counts only if a second launch of the candidate shows it too.
void Confirm(const CounterComparison& again, CounterComparison& comparison);

// Traces the candidate, or its baseline, once more.
using Recount = std::function<Result<Counters>(bool candidate)>;

// Compares the two. If something fails, the candidate is launched again, and with `against_runs` so is its baseline.
// What only one of the candidate's launches shows, or the baseline shows too (a machine under load adds costs to both),
// does not fail. Errors: those of `recount`.
Result<CounterComparison> CompareAndConfirm(Counters before, const Counters& after, const CounterRules& rules,
                                            bool against_runs, const Recount& recount);

}  // namespace loopscope
