// Loopscope's optional header for programs that report more than the probes can see: step marks, knobs, metrics.
// Header-only, needs no library: every call finds the probe at run time and does nothing when there is none.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace loopscope {

// Programs write loopscope::Metric. The inline namespace keeps these apart from Loopscope's own types of the same
// names.
inline namespace program {

namespace detail {
template <class Function>
Function* Probe(const char* symbol) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, symbol));
}
}  // namespace detail

// The end of a training step on `samples` samples (0: unknown). A program that calls it chooses the step clock.
inline void StepEnd(std::uint64_t samples = 0) {
  static auto* probe = detail::Probe<void(std::uint64_t)>("loopscope_v1_step_end");
  if (probe != nullptr) probe(samples);
}

// A step of an optimizer that does not run in torch::optim's own step(), e.g. a fused one derived from it: begins with
// the name of the class it replaces ("AdamW"), how many parameters it has, and its address, which distinguishes it
// from others of its class and size; ends with the token that the begin returned.
inline void* OptimizerStepBegin(const char* name, std::uint64_t parameters, const void* optimizer = nullptr) {
  static auto* probe = detail::Probe<void*(const char*, std::uint64_t, const void*)>("loopscope_v2_optimizer_begin");
  if (probe != nullptr) return probe(name, parameters, optimizer);
  static auto* older = detail::Probe<void*(const char*, std::uint64_t)>("loopscope_v1_optimizer_begin");
  return older != nullptr ? older(name, parameters) : nullptr;
}
inline void OptimizerStepEnd(void* token) {
  static auto* probe = detail::Probe<void(void*)>("loopscope_v1_optimizer_end");
  if (probe != nullptr && token != nullptr) probe(token);
}

// A named number, e.g. Metric("accuracy", 0.91): what `prove --target accuracy=0.9` waits for.
inline void Metric(const char* name, double value) {
  static auto* probe = detail::Probe<void(const char*, double)>("loopscope_v1_metric");
  if (probe != nullptr) probe(name, value);
}

// A fact about the program that the probes cannot see, e.g. Fact("loader.workers", "0").
inline void Fact(const char* key, const char* value) {
  static auto* probe = detail::Probe<void(const char*, const char*)>("loopscope_v1_fact");
  if (probe != nullptr) probe(key, value);
}

// An evaluation on this thread, between two steps.
inline void EvaluationBegin() {
  static auto* probe = detail::Probe<void(int)>("loopscope_v1_evaluation");
  if (probe != nullptr) probe(1);
}
inline void EvaluationEnd() {
  static auto* probe = detail::Probe<void(int)>("loopscope_v1_evaluation");
  if (probe != nullptr) probe(0);
}
// The same under an older name.
inline void Evaluation(bool begins) {
  begins ? EvaluationBegin() : EvaluationEnd();
}

// The value that LOOPSCOPE_TREATMENT asks for under `key`, if any. Asking claims the key, whether or not there is a
// value: a diagnosis learns which knobs the program offers to `prove`, and the probe leaves that treatment to the
// program, which reports with Applied().
inline std::optional<std::string> Knob(std::string_view key) {
  static auto* claim = detail::Probe<void(const char*)>("loopscope_v1_claim");
  if (claim != nullptr) claim(std::string(key).c_str());
  // As env::ForEachSetting reads it; this header stands alone in other people's programs.
  const char* treatment = std::getenv("LOOPSCOPE_TREATMENT");
  std::string_view rest = treatment != nullptr ? treatment : "";
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(';'));
    rest.remove_prefix(item.size() < rest.size() ? item.size() + 1 : rest.size());
    const std::size_t equals = item.find('=');
    if (equals != item.npos && item.substr(0, equals) == key) return std::string(item.substr(equals + 1));
  }
  return std::nullopt;
}

// The knob `key` can be turned while the program runs. `turn` is called at ends of steps, on the training thread, with
// the requested value, or null for the program's own, and returns whether that value is in effect now; the change holds
// from the next step on. Called only where `prove` compares settings within one launch; `context` must stay valid.
// Returns whether this launch turns the knob.
inline bool Switchable(const char* key, bool (*turn)(const char* value, void* context), void* context) {
  static auto* probe = detail::Probe<int(const char*, bool (*)(const char*, void*), void*)>("loopscope_v1_switchable");
  return probe != nullptr && probe(key, turn, context) != 0;
}

// Reports that the knob `key` changed something at `where` from `old_value` to `new_value`, as read back.
inline void Applied(const char* key, const char* where, const char* old_value, const char* new_value) {
  static auto* probe = detail::Probe<void(const char*, const char*, const char*, const char*)>("loopscope_v1_applied");
  if (probe != nullptr) probe(key, where, old_value, new_value);
}

// Reports that the knob `key` does not apply here, and why.
inline void NotApplicable(const char* key, const char* reason) {
  static auto* probe = detail::Probe<void(const char*, const char*)>("loopscope_v1_not_applicable");
  if (probe != nullptr) probe(key, reason);
}

}  // namespace program
}  // namespace loopscope
