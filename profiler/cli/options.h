// The parsed command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/report/target.h"
#include "profiler/experiments/candidates.h"

namespace loopscope {

// A command, and the one it is gated against; without the latter only recorded counters are compared.
struct Workload {
  std::vector<std::string> command, against;
};

// Default number of steps before the first measured one.
inline constexpr int kDefaultWarmup = 10;

enum class Undecided { kTell, kFail, kPass };  // exit 3, 1 or 0

struct GateOptions {
  std::vector<std::string> against, further;  // --against and --workload, each as it was typed
  double max_slowdown = 0.05;
  std::optional<int> pairs;  // at most; empty: GateLimits' default
  Undecided undecided = Undecided::kTell;
  bool strict_counters = false, accept = false;
  std::filesystem::path baseline;
  std::filesystem::path record;     // folder of the history
  std::vector<Workload> workloads;  // from all of the above
};

struct TargetOptions {
  std::string text, regex;  // as they were typed; text empty: no target
  Target target;            // from the text
};

inline constexpr char kBlocksText[] = "blocks of launches at most (12); under 4 no verdict is given";
inline constexpr char kInputsText[] =
    "a run folder, a trace of torch.profiler or Nsight Systems, a folder of ranks, or the JSON of a report";

// `history`: which runs, and where the page goes.
struct HistoryOptions {
  std::string program, rule, machine;  // empty: any
  std::filesystem::path html;
};

struct Options {
  std::string command;                             // "run", "prove" …
  std::vector<std::string> program;                // what follows `--`
  std::vector<std::string> program_a;              // `ab`: the first command
  std::filesystem::path against_dir;               // `ab` and `gate`: the other side's folder, as it was given
  std::map<std::string, std::string> against_env;  // and variables set in its environment
  std::vector<std::string> inputs;                 // report INPUT…, rules [ID], treatments [ID]

  std::filesystem::path output;              // -o
  bool quick = false;                        // `prove`: live pairs only
  std::string json;                          // file
  std::map<std::string, std::string> files;  // the other formats that go to a file: id → file
  std::string format = "text";               // an id in formats.def
  bool quiet = false, no_color = false;
  std::string definitions = "loopscope";  // report: definitions of the GPU figures
  std::string summary;                    // report: the file for summaries of ranks, instead of a report
  bool reduce = false;                    // report: the inputs are such summaries, of one run

  std::optional<int> warmup = kDefaultWarmup;  // empty: auto
  std::optional<int> steps;                    // run: 50, prove and ab: as many as the window needs
  double time_s = 120;
  std::uint64_t max_capture_bytes = 0;  // of each process; 0: the recorder's default
  bool watch = false;                   // run

  Selection selection;  // --only, --skip
  GateOptions gate;
  HistoryOptions history;
  TargetOptions target;  // prove
  int alone = -1;
  std::optional<int> blocks;  // empty: up to twelve; and `prove` begins with all fixes together
  double budget_s = 900, margin = 0.02, min_window_s = 2;
  std::optional<double> launch_timeout_s;  // --launch-timeout
  std::optional<Severity> fail_on;         // --fail-on
  std::uint64_t seed = 1;
  bool yes = false;          // build a probe where one is missing
  bool loader_only = false;  // sweep
  bool no_seed = false, no_turns = false, resume = false, reuse = false, allow_writes = false, keep = false;
  std::string prepare;
  std::string build;  // bisect: shell command that builds a commit

  std::string text;  // not empty: print this instead (--help, --version)
};

}  // namespace loopscope
