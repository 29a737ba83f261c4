#include "profiler/experiments/pilots.h"

#include <fmt/format.h>

#include "profiler/experiments/plan.h"

namespace loopscope {

LaunchSpec PilotRun::Spec(const Arm& arm, std::string_view phase) const {
  return WithArm(SpecOf(*options_, clock_, window_, fmt::format("{}, {}", phase, arm.name)), arm);
}

LaunchResult PilotRun::Launch(const Arm& arm, std::string_view phase) {
  return series_->Insist(Spec(arm, phase));
}

std::vector<LaunchResult> PilotRun::LaunchBeside(std::span<const Arm> arms, std::string_view phase) {
  if (arms.size() > 1 && series_->takes_turns()) {
    std::vector<LaunchSpec> specs;
    for (const Arm& arm : arms) {
      specs.push_back(Spec(arm, phase));
      specs.back().turn_steps = specs.back().steps;
    }
    return series_->RunTogether(specs);
  }
  std::vector<LaunchResult> results;
  for (const Arm& arm : arms) results.push_back(Launch(arm, phase));
  return results;
}

bool PilotRun::HoldEpochs(int steps) {
  set_epoch(steps);
  window_ = WholeEpochs(window_, PilotWindow(*options_, 0, 0).steps, *options_, steps);
  return window_.whole_epochs;
}

LaunchWindow PilotRun::FinalWindowOf(std::span<Arm> arms, const Needs& needs) const {
  const double fastest_ms = FastestMs(arms);
  const ExperimentOptions options = WithWarmup(*options_, arms);
  const LaunchWindow window = FinalWindow(options, needs.run_ahead, needs.steps_per_epoch, fastest_ms);
  const LaunchWindow whole = WholeEpochs(window, FinalWindow(options, 0, 0, fastest_ms).steps, options, epoch_);
  const int more = whole.warmup + whole.steps - window_.warmup - window_.steps;
  for (Arm& arm : arms) arm.wall_s += more * arm.ms_per_step / 1e3;
  return whole;
}

}  // namespace loopscope
