// Where a program's steps use operators that have a better form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/forms/form.h"
#include "profiler/core/report/report.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

std::vector<const Form*> AllForms();

// The same work at one place.
struct FormUse {
  const Form* form = nullptr;
  std::string work;
  std::optional<Where> where;  // of the costliest of its calls
  double ms = 0;               // per step, of the calls that the better form replaces, with their backward pass
  double count = 0;            // per step
  Calls calls;                 // indices into StepCalls
};

// Costliest first; a call may be in several. Empty for what runs on a device, and without a detail window.
std::vector<FormUse> FormUsesOf(const Timeline& timeline);

// Which of the uses are worth a trial, by form and work, each once, the costliest first.
struct FormTrial {
  std::string form, work;
  double ms = 0;  // per step, of all their uses
};
std::vector<FormTrial> FormTrialsOf(const Timeline& timeline);

// What the trial of this use measured; null where there was none.
const MeasuredGain* GainOf(const Trace& trace, const FormUse& use);

// For the report: at most a few dozen.
std::vector<FormRow> FormRowsOf(const Timeline& timeline);

// wire::GainRecord::change, and MeasuredGain::change, of a form's trial.
inline constexpr std::string_view kFormChange = "form=";

}  // namespace loopscope
