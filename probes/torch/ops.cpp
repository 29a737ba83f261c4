#include "probes/torch/ops.h"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <c10/core/AutogradState.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <pthread.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string_view>

#include "probes/torch/api.h"
#include "probes/torch/inputs.h"
#include "probes/torch/traits.h"
#include "probes/wire.h"

namespace loopscope {
namespace {

using wire::kNoSequence;

constexpr std::uint32_t kProfilerInterval = 32;  // outermost ops between questions whether a profiler is on
// Of so many steps one has shapes: handing inputs over costs every op more than all else that is recorded of it.
constexpr std::uint32_t kShapesInterval = 32;

// An op that has begun: its record as far as it is known.
struct OpenOp {
  wire::OpRecord record;
  const at::RecordFunction* function;
  std::uint32_t inputs, stack;
  bool is_op, has_detail, host_read, may_be_async;
  bool tells_next_node;  // record.sequence is the number of the next graph node of the thread
  bool made_node;        // an op inside recorded a graph node
};

struct KnownName {
  const char* address = nullptr;
  std::uint32_t id = 0;
  std::uint8_t traits = 0;
  bool permanent = false;  // the text of a registered operator: never another one at this address
  char text[50] = "";
};

// One per thread that runs ops.
struct OpenOps {
  capture::ThreadClock& clock = *api->thread_clock();
  capture::Window& window = *api->thread_window();
  // LibTorch's own state of this thread.
  const c10::AutogradState& autograd = c10::AutogradState::get_tls_state();
  const c10::impl::PODLocalDispatchKeySet& dispatch_keys = c10::impl::raw_local_dispatch_key_set;
  std::array<OpenOp, 192> ops;
  std::array<Producers, 192> producers;  // of those with details
  std::uint32_t depth = 0;
  std::uint32_t op_depth = 0;  // without user scopes
  std::uint16_t profiler_flags = 0;
  std::uint32_t outermost_ops = 0;
  std::array<KnownName, 256> names;  // by address
  KnownName unkept;                  // what `names` cannot hold
};

// Whether any op was seen whose shapes are hashed.
std::atomic<bool> shapes_seen{false};

// Read twice for every op: with this model that takes no call. A pointer finds room even in a library that is loaded
// late.
constinit thread_local OpenOps* mine __attribute__((tls_model("initial-exec"))) = nullptr;

[[gnu::cold]] OpenOps* MakeOpenOps() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    pthread_key_create(&made, [](void* ops) {
      mine = nullptr;
      delete static_cast<OpenOps*>(ops);
    });
    return made;
  }();
  auto* made = new (std::nothrow) OpenOps;
  if (made == nullptr) return nullptr;
  pthread_setspecific(key, made);
  mine = made;
  return made;
}

[[gnu::cold]] const KnownName& NewName(OpenOps& open, const at::RecordFunction& function, KnownName& slot) {
  const std::string_view name = function.name();
  KnownName found{name.data(), api->string_id(name.data(), name.size()), TraitsOf(name),
                  function.operator_name().has_value(), ""};
  if (found.traits & kHashShapes) shapes_seen.store(true, std::memory_order_relaxed);
  const bool fits = found.id != 0 && name.size() < sizeof found.text;
  if (fits) std::memcpy(found.text, name.data(), name.size() + 1);
  KnownName& kept = fits ? slot : open.unkept;
  kept = found;
  return kept;
}

const KnownName& NameOf(OpenOps& open, const at::RecordFunction& function) {
  const char* address = function.name();
  KnownName& slot = open.names[(reinterpret_cast<std::uintptr_t>(address) >> 4) % open.names.size()];
  if (slot.address == address && (slot.permanent || std::strcmp(slot.text, address) == 0)) return slot;
  return NewName(open, function, slot);
}

[[gnu::noinline]] std::uint16_t ProfilerFlags() {
  using torch::profiler::impl::ActiveProfilerType;
  const ActiveProfilerType type = torch::profiler::impl::profilerType();
  if (type == ActiveProfilerType::NONE) return 0;
  return type == ActiveProfilerType::NVTX ? wire::kOpEmitNvtx : wire::kOpProfiler;
}

std::uint16_t StateFlags(OpenOps& open, bool outermost) {
  constexpr c10::DispatchKeySet kAutocast({c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA});
  std::uint16_t flags = 0;
  if (open.autograd.get_grad_mode()) flags |= wire::kOpGradMode;
  if (open.autograd.get_inference_mode()) flags |= wire::kOpInference;
  if (torch::autograd::AnomalyMode::is_enabled()) flags |= wire::kOpAnomaly;
  // Autocast is on for a device while its dispatch key is not excluded.
  if (!open.dispatch_keys.excluded().has_all(kAutocast)) flags |= wire::kOpAutocast;
  if (!outermost) return flags | open.profiler_flags;
  // A profiler is switched on or off rarely, and never inside an op.
  if (open.outermost_ops++ % kProfilerInterval == 0) open.profiler_flags = ProfilerFlags();
  return flags | open.profiler_flags | wire::kOpOutermost;
}

// Inputs, stack and producers: in the detail window, and for reads by the host always.
[[gnu::cold]] void TakeDetail(const at::RecordFunction& function, OpenOps& open, OpenOp& op, bool detail,
                              bool outermost) {
  const bool in_backward = api->in_backward();
  const bool inside_read = op.host_read && open.depth > 1 && open.ops[open.depth - 2].host_read;
  const bool blamed_read = op.host_read && !inside_read && !in_backward;
  if (!detail && !blamed_read) return;
  op.has_detail = true;
  op.stack = 0;
  op.inputs = InputsText(function);
  TakeProducers(function, open.producers[open.depth - 1]);
  if ((outermost || blamed_read) && !in_backward) op.stack = api->call_stack();
}

void Begin(const at::RecordFunction& function, OpenOps& open, bool detail) {
  OpenOp& op = open.ops[open.depth];
  const KnownName& name = NameOf(open, function);
  op.function = &function;
  op.is_op = function.scope() != at::RecordScope::USER_SCOPE;
  op.host_read = (name.traits & kHostRead) != 0;
  op.may_be_async = (name.traits & kMayBeAsync) != 0;
  op.has_detail = false;
  const bool outermost = op.is_op && open.op_depth == 0;
  const std::uint16_t flags = StateFlags(open, outermost);
  const std::int64_t sequence = function.seqNr();
  op.record.head = {wire::RecordKind::kOp, static_cast<std::uint8_t>(function.scope()), sizeof op.record / 8};
  op.record.name = name.id;
  op.record.sequence = sequence < 0 ? kNoSequence : static_cast<std::uint32_t>(sequence);
  op.record.shape_hash = (name.traits & kHashShapes) != 0 ? ShapeHash(function) : 0;
  op.record.forward_thread = static_cast<std::uint16_t>(function.forwardThreadId());
  op.record.flags = flags;
  ++open.depth;
  if (op.is_op) ++open.op_depth;
  if (detail || op.host_read) TakeDetail(function, open, op, detail, outermost);
  op.made_node = false;
  op.tells_next_node = sequence >= 0 && function.scope() == at::RecordScope::FUNCTION;
  op.record.start_ns = open.clock.NowNs();
}

std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction& function) {
  const std::uint32_t gate = api->gate->load(std::memory_order_relaxed);
  if ((gate & kGateOps) == 0) return nullptr;
  OpenOps* open = mine;
  if (open == nullptr) open = MakeOpenOps();
  if (open == nullptr) return nullptr;
  if (open->depth == open->ops.size()) open->depth = open->op_depth = 0;  // ops that ended on other threads filled it
  Begin(function, *open, (gate & kGateDetail) != 0);
  return nullptr;
}

// An op's record as four words, which is how it reaches the capture without a detour through narrow stores.
using OpWords = std::array<std::uint64_t, sizeof(wire::OpRecord) / 8>;
static_assert(offsetof(wire::OpRecord, name) == 4 && offsetof(wire::OpRecord, start_ns) == 8 &&
              offsetof(wire::OpRecord, duration) == 16 && offsetof(wire::OpRecord, sequence) == 20 &&
              offsetof(wire::OpRecord, shape_hash) == 24 && offsetof(wire::OpRecord, forward_thread) == 28 &&
              offsetof(wire::OpRecord, flags) == 30 && std::endian::native == std::endian::little);

OpWords WordsOf(const OpenOp& op, std::uint32_t duration, std::uint16_t flags) {
  const wire::OpRecord& record = op.record;
  return {std::bit_cast<std::uint32_t>(record.head) | std::uint64_t{record.name} << 32, record.start_ns,
          duration | std::uint64_t{record.sequence} << 32,
          record.shape_hash | std::uint64_t{record.forward_thread} << 32 | std::uint64_t{flags} << 48};
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
  std::copy_n(producers.further.begin(), producers.further_count, record.further.begin());
  if (producers.further_count % 2 != 0) record.further[producers.further_count] = kNoSequence;
  api->append(&record, sizeof record.op + sizeof record.detail + further_bytes);
}

// Whether the op recorded a graph node: it told the next one's number when it began, or an op inside it did.
bool MadeNode(const OpenOp& op) {
  if (op.made_node || !op.tells_next_node) return op.made_node;
  return static_cast<std::uint32_t>(at::sequence_number::peek()) != op.record.sequence;
}

void Write(const at::RecordFunction& function, OpenOps& open, OpenOp& op, std::uint64_t end_ns) {
  const wire::OpRecord& record = op.record;
  if (!op.is_op) {
    return api->user_range(record.name, std::string_view(function.name()) == "step", record.start_ns, end_ns);
  }
  const std::uint64_t duration_ns = end_ns - record.start_ns;
  const bool is_long = duration_ns > 0xffffffffu;
  std::uint16_t flags = record.flags;
  if (is_long) flags |= wire::kOpLongDuration;
  if (op.may_be_async && function.isAsync()) flags |= wire::kOpAsync;
  if (MadeNode(op)) {
    flags |= wire::kOpGraph;
    if (&op != &open.ops.front()) (&op - 1)->made_node = true;
  }
  const OpWords words = WordsOf(op, static_cast<std::uint32_t>(is_long ? duration_ns >> 10 : duration_ns), flags);
  if (op.has_detail) {
    return AppendDetailed(op, words, open.producers[static_cast<std::size_t>(&op - open.ops.data())]);
  }
  if (capture::AppendAtOnce<sizeof words>(open.window, *api->file_generation, &words)) return;
  api->append(&words, sizeof words);
}

void OnEnd(const at::RecordFunction& function, at::ObserverContext*) {
  OpenOps* open = mine;
  if (open == nullptr || open->depth == 0) return;
  const std::uint64_t end_ns = open->clock.NowNs();
  std::uint32_t at = open->depth;
  while (at > 0 && open->ops[at - 1].function != &function) --at;
  if (at == 0) return;  // began while nothing was recorded, or on another thread
  Write(function, *open, open->ops[at - 1], end_ns);
  // Deeper ones that never ended here ended on other threads.
  for (std::uint32_t n = at - 1; n < open->depth; ++n) open->op_depth -= open->ops[n].is_op ? 1 : 0;
  open->depth = at - 1;
}

// A callback that is switched on and off between ops.
class Switch {
 public:
  explicit Switch(at::CallbackHandle callback) : callback_(callback) {}
  void Set(bool on) {
    if (on_.exchange(on) == on) return;
    on ? at::reenableCallback(callback_) : at::disableCallback(callback_);
  }

 private:
  at::CallbackHandle callback_;
  std::atomic<bool> on_{true};
};

Switch* inputs = nullptr;    // has ops bring their inputs along
Switch* backward = nullptr;  // records what autograd's nodes call

bool ShapesAreDue(bool step_ended) {
  static std::atomic<std::uint32_t> steps{0};
  if (step_ended) steps.fetch_add(1, std::memory_order_relaxed);
  const bool due = steps.load(std::memory_order_relaxed) % kShapesInterval == 0;
  return due && shapes_seen.load(std::memory_order_relaxed);
}

}  // namespace

void RecordOps() {
  using at::RecordScope;
  const auto add = [](at::RecordFunctionCallback callback, std::initializer_list<RecordScope> scopes) {
    return at::addGlobalCallback(callback.scopes(scopes));
  };
  const auto nothing = [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; };
  add(at::RecordFunctionCallback(OnStart, OnEnd), {RecordScope::FUNCTION, RecordScope::USER_SCOPE});
  at::RecordFunctionCallback nodes(OnStart, OnEnd), asking(nothing);
  backward = new Switch(add(nodes.needsInputs(true), {RecordScope::BACKWARD_FUNCTION}));
  inputs = new Switch(add(asking.needsInputs(true), {RecordScope::FUNCTION}));
}

void ChooseCallbacks(Moment moment) {
  const bool detail = (api->gate->load(std::memory_order_relaxed) & kGateDetail) != 0;
  const bool shapes = ShapesAreDue(moment == Moment::kStepEnd);
  backward->Set(detail);
  inputs->Set(detail || shapes);
}

}  // namespace loopscope
