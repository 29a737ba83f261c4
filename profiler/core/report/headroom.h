// How far a step is from what its arithmetic and memory traffic take on this machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/core/timeline/timeline.h"
#include "profiler/core/trace/place.h"

namespace loopscope {

// What this machine reaches, in 10^9 FLOPs or bytes per second: "product.f32.1024" of square matrices with that side,
// "copy.67108864" of so many bytes, read and written.
struct Peak {
  std::string what;
  double giga_per_s = 0;
};

// One operator of one line: its forward and its backward calls together.
struct HeadroomLine {
  std::optional<Where> where;
  std::string what;                // "aten::convolution"
  double ms = 0;                   // per step
  std::optional<double> floor_ms;  // likewise; empty: no formula is known for it
  double above_ms() const { return ms - floor_ms.value_or(0); }
};

struct Headroom {
  double step_ms = 0;
  // The sum over operators of the longer of FLOPs / peak and bytes / bandwidth, at the operator's size, each tensor
  // read and written once; never more than an operator took.
  double floor_ms = 0;
  double operators_ms = 0;  // what those operators took
  double unknown_ms = 0;    // operators without a formula
  // Model FLOPs utilisation: FLOPs of products, convolutions and attention, a multiplication and an addition counted
  // one each, recomputation included, of what the step's time holds at the largest peak of their types.
  double mfu_pct = 0;
  std::vector<Peak> peaks;
  std::vector<HeadroomLine> lines;  // by what is above the floor, or unknown, most first
  // Other programs used the processors meanwhile: what is above the floor may be their doing.
  bool shared = false;

  double times_floor() const { return floor_ms > 0 ? step_ms / floor_ms : 0; }
  double unknown_pct() const { return step_ms > 0 ? 100 * unknown_ms / step_ms : 0; }
};

// By the steps of the detail window. nullopt where shapes or peaks are not known: on a device, of other formats, of
// programs that end by themselves.
std::optional<Headroom> HeadroomOf(const Timeline& timeline);

}  // namespace loopscope
