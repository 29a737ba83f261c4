#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;      // of the step's work, in such products
constexpr std::int64_t kMultiple = 8;   // 16 bytes of 16-bit numbers
constexpr std::int64_t kSmallest = 64;  // alignment does not matter for smaller dimensions

bool Is16Bit(const TensorText& tensor) {
  return tensor.is_tensor && tensor.defined && (tensor.dtype == "f16" || tensor.dtype == "bf16");
}

// The last two sizes of the first two 16-bit matrices, "128x1000 by 1000x30522"; empty when all are multiples of 8.
std::string OddShapes(std::string_view inputs) {
  std::string text;
  bool odd = false;
  int matrices = 0;
  for (const TensorText& input : ParseInputs(inputs)) {
    if (!Is16Bit(input) || input.sizes.size() < 2 || matrices == 2) continue;
    const std::int64_t rows = input.sizes[input.sizes.size() - 2], columns = input.sizes.back();
    for (const std::int64_t size : {rows, columns}) odd |= size >= kSmallest && size % kMultiple != 0;
    text += fmt::format("{}{}x{}", matrices++ == 0 ? "" : " by ", rows, columns);
  }
  return odd && matrices == 2 ? text : "";
}

// The products of one operator. Probes record shapes in some steps only.
struct Products {
  std::uint64_t seen = 0, known = 0;  // those with shapes
  double ms = 0, known_ms = 0, odd_ms = 0;
};

struct Measured {
  CallSites sites;  // of odd products
  std::map<std::optional<Where>, std::set<std::string>> shapes;
  std::map<StringId, Products> by_name;

  std::uint64_t seen() const {
    std::uint64_t total = 0;
    for (const auto& [name, one] : by_name) total += one.seen;
    return total;
  }
  std::uint64_t unknown() const {
    std::uint64_t total = 0;
    for (const auto& [name, one] : by_name) total += one.known == 0 ? one.seen : 0;
    return total;
  }
  // Over all steps: the odd share of the time without shapes is taken to be that of the time with shapes.
  double ms() const {
    double total = 0;
    for (const auto& [name, one] : by_name) {
      if (one.known_ms > 0) total += one.odd_ms * one.ms / one.known_ms;
    }
    return total;
  }
};

// The innermost matrix products: their shapes are those that the kernel sees.
Measured Measure(const Timeline& timeline) {
  const NameSet products(timeline.trace(), ops::IsMatmul);
  const OpCost cost(timeline);
  Measured found;
  std::map<std::pair<StringId, std::uint32_t>, std::string> by_shape;  // what the detail window showed
  const auto visit = [&](EventRef ref, const auto& with) {
    const Event& event = timeline.event(ref);
    if (!products.Has(event)) return;
    const auto& events = timeline.trace().threads[ref.thread].events;
    for (std::uint32_t i = ref.index + 1; i < events.size() && events[i].start_ns < event.end_ns; ++i) {
      if (products.Has(events[i])) return;
    }
    with(ref, event);
  };
  timeline.ForEachDetailed([&](EventRef ref) {
    visit(ref, [&](EventRef one, const Event& event) {
      const std::string_view inputs = timeline.inputs(one);
      if (!inputs.empty()) by_shape[{event.name, event.shape_hash}] = inputs;
    });
  });
  timeline.ForEachSteady([&](EventRef ref) {
    visit(ref, [&](EventRef one, const Event& event) {
      const std::string_view own = timeline.inputs(one);
      const auto known = by_shape.find({event.name, event.shape_hash});
      const bool by_hash = own.empty() && event.shape_hash != 0 && known != by_shape.end();
      const std::string_view inputs = by_hash ? std::string_view(known->second) : own;
      const double ms = cost.Ms(one);
      Products& alike = found.by_name[event.name];
      ++alike.seen, alike.ms += ms;
      if (inputs.empty()) return;
      ++alike.known, alike.known_ms += ms;
      const std::string shapes = OddShapes(inputs);
      if (shapes.empty()) return;
      alike.odd_ms += ms;
      const Where* where = timeline.where(one);
      found.sites.Add(where, ms, ModuleOf(timeline, one));
      found.shapes[where ? std::optional(*where) : std::nullopt].insert(shapes);
    });
  });
  return found;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotDevices(timeline)) return {*why_not};
  const Measured found = Measure(timeline);
  if (found.seen() == 0) return {Finding::NotApplicable("no matrix product was seen in the timed steps")};
  if (2 * found.unknown() > found.seen()) {
    return {Finding::CannotTell("the shapes of most matrix products were not recorded")};
  }
  const double ms = MsPerStep(timeline, found.ms());
  if (SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding =
      CostingAtMost(timeline, ms,
                    fmt::format("16-bit matrix products whose sizes are not multiples of 8 take {} per step ({})",
                                MsText(ms), ShareText(timeline, ms)));
  finding.severity = std::min(finding.severity, Severity::kLow);  // padding gains part of it at most
  const double steps = found.sites.ms() / ms;                     // the steps in which shapes were recorded
  finding.evidence = found.sites.Describe([&](const CallSites::Site& site) {
    const auto shapes = found.shapes.find(site.where);
    return fmt::format("{:.3g} products per step, {}, such as {}", static_cast<double>(site.count) / steps,
                       MsText(site.ms / steps), shapes == found.shapes.end() ? "those above" : *shapes->second.begin());
  });
  return {finding};
}

}  // namespace

extern const Analyzer kOddDimensions{
    .id = "odd-dimensions",
    .question = "Do 16-bit matrix products have sizes that tensor cores cannot load well?",
    .run = Run,
    .needs = kNeedsOps | kNeedsPasses};

}  // namespace loopscope
