// The C functions that programs reach through probes/loopscope.h, and the one that the other injected libraries use.
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "probes/capture/records.h"
#include "probes/export.h"
#include "probes/preload/attach.h"
#include "probes/preload/live.h"
#include "probes/preload/loop.h"
#include "probes/preload/program_facts.h"
#include "probes/preload/settings.h"

namespace {

// A null text counts as empty.
const char* Text(const char* text) noexcept {
  return text != nullptr ? text : "";
}

struct OptimizerStep {
  char name[48];
  std::uint64_t parameters, begin_ns;
  const void* optimizer;
};

// Without an address from the program, name and size identify an optimizer.
const void* IdentityOf(const OptimizerStep& step) noexcept {
  if (step.optimizer != nullptr) return step.optimizer;
  std::uint64_t hash = 1469598103934665603ull ^ step.parameters;
  for (const char* at = step.name; *at != '\0'; ++at)
    hash = (hash ^ static_cast<unsigned char>(*at)) * 1099511628211ull;
  return reinterpret_cast<const void*>(hash);
}

}  // namespace

extern "C" {

LOOPSCOPE_EXPORT const loopscope::ProbeApi* loopscope_probe_api() {
  return loopscope::loop::Api();
}

LOOPSCOPE_EXPORT void loopscope_v1_step_end(std::uint64_t samples) {
  loopscope::loop::MarkedStepEnd(samples);
}

LOOPSCOPE_EXPORT void loopscope_v1_metric(const char* name, double value) {
  if (!loopscope::loop::Active()) return;
  loopscope::capture::WriteMark(loopscope::wire::MarkKind::kMetric, Text(name), std::bit_cast<std::uint64_t>(value));
  loopscope::NoteMetric(Text(name), value);
}

LOOPSCOPE_EXPORT void loopscope_v1_fact(const char* key, const char* value) {
  if (loopscope::loop::Active()) loopscope::capture::WriteFact(Text(key), Text(value));
}

LOOPSCOPE_EXPORT void loopscope_v1_evaluation(int begins) {
  static constinit thread_local std::uint64_t begin_ns = 0;
  if (!loopscope::loop::Active()) return;
  const std::uint64_t now_ns = loopscope::capture::NowNs();
  if (begins == 0 && begin_ns != 0) {
    loopscope::loop::Range(loopscope::wire::RangeCategory::kEvaluation, "evaluation", begin_ns, now_ns, 0, true);
  }
  begin_ns = begins != 0 ? now_ns : 0;
}

LOOPSCOPE_EXPORT void loopscope_v1_claim(const char* key) {
  loopscope::loop::Claim(Text(key));
}

LOOPSCOPE_EXPORT int loopscope_v1_switchable(const char* key, bool (*turn)(const char* value, void* context),
                                             void* context) {
  return loopscope::loop::Active() && loopscope::live::Offer(Text(key), turn, context) ? 1 : 0;
}

LOOPSCOPE_EXPORT void loopscope_v1_applied(const char* key, const char* where, const char* old_value,
                                           const char* new_value) {
  if (!loopscope::loop::Active()) return;
  loopscope::capture::WriteApplied(Text(key), Text(where), Text(old_value), Text(new_value), 0);
}

LOOPSCOPE_EXPORT void loopscope_v1_not_applicable(const char* key, const char* reason) {
  if (!loopscope::loop::Active()) return;
  loopscope::capture::WriteApplied(Text(key), "", "", Text(reason), loopscope::wire::kAppliedNotApplicable);
}

// Brackets the step of an optimizer that is not LibTorch's own. `name` is the class it replaces ("SGD"), `optimizer`
// its address, which distinguishes it from others of that class; null: its name and size do.
LOOPSCOPE_EXPORT void* loopscope_v2_optimizer_begin(const char* name, std::uint64_t parameters, const void* optimizer) {
  if (!loopscope::loop::Active()) return nullptr;
  auto* step = new (std::nothrow) OptimizerStep{"", parameters, loopscope::capture::NowNs(), optimizer};
  if (step == nullptr) return nullptr;
  std::strncpy(step->name, Text(name), sizeof step->name - 1);
  loopscope::loop::OptimizerBegins();
  return step;
}

LOOPSCOPE_EXPORT void* loopscope_v1_optimizer_begin(const char* name, std::uint64_t parameters) {
  return loopscope_v2_optimizer_begin(name, parameters, nullptr);
}

LOOPSCOPE_EXPORT void loopscope_v1_optimizer_end(void* token) {
  if (token == nullptr) return;
  const OptimizerStep step = *static_cast<OptimizerStep*>(token);
  delete static_cast<OptimizerStep*>(token);
  loopscope::loop::OptimizerEnds(IdentityOf(step), step.name, step.parameters, step.begin_ns, false);
}

}  // extern "C"
