#include "probes/torch/ops.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <c10/core/AutogradState.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <pthread.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <array>
#include <cstring>
#include <new>
#include <string_view>

#include "probes/torch/api.h"
#include "probes/torch/inputs.h"
#include "probes/wire.h"

namespace loopscope {
namespace {

using wire::kNoSequence;

struct OpenOp {
  const at::RecordFunction* function;
  std::uint64_t start_ns, sequence_before;
  std::uint32_t name, sequence, shape_hash, inputs, stack, producer;
  std::uint16_t forward_thread, flags;
  bool is_op, has_detail, host_read;
};

// What is recorded of an op beyond its time, by name.
enum NameTrait : std::uint8_t { kHashShapes = 1, kHostRead = 2 };

struct KnownName {
  const char* address = nullptr;
  std::uint32_t id = 0;
  std::uint8_t traits = 0;
  char text[51] = "";
};

// One per thread that runs ops.
struct OpenOps {
  std::array<OpenOp, 192> ops;
  std::uint32_t depth = 0;
  std::uint32_t op_depth = 0;  // without user scopes
  std::uint16_t profiler_flags = 0;
  std::array<KnownName, 256> names;  // by address; verified by text, since some names are temporary
};

OpenOps* MakeOpenOps() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    pthread_key_create(&made, [](void* ops) {
      *api->thread_slot() = nullptr;
      delete static_cast<OpenOps*>(ops);
    });
    return made;
  }();
  auto* made = new (std::nothrow) OpenOps;
  if (made == nullptr) return nullptr;
  pthread_setspecific(key, made);
  *api->thread_slot() = made;
  return made;
}

std::uint8_t TraitsOf(std::string_view name) {
  static constexpr std::string_view kShaped[] = {
      "aten::mm",     "aten::addmm",  "aten::bmm",   "aten::baddbmm", "aten::linear",
      "aten::matmul", "aten::addbmm", "aten::addmv", "aten::mv",      "aten::scaled_dot_product_attention"};
  static constexpr std::string_view kReads[] = {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero"};
  std::uint8_t traits = 0;
  for (const std::string_view shaped : kShaped) traits |= name == shaped ? kHashShapes : 0;
  for (const std::string_view read : kReads) traits |= name == read ? kHostRead : 0;
  if (name.starts_with("aten::") && name.find("conv") != name.npos) traits |= kHashShapes;
  return traits;
}

KnownName NameOf(OpenOps& open, const char* address) {
  KnownName& known = open.names[(reinterpret_cast<std::uintptr_t>(address) >> 4) % open.names.size()];
  if (known.address == address && std::strcmp(known.text, address) == 0) return known;
  const std::string_view name = address;
  KnownName found{address, api->string_id(name.data(), name.size()), TraitsOf(name), ""};
  if (found.id == 0 || name.size() >= sizeof found.text) return found;
  std::memcpy(found.text, name.data(), name.size() + 1);
  known = found;
  return found;
}

std::uint16_t ProfilerFlags() {
  using torch::profiler::impl::ActiveProfilerType;
  const ActiveProfilerType type = torch::profiler::impl::profilerType();
  if (type == ActiveProfilerType::NONE) return 0;
  return type == ActiveProfilerType::NVTX ? wire::kOpEmitNvtx : wire::kOpProfiler;
}

std::uint16_t StateFlags(OpenOps& open, bool outermost) {
  constexpr c10::DispatchKeySet kAutocast({c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA});
  std::uint16_t flags = 0;
  const c10::AutogradState& state = c10::AutogradState::get_tls_state();
  if (state.get_grad_mode()) flags |= wire::kOpGradMode;
  if (state.get_inference_mode()) flags |= wire::kOpInference;
  if (torch::autograd::AnomalyMode::is_enabled()) flags |= wire::kOpAnomaly;
  // Autocast is on for a device while its dispatch key is not excluded.
  if (!c10::impl::tls_local_dispatch_key_set().excluded_.has_all(kAutocast)) flags |= wire::kOpAutocast;
  // A profiler is switched between ops, not inside one.
  if (!outermost) return flags | open.profiler_flags;
  open.profiler_flags = ProfilerFlags();
  return flags | open.profiler_flags | wire::kOpOutermost;
}

// Inputs, stack and producer: in the detail window, and for reads by the host always.
void TakeDetail(const at::RecordFunction& function, const OpenOps& open, OpenOp& op, bool detail, bool outermost) {
  const bool in_backward = api->in_backward();
  const bool inside_read = op.host_read && open.depth > 1 && open.ops[open.depth - 2].host_read;
  const bool blamed_read = op.host_read && !inside_read && !in_backward;
  if (!detail && !blamed_read) return;
  op.has_detail = true;
  op.inputs = InputsText(function);
  op.producer = Producer(function);
  if ((outermost || blamed_read) && !in_backward) op.stack = api->call_stack();
}

void Begin(const at::RecordFunction& function, OpenOps& open, bool detail) {
  OpenOp& op = open.ops[open.depth];
  op.function = &function;
  const KnownName name = NameOf(open, function.name());
  op.name = name.id;
  op.is_op = function.scope() != at::RecordScope::USER_SCOPE;
  op.host_read = (name.traits & kHostRead) != 0;
  op.has_detail = false;
  const bool outermost = op.is_op && open.op_depth == 0;
  op.flags = StateFlags(open, outermost);
  op.sequence = function.seqNr() < 0 ? kNoSequence : static_cast<std::uint32_t>(function.seqNr());
  op.forward_thread = static_cast<std::uint16_t>(function.forwardThreadId());
  op.shape_hash = (name.traits & kHashShapes) != 0 ? ShapeHash(function) : 0;
  op.inputs = op.stack = 0;
  op.producer = kNoSequence;
  ++open.depth;
  if (op.is_op) ++open.op_depth;
  if (detail || op.host_read) TakeDetail(function, open, op, detail, outermost);
  op.sequence_before = at::sequence_number::peek();
  op.start_ns = api->now_ns();
}

std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction& function) {
  const std::uint32_t gate = api->gate->load(std::memory_order_relaxed);
  if ((gate & kGateOps) == 0) return nullptr;
  auto* open = static_cast<OpenOps*>(*api->thread_slot());
  if (open == nullptr) open = MakeOpenOps();
  if (open == nullptr || open->depth == open->ops.size()) return nullptr;
  Begin(function, *open, (gate & kGateDetail) != 0);
  return nullptr;
}

void Write(const at::RecordFunction& function, const OpenOp& op, std::uint64_t end_ns) {
  struct {
    wire::OpRecord op;
    wire::OpDetailRecord detail;
  } record;
  if (!op.is_op) return api->user_range(op.name, std::string_view(function.name()) == "step", op.start_ns, end_ns);
  const std::uint64_t duration_ns = end_ns - op.start_ns;
  const bool is_long = duration_ns > 0xffffffffu;
  std::uint16_t flags = op.flags;
  if (is_long) flags |= wire::kOpLongDuration;
  if (function.isAsync()) flags |= wire::kOpAsync;
  if (at::sequence_number::peek() != op.sequence_before) flags |= wire::kOpGraph;
  record.op = {{wire::RecordKind::kOp, static_cast<std::uint8_t>(function.scope()), sizeof record.op / 8},
               op.name,
               op.start_ns,
               static_cast<std::uint32_t>(is_long ? duration_ns >> 10 : duration_ns),
               op.sequence,
               op.shape_hash,
               op.forward_thread,
               flags};
  if (!op.has_detail) {
    api->append(&record.op, sizeof record.op);
    return;
  }
  record.detail = {{wire::RecordKind::kOpDetail, 0, sizeof record.detail / 8}, op.inputs, op.stack, op.producer};
  api->append(&record, sizeof record);
}

void OnEnd(const at::RecordFunction& function, at::ObserverContext*) {
  auto* open = static_cast<OpenOps*>(*api->thread_slot());
  if (open == nullptr || open->depth == 0) return;
  const std::uint64_t end_ns = api->now_ns();
  std::uint32_t at = open->depth;
  while (at > 0 && open->ops[at - 1].function != &function) --at;
  if (at == 0) return;  // began while nothing was recorded, or on another thread
  Write(function, open->ops[at - 1], end_ns);
  // Deeper ones that never ended here ended on other threads.
  for (std::uint32_t n = at - 1; n < open->depth; ++n) open->op_depth -= open->ops[n].is_op ? 1 : 0;
  open->depth = at - 1;
}

}  // namespace

void RecordOps() {
  at::addGlobalCallback(
      at::RecordFunctionCallback(OnStart, OnEnd)
          .needsInputs(true)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
}

}  // namespace loopscope
