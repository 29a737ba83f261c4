#include "probes/torch/traits.h"

#include <algorithm>
#include <span>

namespace loopscope {
namespace {

constexpr std::string_view kAten = "aten::";
constexpr std::string_view kProducts[] = {"mm",     "addmm", "bmm",    "baddbmm",    "addbmm",     "mv",
                                          "linear", "addmv", "matmul", "_scaled_mm", "_grouped_mm"};
constexpr std::string_view kFamilies[] = {"conv", "scaled_dot_product", "rnn_layer", "_cudnn_rnn"};
constexpr std::string_view kReads[] = {"item", "_local_scalar_dense", "is_nonzero"};

bool IsOneOf(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::uint8_t TraitsOf(std::string_view name) {
  if (!name.starts_with(kAten)) return name.starts_with("autograd::") ? 0 : kMayBeAsync;
  name.remove_prefix(kAten.size());
  if (IsOneOf(name, kReads)) return kHostRead;
  const auto holds = [name](std::string_view family) { return name.find(family) != name.npos; };
  const bool in_family = std::ranges::any_of(kFamilies, holds);
  return in_family || IsOneOf(name, kProducts) ? kHashShapes : 0;
}

}  // namespace loopscope
