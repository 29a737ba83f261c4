#include "profiler/experiments/options.h"

#include <fmt/format.h>

namespace loopscope {

std::string OptionsText(const ExperimentOptions& o, const std::string& clock) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", o.blocks, o.budget_s, o.margin, o.seed,
                     o.seed_programs, o.warmup, o.auto_warmup, o.steps, o.min_steps, o.min_window_s, o.alone,
                     o.check_training, o.check_steps, o.live, o.turns, clock);
}

}  // namespace loopscope
