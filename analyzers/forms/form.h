// The seam for better forms of operators: a row of its family's table (form_*.cpp) says which operators of
// a program have one. A function of the same name in probes/forms/ holds both forms and tries them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/forms/step_calls.h"

namespace loopscope {

struct Match {
  std::string work;  // what the trial makes its tensors from: texts of inputs and numbers, separated by '|'
  Calls calls;       // what the better form replaces
};

struct Form {
  std::string_view id;      // "attention-written-out"
  std::string_view slow;    // what the program does, a clause: "attention is computed one operator at a time"
  std::string_view better;  // what was tried beside it: "scaled_dot_product_attention"
  std::string_view fix;     // one or two sentences
  std::string_view anchor;  // operators, separated by blanks, at which `match` looks
  std::optional<Match> (*match)(const StepCalls&, std::uint32_t at);
};

// By family.
std::span<const Form> AttentionForms();
std::span<const Form> ContractionForms();
std::span<const Form> ConvolutionForms();
std::span<const Form> ElementwiseForms();
std::span<const Form> LookupForms();
std::span<const Form> LossForms();
std::span<const Form> NormForms();
std::span<const Form> ProductForms();
std::span<const Form> RecurrentForms();
std::span<const Form> SelectionForms();

}  // namespace loopscope
