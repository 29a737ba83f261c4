// An experiment of `prove` without a fixed number of blocks, on a program of a script.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/experiments/prove/experiment.h"
#include "profiler/treatments/treatments.h"
#include "tests/support/scripted_launcher.h"

namespace loopscope::test {

inline Candidate OneFix(const std::string& id, const std::string& value) {
  return {FindTreatment(id), {value}, {"rule-of-" + id}, 1};
}

inline ExperimentInput SetFirst(std::vector<Candidate> candidates, double budget_s = 1e6) {
  ExperimentInput input;
  input.command = {"train"};
  input.candidates = std::move(candidates);
  input.options.until_decided = true;
  input.options.check_training = false;
  input.options.budget_s = budget_s;
  input.options.min_window_s = 0.5;
  return input;
}

inline Report Proved(const ExperimentInput& input, ScriptedProgram& program, const ExperimentEvents& events = {}) {
  Report report;
  const auto done = RunExperiment(input, std::ref(program), events, report);
  EXPECT_TRUE(done.ok()) << done.error().what;
  return report;
}

inline int LaunchesOf(const ScriptedProgram& program, const std::string& start, const std::string& end = "") {
  return static_cast<int>(std::ranges::count_if(
      program.log, [&](const LaunchSpec& spec) { return spec.label.starts_with(start) && spec.label.ends_with(end); }));
}

inline ScriptedProgram TwoGains(unsigned seed) {
  ScriptedProgram program(seed);
  program.treatments["amp"] = {.factor = 1 / 1.5};
  program.treatments["grad.set_to_none"] = {.factor = 1 / 1.3};
  return program;
}

inline std::vector<Candidate> TwoFixes() {
  return {OneFix("amp", "bf16"), OneFix("grad.set_to_none", "on")};
}

inline double SpentOn(const ScriptedProgram& like, int launches) {
  ScriptedProgram copy = like;
  return launches * copy({.steps = 20}).wall_s;
}

}  // namespace loopscope::test
