// The environment variables through which `loopscope` talks to the probes in a launched program, and those by which
// launchers number the ranks of one.
#pragma once

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace loopscope::env {

inline constexpr char kRunDir[] = "LOOPSCOPE_RUN_DIR";  // folder for this launch's captures (exists, private)
inline constexpr char kMode[] = "LOOPSCOPE_MODE";       // kModeTrace, kModeClock or kModeCheck
inline constexpr char kModeTrace[] = "trace";           // everything is recorded: the diagnosis
inline constexpr char kModeClock[] = "clock";           // only the step clock: timed trials
inline constexpr char kModeCheck[] = "check";           // losses and sampler indices: "same training?", untimed
inline constexpr char kWarmup[] = "LOOPSCOPE_WARMUP";   // steps before the window opens, decimal
inline constexpr char kSteps[] = "LOOPSCOPE_STEPS";     // steps in the window; 0 = to the program's own end
inline constexpr char kTime[] = "LOOPSCOPE_TIME";       // trace mode: seconds to go on for, at most, until…
inline constexpr char kUntil[] = "LOOPSCOPE_UNTIL";     // …"epoch" was seen (an epoch boundary and an evaluation)
inline constexpr char kDetail[] = "LOOPSCOPE_DETAIL";   // steps in the detail window after warm-up
// Steps in the window before operators are recorded in some only, where those are short in fewer; 0 = in all.
inline constexpr char kAllOps[] = "LOOPSCOPE_ALL_OPS";
inline constexpr char kClock[] = "LOOPSCOPE_CLOCK";          // the clock all arms use: a kStepEnd name; empty = choose
inline constexpr char kTreatment[] = "LOOPSCOPE_TREATMENT";  // "loader.workers=4;amp=bf16"
// Treatments that are switched at the ends of steps, in the form of kTreatment; and how: "SEED STEPS ARM,ARM…". Every
// round has each arm once, in random order, for STEPS steps; an arm is the treatments that are on, as letters from 'a'
// in their order, or "-".
inline constexpr char kLiveTreatment[] = "LOOPSCOPE_LIVE_TREATMENT";
inline constexpr char kLive[] = "LOOPSCOPE_LIVE";
// Seconds from the program's start: no round starts that may end later; absent = until its steps are done.
inline constexpr char kLiveSeconds[] = "LOOPSCOPE_LIVE_SECONDS";
// Programs take turns: steps in a turn, decimal; and the named pipes in kRunDir through which this program says that
// its turn is over (a TurnOver), and the launcher that the next one begins (a byte).
inline constexpr char kTurns[] = "LOOPSCOPE_TURNS";
inline constexpr char kTurnOverPipe[] = "turn-over";
inline constexpr char kTurnBeginPipe[] = "turn-begin";
enum class TurnOver : char { kInWindow, kBeforeWarmup };  // the latter after the first step, if warm-up needs more
inline constexpr char kSeed[] = "LOOPSCOPE_SEED";         // base seed, decimal; absent with --no-seed
inline constexpr char kSampleRng[] =
    "LOOPSCOPE_SAMPLE_RNG";  // "hash": the per-sample generator is hash(seed, epoch, index)
inline constexpr char kLaunchDir[] = "LOOPSCOPE_LAUNCH_DIR";  // a folder of this launch's own that scripts may write to
inline constexpr char kCaptureLimit[] = "LOOPSCOPE_CAPTURE_LIMIT";  // bytes a capture may grow to (default 4 GiB)
// Our prefix of LD_PRELOAD, for Python processes in which a launcher has reset that.
inline constexpr char kPreload[] = "LOOPSCOPE_PRELOAD";
inline constexpr char kProbeCache[] = "LOOPSCOPE_PROBE_CACHE";  // LibTorch probes for other versions of torch
// Set by the user. "1": an NCCL plugin records collectives.
inline constexpr char kNccl[] = "LOOPSCOPE_NCCL";
// For diagnosis: a file that gets CUPTI's buffers as they are handed over; and, "1", all calls of CUDA are recorded.
inline constexpr char kCuptiDump[] = "LOOPSCOPE_CUPTI_DUMP";
inline constexpr char kCuptiAll[] = "LOOPSCOPE_CUPTI_ALL";
inline constexpr char kRankTimeout[] = "LOOPSCOPE_RANK_TIMEOUT";  // seconds ranks wait for each other at the end

inline constexpr char kTarget[] = "LOOPSCOPE_TARGET";    // "accuracy>=0.9": the metric that the launcher waits for
inline constexpr char kTargetFile[] = "target-reached";  // made in kRunDir when a metric's mark has reached it

// Calls visit(key, value) for each item of a text in the form of kTreatment; other parts are skipped.
template <class Visit>
void ForEachSetting(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(';'));
    text.remove_prefix(item.size() < text.size() ? item.size() + 1 : text.size());
    const std::size_t equals = item.find('=');
    if (equals != item.npos) visit(item.substr(0, equals), item.substr(equals + 1));
  }
}

// The rank of a process and the number of ranks, by launcher. Both of a pair are needed: a Slurm batch script has a
// SLURM_PROCID but is not a rank, and PMIX_RANK comes without a size, beside Open MPI's or Slurm's own variables.
// torchrun's come first, since it may itself be started by the others. probes/python/settings.py has the same list.
struct RankVariables {
  const char *rank, *size;
};
inline constexpr RankVariables kRankVariables[] = {
    {"RANK", "WORLD_SIZE"},                            // torchrun, accelerate, deepspeed
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},  // Open MPI
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},    // MVAPICH
    {"PMI_RANK", "PMI_SIZE"},                          // MPICH, Intel MPI
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},          // srun
};

// A process's rank and the number of ranks; rank -1 when it is the only one.
struct Rank {
  int rank = -1, size = 1;
};

inline int NumberOr(const char* text, int otherwise) noexcept {
  const std::string_view digits = text != nullptr ? text : "";
  int number = otherwise;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : otherwise;
}

// The first launcher that set both of its variables decides. `variable(name)` returns a variable's text, or null.
template <class Variable>
Rank RankFrom(const Variable& variable) {
  for (const RankVariables& names : kRankVariables) {
    const int rank = NumberOr(variable(names.rank), -1), size = NumberOr(variable(names.size), 0);
    if (rank >= 0 && rank < size) return size > 1 ? Rank{rank, size} : Rank{};
  }
  return {};
}

inline Rank ReadRank() noexcept {
  return RankFrom([](const char* name) { return std::getenv(name); });
}

}  // namespace loopscope::env
