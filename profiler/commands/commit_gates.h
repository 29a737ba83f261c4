// Gates of one commit against another, each in its own process and folder.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/cli/options.h"
#include "profiler/core/result.h"
#include "profiler/experiments/gate/bisection.h"
#include "profiler/launch/process.h"
#include "profiler/launch/worktrees.h"
#include "profiler/system/signals.h"

namespace loopscope {

// The result of a gate of one commit against another.
struct Gated {
  CommitVerdict verdict = CommitVerdict::kUnknown;
  std::string reason = {};
  std::optional<double> slowdown = {};  // 0.1: by a tenth; empty: it was not timed
  int pairs = 0, exit_code = 0;
};

// Expected for a history of so many commits with one slow one: the whole, its halves, and the rest after it.
int GatesExpected(int commits);

class CommitGates {
 public:
  // `commits`: the good one first. Files are written to `output`; with options.resume, finished gates there
  // count.
  CommitGates(const Options& options, std::filesystem::path output, Signals& signals, Worktrees trees,
              std::vector<Commit> commits)
      : options_(&options),
        output_(std::move(output)),
        signals_(&signals),
        trees_(std::move(trees)),
        commits_(std::move(commits)) {}

  int last() const { return static_cast<int>(commits_.size()) - 1; }
  const Commit& at(int place) const { return commits_[static_cast<std::size_t>(place)]; }

  // Does not repeat a finished gate. After an interrupt or a fault: unknown, at once.
  const Gated& Judge(int base, int commit);

  const std::map<std::pair<int, int>, Gated>& all() const { return gated_; }  // by base and commit
  const std::optional<Error>& fault() const { return fault_; }                // of the options: no gate can run
  double spent_s() const { return spent_s_; }
  std::vector<std::string> FilesOf(int commit);  // that it changes

 private:
  Gated Gate(int base, int commit);
  double BudgetOfNext() const;
  Result<std::filesystem::path> Prepared(const std::string& name, int commit, const std::filesystem::path& folder);
  ProcessEnd Run(std::vector<std::string> command, const std::filesystem::path& printed, Role role);

  const Options* options_;
  std::filesystem::path output_;
  Signals* signals_;
  Worktrees trees_;
  std::vector<Commit> commits_;
  std::map<std::pair<int, int>, Gated> gated_;
  std::map<std::string, int> built_;  // the commit that is built in each worktree
  std::optional<Error> fault_;
  double spent_s_ = 0;
};

}  // namespace loopscope
