// A thread's open ops, and its caches for recording them.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <c10/core/AutogradState.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "probes/capture/thread_state.h"
#include "probes/torch/api.h"
#include "probes/torch/inputs.h"
#include "probes/wire.h"

namespace loopscope {

// An op's record as four words, so that it reaches the capture without narrow stores.
using OpWords = std::array<std::uint64_t, sizeof(wire::OpRecord) / 8>;

// An op that has begun, with its partial record.
struct alignas(64) OpenOp {
  enum Bit : std::uint64_t {
    kUserScope = 1,
    kWithDetail = 2,
    kPerhapsAsync = 4,
    kAsync = 8,  // of user scopes: it may end after what it began in, or on another thread
    kReadsHost = 16,
    kNextNode = 32,  // the record's sequence is the number of the next graph node of the thread
    kMadeNode = 64,  // an op inside recorded a graph node
    kTraced = 128,   // it runs for a dispatch mode, as while torch.compile traces, or inside of one that does
  };

  OpWords words;  // without duration and the flags that the end adds
  const at::RecordFunction* function;
  std::uint64_t bits;
  const void* node;  // the graph's, which the engine runs in this op; null: it is another op
  std::uint32_t inputs, stack;

  bool Is(std::uint64_t any) const noexcept { return (bits & any) != 0; }
};
static_assert(sizeof(OpenOp) == 64);

struct Known {
  const void* address = nullptr;  // of the operator's schema or of the name's text
  std::uint32_t id = 0;           // of the name; 0: not known
  std::uint8_t traits = 0;
  bool permanent = false;  // the text of a registered operator: the address is never reused
};

struct KnownText : Known {
  char text[50] = "";
};

// Ops that outlive their parent (gloo's send, until it is waited for).
struct Exchange {
  const at::RecordFunction* function = nullptr;
  std::uint64_t first_word = 0, start_ns = 0;
};

// One per thread that runs ops. What every op looks at comes first, in a cache line: besides this and its own, an op's
// record takes one for its name, and that of the thread's clock and place in the capture.
struct alignas(64) OpenOps {
  std::uint32_t depth = 0, outermost_ops = 0, op_depth = 0;  // op_depth: without user scopes
  std::uint16_t outer_flags = 0;  // of the outermost op: what is hardly ever switched inside of one
  capture::ThreadState& thread = *api->thread_state();
  const std::atomic<std::uint32_t>& file_generation = *api->file_generation;
  const std::atomic<std::uint32_t>& gate = *api->gate;
  // LibTorch's own state of this thread.
  const c10::AutogradState& autograd = c10::AutogradState::get_tls_state();
  const c10::impl::PODLocalDispatchKeySet& dispatch_keys = c10::impl::raw_local_dispatch_key_set;
  const bool& enabled = at::get_record_function_tls_().tls_record_function_enabled_;
  std::uint64_t stack_due_ns = 0;  // from when on an op shows its line, outside of the detail window as well
  const std::uint64_t thread_id = at::RecordFunction::currentThreadId();
  const void* node_begins = nullptr;  // while the engine's op for it is being made
  std::array<OpenOp, 192> ops;
  std::array<Known, 2048> schemas;       // by address: a step runs some hundred different operators
  std::array<KnownText, 256> texts;      // by address
  std::array<Known, 256> nodes;          // of the engine's nodes, by the address of the node's type
  Known unkept;                          // names that fit into neither
  std::array<Producers, 192> producers;  // of those with details
  std::array<Exchange, 32> exchanges{};  // a ring
  std::uint32_t exchanges_begun = 0;
};

// Read twice per op: this TLS model needs no call. A pointer fits even in a library that is loaded
// late.
extern constinit thread_local OpenOps* mine __attribute__((tls_model("initial-exec")));

// Null where there is no memory for it.
[[gnu::cold]] OpenOps* MakeOpenOps() noexcept;

inline OpenOps* MyOpenOps() noexcept {
  OpenOps* open = mine;
  return open != nullptr ? open : MakeOpenOps();
}

// A name that is not kept yet, with its id in the capture.
Known Find(const void* address, std::string_view text, bool permanent);

// The name of what RecordFunction runs, an operator or anything else.
const Known& NameOf(OpenOps& open, const at::RecordFunction& function);

// An operator seen for the first time, or again after others took its slots.
[[gnu::cold]] const Known& NewSchema(OpenOps& open, const c10::FunctionSchema& schema);

// The first of two neighbouring slots, either of which may hold the schema.
inline std::size_t PlaceOf(const OpenOps& open, const c10::FunctionSchema& schema) noexcept {
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(&schema) * 0x9e3779b97f4a7c15ull;
  return static_cast<std::size_t>(mixed >> 40) % open.schemas.size();
}

inline const Known& NameOf(OpenOps& open, const c10::FunctionSchema& schema) {
  const std::size_t place = PlaceOf(open, schema);
  if (const Known& first = open.schemas[place]; first.address == &schema) return first;
  if (const Known& second = open.schemas[place ^ 1]; second.address == &schema) return second;
  return NewSchema(open, schema);
}

// Whether any op was seen whose shapes are hashed.
bool ShapesSeen() noexcept;

}  // namespace loopscope
