#include "profiler/commands/command_table.h"

#include <array>

namespace loopscope {
namespace {

constexpr std::array<Command, 12> kCommands = {{
    {"run", "What slows this training loop, with the line that does it.", "run [options] -- CMD…",
     "loopscope run -- ./train --epochs 3", true, true, true, false, true, 0, RunCommand},
    {"prove", "Rerun the program with each fix: each fix's measured speedup and its interval.",
     "prove [options] -- CMD…", "loopscope prove --budget 10m -- ./train --epochs 3", true, true, true, true, true, 0,
     ProveCommand},
    {"ab", "Measure a change of your own: two commands, the same statistics.", "ab [options] 'CMD_A' -- CMD_B…",
     "loopscope ab './train --lr 0.1' -- ./train --lr 0.2", true, true, false, true, true, 1, AbCommand},
    {"sweep", "Find the best of a grid of settings: loader workers, batch sizes, threads.",
     "sweep [options] KEY=VALUE,… -- CMD…", "loopscope sweep loader.workers=0,1,2,4 -- python train.py", true, true,
     false, true, true, -1, SweepCommand},
    {"gate", "Fail on a real slowdown, and on nothing else: for CI.", "gate [options] --against 'CMD_A' -- CMD_B…",
     "loopscope gate --against-dir ../base -- ./train", true, true, true, true, true, 0, GateCommand},
    {"aa-check", "What this machine can detect: the program against itself.", "aa-check [options] -- CMD…",
     "loopscope aa-check -- ./train", false, true, false, true, true, 0, AaCheckCommand},
    {"history", "The gates of many days: step times, and where their level changed.", "history DIR",
     "loopscope history loopscope-history", false, false, false, false, false, 1, HistoryCommand},
    {"report", "The report of runs that are there already.", "report [options] INPUT…",
     "loopscope report loopscope-out/20250131-093000", true, false, false, false, false, -1, ReportCommand},
    {"compare", "What changed per step from one run to another.", "compare [options] BEFORE AFTER",
     "loopscope compare loopscope-out/monday loopscope-out/tuesday", true, false, false, false, false, -1,
     CompareCommand},
    {"rules", "What the rules look for, or the text of one.", "rules [ID]", "loopscope rules input-starvation", false,
     false, false, false, false, 1, RulesCommand},
    {"treatments", "What `prove` can try, or one of them.", "treatments [ID]", "loopscope treatments loader.workers",
     false, false, false, false, false, 1, TreatmentsCommand},
    {"doctor", "What works on this machine, and for this program.", "doctor [-- CMD…]", "loopscope doctor -- ./train",
     false, false, false, false, true, 0, DoctorCommand},
}};

}  // namespace

Commands AllCommands() {
  return kCommands;
}

}  // namespace loopscope
