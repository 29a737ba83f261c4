#include "probes/torch/ops.h"

#include <ATen/SequenceNumber.h>
#include <dlfcn.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "probes/torch/inputs.h"
#include "probes/torch/measurements.h"
#include "probes/torch/op_names.h"
#include "probes/torch/open_ops.h"

namespace loopscope {
namespace {

using wire::kNoSequence;

constexpr std::uint32_t kProfilerInterval = 32;  // outermost ops between checks whether a profiler is on

[[gnu::cold]] std::uint16_t ProfilerFlags() {
  using torch::profiler::impl::ActiveProfilerType;
  const ActiveProfilerType type = torch::profiler::impl::profilerType();
  if (type == ActiveProfilerType::NONE) return 0;
  return type == ActiveProfilerType::NVTX ? wire::kOpEmitNvtx : wire::kOpProfiler;
}

// During compilation operators run on fake tensors, under a dispatch mode, in a state set by the compiler, not the
// program. The mode's own code runs without the mode, but inside such an operator.
bool IsTraced(const OpenOps& open) {
  return (open.depth > 0 && open.ops[open.depth - 1].Is(OpenOp::kTraced)) ||
         open.dispatch_keys.included().has(c10::DispatchKey::Python);
}

// What is switched on or off rarely, and hardly ever inside an op: asked at outermost ones.
[[gnu::always_inline]] inline std::uint16_t OuterFlags(OpenOps& open) {
  std::uint16_t flags = open.outer_flags & ~wire::kOpAnomaly;
  if (open.outermost_ops++ % kProfilerInterval == 0) [[unlikely]]
    flags = ProfilerFlags();
  return flags | (torch::autograd::AnomalyMode::is_enabled() ? wire::kOpAnomaly : 0);
}

[[gnu::always_inline]] inline std::uint16_t StateFlags(OpenOps& open, bool outermost, bool traced) {
  if (traced) [[unlikely]]
    return outermost ? wire::kOpOutermost : 0;
  constexpr c10::DispatchKeySet kAutocast({c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA});
  std::uint16_t flags = 0;
  if (open.autograd.get_grad_mode()) flags |= wire::kOpGradMode;
  if (open.autograd.get_inference_mode()) flags |= wire::kOpInference;
  // Autocast is on for a device while its dispatch key is not excluded.
  if (!open.dispatch_keys.excluded().has_all(kAutocast)) flags |= wire::kOpAutocast;
  if (!outermost) return flags | open.outer_flags;
  open.outer_flags = OuterFlags(open);
  return flags | open.outer_flags | wire::kOpOutermost;
}

// Inputs, stack and producers: in the detail window, and always for reads by the host. `function` is null where it
// holds no inputs.
[[gnu::cold]] void TakeDetail(const at::RecordFunction* function, OpenOps& open, OpenOp& op, bool detail,
                              bool outermost) {
  const bool in_backward = api->in_backward();
  const bool reads = op.Is(OpenOp::kReadsHost);
  const bool inside_read = reads && open.depth > 1 && open.ops[open.depth - 2].Is(OpenOp::kReadsHost);
  const bool blamed_read = reads && !inside_read && !in_backward;
  if (!detail && !blamed_read) return;
  op.bits |= OpenOp::kWithDetail;
  op.stack = 0;
  op.inputs = function != nullptr ? InputsText(*function) : 0;
  Producers& producers = open.producers[open.depth - 1];
  producers = {kNoSequence, 0, {}};
  if (function != nullptr) TakeProducers(*function, producers);
  if (detail && function != nullptr) {
    NoteWork(*function, in_backward);
    NoteProductType(*function);
  }
  if ((outermost || blamed_read) && !in_backward) op.stack = api->call_stack();
}

static_assert(offsetof(wire::OpRecord, name) == 4 && offsetof(wire::OpRecord, start_ns) == 8 &&
              offsetof(wire::OpRecord, duration) == 16 && offsetof(wire::OpRecord, sequence) == 20 &&
              offsetof(wire::OpRecord, shape_hash) == 24 && offsetof(wire::OpRecord, forward_thread) == 28 &&
              offsetof(wire::OpRecord, flags) == 30 && std::endian::native == std::endian::little);
constexpr int kFlagsShift = 48;  // in the last word

// The head and the name.
std::uint64_t FirstWord(at::RecordScope scope, std::uint32_t name) {
  const wire::RecordHead head{wire::RecordKind::kOp, static_cast<std::uint8_t>(scope), sizeof(wire::OpRecord) / 8};
  return std::bit_cast<std::uint32_t>(head) | std::uint64_t{name} << 32;
}

struct Beginning {
  at::RecordScope scope;
  std::int64_t sequence;
  std::uint16_t forward_thread;
  bool asked;  // the function holds what LibTorch keeps of an op for its listeners: a name, inputs
};

// Steps with other work may all lie outside of the detail window, so lines are recorded occasionally there, too. With
// an interpreter, calls are followed instead.
constexpr std::uint64_t kBetweenStacksNs = 1'000'000;

bool HasInterpreter() {
  static const bool has = dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr;
  return has;
}

[[gnu::cold]] void TakeStack(OpenOps& open, OpenOp& op) {
  open.stack_due_ns = HasInterpreter() ? UINT64_MAX : op.words[1] + kBetweenStacksNs;
  if (HasInterpreter() || api->in_backward()) return;
  op.bits |= OpenOp::kWithDetail;
  op.inputs = 0;
  op.stack = api->call_stack();
  open.producers[open.depth - 1] = {wire::kNoSequence, 0, {}};
  op.words[1] = open.thread.clock.NowNs();
}

std::uint64_t BitsOf(const at::RecordFunction& function, const Beginning& given, const Known& name) {
  std::uint64_t bits = 0;
  if (given.sequence >= 0 && given.scope == at::RecordScope::FUNCTION) bits |= OpenOp::kNextNode;
  if ((name.traits & kHostRead) != 0) bits |= OpenOp::kReadsHost;
  if (!given.asked) return bits;
  if ((name.traits & kMayBeAsync) != 0) bits |= OpenOp::kPerhapsAsync;
  if (given.scope != at::RecordScope::USER_SCOPE) return bits;
  bits |= OpenOp::kUserScope;
  return (name.traits & kMayBeAsync) != 0 && function.isAsync() ? bits | OpenOp::kAsync : bits;
}

[[gnu::always_inline]] inline void Begin(const at::RecordFunction& function, const Beginning& given, const Known& name,
                                         OpenOps& open, bool detail) {
  OpenOp& op = open.ops[open.depth];
  const bool is_op = given.scope != at::RecordScope::USER_SCOPE;
  const bool outermost = is_op && open.op_depth == 0;
  const bool traced = IsTraced(open);
  const std::uint64_t flags = StateFlags(open, outermost, traced);
  const std::uint32_t sequence = given.sequence < 0 ? kNoSequence : static_cast<std::uint32_t>(given.sequence);
  const std::uint32_t shapes = given.asked && (name.traits & kHashShapes) != 0 ? ShapeHash(function) : 0;
  op.function = &function;
  op.bits = BitsOf(function, given, name) | (traced ? std::uint64_t{OpenOp::kTraced} : 0);
  op.node = nullptr;
  op.words[0] = FirstWord(given.scope, name.id);
  op.words[2] = std::uint64_t{sequence} << 32;
  op.words[3] = shapes | std::uint64_t{given.forward_thread} << 32 | flags << kFlagsShift;
  ++open.depth;
  open.op_depth += is_op ? 1 : 0;
  const bool takes_detail = detail || op.Is(OpenOp::kReadsHost);
  if (takes_detail) [[unlikely]]
    TakeDetail(given.asked ? &function : nullptr, open, op, detail, outermost);
  op.words[1] = open.thread.clock.NowNs();
  const bool stack_due = outermost && op.words[1] >= open.stack_due_ns && !op.Is(OpenOp::kWithDetail);
  if (stack_due) [[unlikely]]
    TakeStack(open, op);
  if (detail && given.asked) [[unlikely]]
    NoteUse(function, op.words[1]);
}

// Ops that ended on other threads may have filled it.
[[gnu::always_inline]] inline void MakeRoom(OpenOps& open) {
  if (open.depth == open.ops.size()) [[unlikely]]
    open.depth = open.op_depth = 0;
}

// Null if nothing is recorded.
OpenOps* Recording() {
  OpenOps* open = MyOpenOps();
  if (open == nullptr || (open->gate.load(std::memory_order_relaxed) & kGateOps) == 0) return nullptr;
  MakeRoom(*open);
  return open;
}

bool InDetail(const OpenOps& open) {
  return (open.gate.load(std::memory_order_relaxed) & kGateDetail) != 0;
}

[[gnu::cold]] void AppendDetailed(const OpenOp& op, const OpWords& words, const Producers& producers) {
  struct {
    OpWords op;
    wire::OpDetailRecord detail;
    std::array<std::uint32_t, wire::kMaxFurtherProducers> further;
  } record;
  static_assert(sizeof record == sizeof(OpWords) + sizeof(wire::OpDetailRecord) + sizeof producers.further);
  const std::size_t further_bytes = (producers.further_count + 1) / 2 * 8;
  const auto detail_words = static_cast<std::uint16_t>((sizeof(wire::OpDetailRecord) + further_bytes) / 8);
  record.op = words;
  record.detail = {{wire::RecordKind::kOpDetail, 0, detail_words}, op.inputs, op.stack, producers.first};
  std::ranges::copy_n(producers.further.begin(), producers.further_count, record.further.begin());
  if (producers.further_count % 2 != 0) record.further[producers.further_count] = kNoSequence;
  api->append(&record, sizeof record.op + sizeof record.detail + further_bytes);
}

// Whether the op recorded a graph node: the next node's number has moved on since it began, or an op inside it recorded
// one.
bool MadeNode(const OpenOp& op) {
  if (!op.Is(OpenOp::kNextNode | OpenOp::kMadeNode)) return false;
  return op.Is(OpenOp::kMadeNode) || static_cast<std::uint32_t>(at::sequence_number::peek()) != op.words[2] >> 32;
}

// The record of an op that has ended.
[[gnu::always_inline]] inline OpWords Ended(OpenOps& open, OpenOp& op, std::uint64_t end_ns, std::uint64_t flags) {
  std::uint64_t duration = end_ns - op.words[1];
  if (duration > 0xffffffffu) [[unlikely]] {
    duration = duration >> 10 & 0xffffffffu;
    flags |= wire::kOpLongDuration;
  }
  if (MadeNode(op)) {
    flags |= op.Is(OpenOp::kTraced) ? 0 : wire::kOpGraph;
    if (&op != &open.ops.front()) (&op - 1)->bits |= OpenOp::kMadeNode;
  }
  return {op.words[0], op.words[1], op.words[2] | duration, op.words[3] | flags << kFlagsShift};
}

[[gnu::cold]] void AppendSlowly(OpWords words) {
  api->append(&words, sizeof words);
}

[[gnu::always_inline]] inline void Append(OpenOps& open, const OpWords& words) {
  if (!capture::AppendAtOnce(open.thread.span, open.file_generation, words)) [[unlikely]]
    AppendSlowly(words);
}

[[gnu::cold]] void WriteUserScope(const at::RecordFunction& function, const OpenOp& op, std::uint64_t end_ns) {
  const auto name = static_cast<std::uint32_t>(op.words[0] >> 32);
  api->user_range(name, std::string_view(function.name()) == "step", op.words[1], end_ns);
}

// What few ops are.
constexpr std::uint64_t kRare = OpenOp::kUserScope | OpenOp::kWithDetail | OpenOp::kPerhapsAsync;

[[gnu::cold]] void WriteRare(const at::RecordFunction& function, OpenOps& open, OpenOp& op, std::uint64_t end_ns) {
  if (op.Is(OpenOp::kUserScope)) return WriteUserScope(function, op, end_ns);
  const bool is_async = op.Is(OpenOp::kPerhapsAsync) && function.isAsync();
  const OpWords words = Ended(open, op, end_ns, is_async ? std::uint64_t{wire::kOpAsync} : 0);
  if (!op.Is(OpenOp::kWithDetail)) return Append(open, words);
  AppendDetailed(op, words, open.producers[static_cast<std::size_t>(&op - open.ops.data())]);
}

[[gnu::cold]] void SetAside(const OpenOp& op, OpenOps& open) {
  const auto name = static_cast<std::uint32_t>(op.words[0] >> 32);
  open.exchanges[open.exchanges_begun++ % open.exchanges.size()] = {
      op.function, FirstWord(at::RecordScope::FUNCTION, name), op.words[1]};
}

[[gnu::cold]] void EndExchange(const at::RecordFunction& function, OpenOps& open) {
  for (std::uint32_t back = 1; back <= std::min<std::size_t>(open.exchanges_begun, open.exchanges.size()); ++back) {
    Exchange& one = open.exchanges[(open.exchanges_begun - back) % open.exchanges.size()];
    if (one.function != &function) continue;
    one.function = nullptr;
    const std::uint64_t duration = open.thread.clock.NowNs() - one.start_ns;
    const bool is_long = duration > 0xffffffffu;
    const std::uint64_t flags = wire::kOpAsync | (is_long ? std::uint64_t{wire::kOpLongDuration} : 0);
    const OpWords words{one.first_word, one.start_ns,
                        std::uint64_t{kNoSequence} << 32 | ((is_long ? duration >> 10 : duration) & 0xffffffffu),
                        flags << kFlagsShift};
    api->append(&words, sizeof words);
    return;
  }
}

// One that is not the innermost.
[[gnu::cold]] void EndOuter(const at::RecordFunction& function, OpenOps& open) {
  std::uint32_t at = open.depth;
  while (at > 0 && open.ops[at - 1].function != &function) --at;
  if (at == 0) {  // began while nothing was recorded, or on another thread, or in an op that has ended
    if (open.exchanges_begun > 0) EndExchange(function, open);
    return;
  }
  WriteRare(function, open, open.ops[at - 1], open.thread.clock.NowNs());
  // Deeper ones that never ended here end on other threads, or later.
  for (std::uint32_t n = at - 1; n < open.depth; ++n) {
    open.op_depth -= open.ops[n].Is(OpenOp::kUserScope) ? 0 : 1;
    if (n >= at && open.ops[n].Is(OpenOp::kAsync)) SetAside(open.ops[n], open);
  }
  open.depth = at - 1;
}

[[gnu::always_inline]] inline void End(const at::RecordFunction& function, OpenOps& open) {
  const std::uint32_t inside = open.depth - 1;
  if (open.depth == 0 || open.ops[inside].function != &function) [[unlikely]]
    return EndOuter(function, open);
  OpenOp& op = open.ops[inside];
  const std::uint64_t end_ns = open.thread.clock.NowNs();
  if (op.Is(kRare)) [[unlikely]] {
    WriteRare(function, open, op, end_ns);
  } else {
    Append(open, Ended(open, op, end_ns, 0));
  }
  open.op_depth -= op.Is(OpenOp::kUserScope) ? 0 : 1;
  open.depth = inside;
}

}  // namespace

std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction& function) {
  OpenOps* open = Recording();
  if (open == nullptr) return nullptr;
  const Beginning given{function.scope(), function.seqNr(), static_cast<std::uint16_t>(function.forwardThreadId()),
                        true};
  const void* node = given.scope == at::RecordScope::FUNCTION ? NodeThatBegins(*open) : nullptr;
  Begin(function, given, NameOf(*open, function), *open, InDetail(*open));
  open->ops[open->depth - 1].node = node;
  return nullptr;
}

void OnEnd(const at::RecordFunction& function, at::ObserverContext*) {
  if (OpenOps* open = mine; open != nullptr) [[likely]]
    End(function, *open);
}

void BeginDirectly(const at::RecordFunction& function, const c10::FunctionSchema& schema, c10::DispatchKeySet keys) {
  OpenOps* open = MyOpenOps();
  if (open == nullptr) [[unlikely]]
    return;
  MakeRoom(*open);
  // As LibTorch numbers ops that may record a graph node.
  const bool numbered = keys.has_any(c10::autograd_dispatch_keyset) && open->autograd.get_grad_mode();
  const std::int64_t sequence = numbered ? static_cast<std::int64_t>(at::sequence_number::peek()) : -1;
  Begin(function, {at::RecordScope::FUNCTION, sequence, 0, false}, NameOf(*open, schema), *open, InDetail(*open));
}

void BeginNode(const at::RecordFunction& function, const Known& name, const void* node) {
  OpenOps* open = Recording();
  if (open == nullptr) return;
  Begin(function, {at::RecordScope::FUNCTION, -1, 0, false}, name, *open, false);
  open->ops[open->depth - 1].node = node;
}

}  // namespace loopscope
