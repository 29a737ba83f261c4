// The operators that the program itself calls, with what their backward pass takes and which calls made their inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/timeline/timeline.h"

namespace loopscope {

using Sizes = std::span<const std::int64_t>;

struct Call {
  EventRef ref;
  std::string_view name;           // "aten::softmax"
  std::string text;                // of its inputs, as in wire::OpDetailRecord, without the numbers of leaves
  std::vector<TensorText> inputs;  // parsed
  double ms = 0;                   // per step: itself and the nodes of its backward pass
  int step = -1;                   // index into Timeline::steps()
  int pass = 0;                    // backward passes that had begun in the detail window
  bool in_optimizer = false, in_backward = false;
  std::uint32_t alike = 0;  // index into StepCalls::alike()
  // Calls whose results that ask for a gradient it reads, and those that read its own. Indices into all().
  std::vector<std::uint32_t> from, to;

  // Sizes of the tensor input `i`, and the number that input `i` is; empty where it is something else.
  std::span<const std::int64_t> sizes(std::size_t i) const;
  std::optional<double> number(std::size_t i) const;
};

// Of the detail window, in order of time on the training thread. A call in the backward pass is one that no node makes:
// the engine's own sums of gradients.
class StepCalls {
 public:
  explicit StepCalls(const Timeline& timeline);
  std::span<const Call> all() const { return calls_; }
  const Call& operator[](std::uint32_t i) const { return calls_[i]; }
  const Timeline& timeline() const { return timeline_; }
  const Where* where(std::uint32_t i) const { return timeline_.where(calls_[i].ref); }
  // Calls of the same operator in the same step from the same place, with no backward pass between, in order.
  std::span<const std::vector<std::uint32_t>> alike() const { return alike_; }

 private:
  void AddCalls();
  void AddBackwardTimes();
  void AddEdges();
  void AddAlike();
  std::uint32_t CallOf(EventRef ref) const;

  const Timeline& timeline_;
  std::vector<Call> calls_;
  std::vector<std::vector<std::uint32_t>> alike_;
};

using Calls = std::vector<std::uint32_t>;

// Whether `name` is one of `names`, which blanks separate.
bool IsOneOf(std::string_view name, std::string_view names);

// The calls on a way from `at` (not among them) to the nearest call that is one of `goals`, through calls that are one
// of `passes`; the goal comes last. Empty where there is none. Up: to what made the inputs; Down: to what reads the
// result.
Calls Up(const StepCalls& calls, std::uint32_t at, std::string_view passes, std::string_view goals);
Calls Down(const StepCalls& calls, std::uint32_t at, std::string_view passes, std::string_view goals);

// Everything that `at` was made by, through calls that are one of `names`, `at` not among them.
Calls MadeBy(const StepCalls& calls, std::uint32_t at, std::string_view names);

// The call that reads the result of `at` in its own shape, or that made its first input in that shape, of these names.
std::optional<std::uint32_t> Next(const StepCalls& calls, std::uint32_t at, std::string_view names);
std::optional<std::uint32_t> Previous(const StepCalls& calls, std::uint32_t at, std::string_view names);

// The nearest of these names among the `most` calls before `at`, in its step. For tensors that ask for no gradient:
// which call made them is not recorded.
std::optional<std::uint32_t> Before(const StepCalls& calls, std::uint32_t at, std::string_view names,
                                    std::uint32_t most);

// Whether input `i` is a number, or a tensor that holds one.
bool IsNumber(const Call& call, std::size_t i);

// The dimension that `dim`, counted from the end where it is negative, is of `dims`; nullopt where it is none.
std::optional<std::size_t> DimOf(std::int64_t dim, std::size_t dims);

// The whole numbers of an input such as "[2, 3]" or "2"; empty for a tensor, or where there are none.
std::vector<std::int64_t> NumbersOf(const Call& call, std::size_t i);

// Calls that are alike; with the same inputs if `same_inputs`. Empty if
// `at` is not the first of them.
Calls Repeated(const StepCalls& calls, std::uint32_t at, bool same_inputs);

double Elements(std::span<const std::int64_t> sizes);
// "a,b": the same dimensions of the same sizes.
bool SameSizes(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace loopscope
