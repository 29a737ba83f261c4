// The counter part of `gate`: launches under tracing, compared without statistics.
#pragma once

#include <optional>
#include <string>

#include "profiler/cli/options.h"
#include "profiler/commands/session.h"
#include "profiler/core/report/counters.h"
#include "profiler/experiments/gate/counter_file.h"

namespace loopscope {

class CounterGate {
 public:
  // `recorded` may be null: then the base is launched twice.
  CounterGate(Session& session, const Options& options, const CounterFile* recorded)
      : session_(session), options_(options), recorded_(recorded) {}

  // Fills the row's counters, verdict (a failure, or inconclusive where nothing can be compared but nothing else
  // decides) and notes. Errors: a command fails (exit 4), the two do different work per step (exit 3), nothing can be
  // launched (exit 2).
  Result<void> Judge(std::size_t workload, GateRow& row);

  // The command's own counters, from two launches.
  Result<Counters> Record(std::size_t workload);

  // The diagnosis of the candidate's last launch; empty before.
  const std::optional<Report>& diagnosis() const { return diagnosis_; }
  // What took longer in the candidate's last launch than in the base's; empty if either was not
  // launched.
  std::vector<GrownTime> Grown() const;

 private:
  Result<Counters> Launch(std::size_t workload, bool candidate, const std::string& name);
  Result<Counters> Reference(std::size_t workload, const GateRow& row);
  Result<void> Compare(std::size_t workload, const Counters& before, const Counters& after, const Fingerprint& here,
                       GateRow& row);

  Session& session_;
  const Options& options_;
  const CounterFile* recorded_;
  std::optional<Report> diagnosis_, against_;
};

}  // namespace loopscope
