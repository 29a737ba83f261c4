#include "probes/preload/python/script.h"

#include <bit>

#include "probes/capture/records.h"
#include "probes/export.h"
#include "probes/preload/attach.h"
#include "probes/preload/follow/following.h"
#include "probes/preload/live.h"
#include "probes/preload/loop.h"
#include "probes/preload/process/devices.h"
#include "probes/preload/program_facts.h"
#include "probes/preload/python/code.h"
#include "probes/preload/python/follow.h"

namespace {

using namespace loopscope;

const void* Object(std::uint64_t id) noexcept {
  return reinterpret_cast<const void*>(id);
}

const char* Text(const char* text) noexcept {
  return text != nullptr ? text : "";
}

}  // namespace

extern "C" {

LOOPSCOPE_EXPORT const char* loopscope_script_start() {
  if (loop::Active()) return nullptr;
  const char* reason = StartCapture();
  if (reason == nullptr) {
    UsePythonStacks();
    static constexpr following::Follower follower{[](std::uint64_t) noexcept { return follow::Start(); }, follow::Stop};
    following::Use(&follower);
  }
  return reason;
}

LOOPSCOPE_EXPORT const char* loopscope_script_load_torch(const char* path) {
  return loop::Active() ? AttachTorchProbe(path) : "no capture is open";
}

LOOPSCOPE_EXPORT void loopscope_script_code_folders(const char* start, const char* temporary) {
  SetCodeFolders(Text(start), Text(temporary));
}

LOOPSCOPE_EXPORT void loopscope_script_foreign_code(const char* folders) {
  SetForeignCode(Text(folders));
}

LOOPSCOPE_EXPORT void loopscope_script_set_finish(void (*finish)()) {
  loop::CallAtEnd(finish);
}

LOOPSCOPE_EXPORT void loopscope_script_interpreter_ends() {
  following::End();
}

LOOPSCOPE_EXPORT void loopscope_script_program_ends(int status) {
  loop::ProgramEnds(status);
}

LOOPSCOPE_EXPORT void loopscope_script_loader_started(std::uint64_t loader, std::uint64_t begin_ns, const char* name) {
  loop::SamplerReset(Object(loader), begin_ns);
  loop::Range(wire::RangeCategory::kLoader, Text(name), begin_ns, capture::NowNs(), 0, true);
}

LOOPSCOPE_EXPORT void loopscope_script_loader_gave(std::uint64_t loader, std::uint64_t begin_ns, const char* name,
                                                   const std::size_t* indices, std::size_t samples) {
  loop::SamplerGave(Object(loader), begin_ns, indices, samples, Text(name));
}

LOOPSCOPE_EXPORT void loopscope_script_loader_ran_out(std::uint64_t loader, std::uint64_t begin_ns, const char* name) {
  loop::SamplerRanOut(Object(loader), begin_ns, Text(name));
}

LOOPSCOPE_EXPORT void loopscope_script_backward_begins() {
  loop::BackwardBegins(nullptr);
}

LOOPSCOPE_EXPORT void loopscope_script_backward_ends(std::uint64_t begin_ns, int threw) {
  loop::BackwardEnds(begin_ns, threw != 0);
}

LOOPSCOPE_EXPORT void loopscope_script_gradient_taken() {
  loop::GradientTaken();
}

LOOPSCOPE_EXPORT void loopscope_script_updated_out_of_sight() {
  loop::UpdatedOutOfSight();
}

LOOPSCOPE_EXPORT void loopscope_script_zero_grad_begins() {
  loop::ZeroGradBegins();
}

LOOPSCOPE_EXPORT void loopscope_script_zero_grad_ends(std::uint64_t begin_ns, int set_to_none) {
  loop::ZeroGradEnds(begin_ns, set_to_none != 0);
}

LOOPSCOPE_EXPORT void loopscope_script_optimizer_made() {
  loop::OptimizerMade();
}

LOOPSCOPE_EXPORT void loopscope_script_optimizer_begins() {
  loop::OptimizerBegins();
}

LOOPSCOPE_EXPORT void loopscope_script_optimizer_ends(std::uint64_t optimizer, const char* name,
                                                      std::uint64_t parameters, std::uint64_t begin_ns, int threw) {
  loop::OptimizerEnds(Object(optimizer), Text(name), parameters, begin_ns, threw != 0);
}

LOOPSCOPE_EXPORT const std::uint32_t* loopscope_script_gate() {
  static_assert(sizeof(loop::Gate()) == sizeof(std::uint32_t));
  return reinterpret_cast<const std::uint32_t*>(&loop::Gate());
}

LOOPSCOPE_EXPORT void loopscope_script_output(const char* name, std::uint64_t begin_ns) {
  loop::Output(Text(name), begin_ns, capture::NowNs(), 0);
}

LOOPSCOPE_EXPORT void loopscope_script_range(int category, const char* name, std::uint64_t begin_ns,
                                             std::uint64_t end_ns, std::uint64_t value) {
  loop::Range(static_cast<wire::RangeCategory>(category), Text(name), begin_ns, end_ns, value, false);
}

LOOPSCOPE_EXPORT void loopscope_script_mark(int kind, const char* name, std::uint64_t value) {
  if (loop::Active()) loop::Mark(static_cast<wire::MarkKind>(kind), Text(name), value);
}

LOOPSCOPE_EXPORT void loopscope_script_loss(double value) {
  if (loop::Active()) capture::WriteMark(wire::MarkKind::kLoss, {}, std::bit_cast<std::uint64_t>(value));
}

LOOPSCOPE_EXPORT void loopscope_script_forked() {
  follow::ChildBegins();
}

LOOPSCOPE_EXPORT void loopscope_script_claim(const char* key) {
  loop::Claim(Text(key));
}

LOOPSCOPE_EXPORT void loopscope_script_leave_cupti_to(const char* client) {
  if (loop::Active()) LeaveCuptiTo(Text(client));
}

LOOPSCOPE_EXPORT void loopscope_script_set_switch(int (*notify)(const char* key, int on)) {
  live::SetInterpreter(notify);
}

LOOPSCOPE_EXPORT void loopscope_script_fact(const char* key, const char* value) {
  if (loop::Active()) capture::WriteFact(Text(key), Text(value));
}

LOOPSCOPE_EXPORT void loopscope_script_applied(const char* key, const char* where, const char* old_value,
                                               const char* now, std::uint32_t flags) {
  if (loop::Active()) capture::WriteApplied(Text(key), Text(where), Text(old_value), Text(now), flags);
}

}  // extern "C"
