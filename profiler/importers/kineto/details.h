// Gives ops their inputs and the place they were called from, based on what encloses them on their thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/kineto/shard.h"
#include "profiler/importers/kineto/stacks.h"

namespace loopscope {

// The inputs and stacks of a trace's ops, from all shards.
struct KinetoRawDetails {
  struct Inputs {  // text of an op's inputs, also in the form for tensors on a device
    StringId text = 0, on_device = 0;
    std::uint32_t shape_hash = 0;
  };
  struct Detail {
    std::uint32_t inputs = kNone, stack = kNone;  // index into inputs, Trace::stacks
  };
  std::vector<Inputs> inputs;
  std::vector<Detail> details;
};

class KinetoDetails {
 public:
  KinetoDetails(const KinetoRawDetails& raw, Trace& trace, KinetoStacks& stacks)
      : raw_(raw), trace_(trace), stacks_(stacks) {}

  // Takes the thread with the given index in Trace::threads, whose events are complete and in order.
  void Add(std::uint32_t thread, std::vector<Event>& events, const std::vector<PythonCall>& python);

 private:
  void Enter(const PythonCall& call);
  void MarkDeviceUse(const std::vector<Event>& events);
  std::uint32_t ShapeHash(std::uint32_t raw) const;
  std::uint32_t Detail(std::uint32_t raw, std::uint32_t stack, bool on_device);

  struct Frame {
    std::int64_t end_ns;
    std::uint32_t stack;   // its line is not known
    std::uint32_t caller;  // the stack that called it; the same as `stack` where the function is not the user's
    StringId name;
  };
  std::uint32_t CalledBy(const PythonCall& call);
  const KinetoRawDetails& raw_;
  Trace& trace_;
  KinetoStacks& stacks_;
  std::vector<Frame> frames_;                               // Python calls that are open
  std::vector<std::uint32_t> open_;                         // ops that are open
  std::vector<std::uint32_t> called_;                       // by event: its stack
  std::vector<bool> on_device_;                             // by event: it put work on a device
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // inputs and stack → index into Trace::details
};

// The inputs of an op, from Kineto's lists of sizes, types and values to the text of wire::OpDetailRecord.

// `dims`, `types` and `concrete` are raw JSON: [[32, 3], []], ["float", "Scalar"], ["", "0.5"]. `device` is appended to
// each tensor ("cuda:0"; "" for the CPU). "" when nothing is known.
std::string InputsText(std::string_view dims, std::string_view types, std::string_view concrete,
                       std::string_view device);

}  // namespace loopscope
