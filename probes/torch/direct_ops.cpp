#include "probes/torch/direct_ops.h"

#include <ATen/record_function.h>

#include <cstdint>
#include <optional>

#include "probes/torch/api.h"
#include "probes/torch/engine_nodes.h"
#include "probes/torch/open_ops.h"
#include "probes/torch/ops.h"

namespace loopscope {
namespace {

using at::RecordScope;

constexpr at::StepCallbacks::StartEndPair kOurs{OnStart, OnEnd};
OpCalls real{};

// The same function under its typed or its untyped signature: both pass their arguments alike.
template <class To, class From>
To* As(From* function) {
  return reinterpret_cast<To*>(reinterpret_cast<void (*)()>(function));
}

// This thread's state, if it records functions of this scope.
OpenOps* Records(RecordScope scope) {
  if (scope != RecordScope::FUNCTION && scope != RecordScope::USER_SCOPE) return nullptr;
  if ((api->gate->load(std::memory_order_relaxed) & kGateOps) == 0) return nullptr;
  OpenOps* open = MyOpenOps();
  return open != nullptr && open->enabled ? open : nullptr;
}

at::StepCallbacks Callbacks(RecordScope scope) {
  at::StepCallbacks callbacks = As<at::StepCallbacks(RecordScope)>(real.callbacks)(scope);
  const OpenOps* open = Records(scope);
  if (open == nullptr) return callbacks;
  // Omits ours if it would be the only one: Construct does its work.
  if (open->node_begins == nullptr || !callbacks.empty()) callbacks.callbacks_.push_back(kOurs);
  return callbacks;
}

// Called by the dispatcher for every op.
std::optional<at::StepCallbacks> CallbacksUnlessEmpty(RecordScope scope) {
  using UnlessEmpty = std::optional<at::StepCallbacks>(RecordScope);
  std::optional<at::StepCallbacks> callbacks = As<UnlessEmpty>(real.callbacks_unless_empty)(scope);
  const OpenOps* open = Records(scope);
  if (open == nullptr) return callbacks;
  const bool alone = !callbacks.has_value();
  if (alone) callbacks.emplace(open->thread_id, scope);
  // Omits ours if it would be the only one: Run and End, which every op calls, do its work.
  if (!alone || scope != RecordScope::FUNCTION) callbacks->callbacks_.push_back(kOurs);
  return callbacks;
}

void Run(at::RecordFunction* function, const c10::FunctionSchema* schema, std::uint16_t key, std::uint64_t keys) {
  const c10::DispatchKeySet key_set(c10::DispatchKeySet::RAW, keys);
  if (!function->isActive() && BeginDirectly(*function, *schema, key_set)) return;
  real.run(function, schema, key, keys);
}

// For recorded functions that are not operators: mostly the engine's nodes.
void Construct(void* function, std::uint8_t scope) {
  OpenOps* open = static_cast<RecordScope>(scope) == RecordScope::FUNCTION ? Records(RecordScope::FUNCTION) : nullptr;
  const void* node = open != nullptr ? NodeThatBegins(*open) : nullptr;
  const Known* name = node != nullptr ? NameOfNode(*open) : nullptr;
  if (name == nullptr) return real.construct(function, scope);
  open->node_begins = node;
  real.construct(function, scope);
  open->node_begins = nullptr;
  const auto& made = *static_cast<const at::RecordFunction*>(function);
  if (!made.isActive()) BeginNode(made, *name, node);
}

void End(at::RecordFunction* function) {
  if (function->isActive()) return real.end(function);
  OnEnd(*function, nullptr);
}

bool asked = false, ended = false;  // by LibTorch, in the trial

void SetTrial() {
  OpCalls trial = real;
  trial.callbacks = [](std::uint8_t scope) -> Returned {
    asked = true;
    return real.callbacks(scope);
  };
  trial.end = [](void* function) {
    ended = true;
    real.end(function);
  };
  api->set_op_calls(trial);
}

}  // namespace

bool RecordOpsDirectly() {
  real = *api->real_op_calls();
  const bool complete = real.callbacks != nullptr && real.callbacks_unless_empty != nullptr && real.run != nullptr &&
                        real.end != nullptr && real.construct != nullptr;
  if (!complete) return false;
  SetTrial();
  { const at::RecordFunction trial(RecordScope::USER_SCOPE); }
  OpCalls calls = real;
  if (asked && ended) {
    calls = {As<OpCalls::Callbacks>(Callbacks), As<OpCalls::Callbacks>(CallbacksUnlessEmpty), As<OpCalls::Run>(Run),
             As<OpCalls::End>(End), Construct};
  }
  api->set_op_calls(calls);
  return asked && ended;
}

}  // namespace loopscope
