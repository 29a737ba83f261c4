// An open stretch of one line's time: its own code's time, and its calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "probes/wire.h"

namespace loopscope {

struct OpenLine {
  explicit OpenLine(std::uint64_t at_ns = 0) : begin_ns(at_ns), call_ns(at_ns) {}

  // Among many different calls the longest are kept.
  void AddCall(std::uint32_t name, std::uint64_t ns) noexcept {
    Call* least = &called_[0];
    for (Call& one : called_) {
      if (one.name == name) {
        one.ns += ns;
        return;
      }
      if (one.ns < least->ns) least = &one;
    }
    *least = {name, ns};
  }
  // Adds another stretch of the same line.
  void Add(const OpenLine& other) noexcept {
    own_ns += other.own_ns;
    calls += other.calls;
    for (const Call& one : other.called_) {
      if (one.ns > 0) AddCall(one.name, one.ns);
    }
  }
  std::uint32_t longest_call() const noexcept { return std::ranges::max_element(called_, {}, &Call::ns)->name; }

  // wire::RangeRecord::value of kLine.
  std::uint64_t Value(std::uint64_t length_ns) const noexcept {
    const std::uint64_t own = std::min(own_ns * wire::kLineOwnWhole / length_ns, wire::kLineOwnWhole);
    return own << wire::kLineOwnShift | std::min(calls, wire::kMaxLineCalls);
  }

  std::uint64_t begin_ns, own_ns = 0, calls = 0;
  std::uint64_t call_ns;  // when the call that runs now began

 private:
  struct Call {
    std::uint32_t name = 0;
    std::uint64_t ns = 0;
  };
  std::array<Call, 6> called_{};
};

}  // namespace loopscope
