#include "probes/torch/op_names.h"

#include <c10/util/Type.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <span>
#include <string>
#include <typeinfo>

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

namespace {

bool Runs(const OpenOps& open, const void* node) {
  for (std::uint32_t at = open.depth; at > 0; --at) {
    if (open.ops[at - 1].node == node) return true;
  }
  return false;
}

// Whether all nodes of the type have this name: the type's own, with its namespaces or, of most nodes, without. A
// Python function is named for its class.
bool IsNamedForType(const std::string& name, const std::type_info& type) {
  const std::string full = c10::demangle(type.name());
  return name == full || full.ends_with("::" + name);
}

// Without an id where nodes of the type are named differently.
[[gnu::cold]] Known NewType(const torch::autograd::Node& node, const std::type_info& type) {
  const std::string name = node.name();
  if (!IsNamedForType(name, type)) return {&type};
  return Find(&type, "autograd::engine::evaluate_function: " + name, true);
}

}  // namespace

const void* NodeThatBegins(const OpenOps& open) {
  const void* node = torch::autograd::get_current_node().get();
  return node != nullptr && !Runs(open, node) ? node : nullptr;
}

const Known* NameOfNode(OpenOps& open) {
  if ((open.gate.load(std::memory_order_relaxed) & kGateDetail) != 0) return nullptr;
  const auto current = torch::autograd::get_current_node();
  const torch::autograd::Node& node = *current;
  const std::type_info& type = typeid(node);
  Known& slot = open.nodes[(reinterpret_cast<std::uintptr_t>(&type) >> 4) % open.nodes.size()];
  if (slot.address != &type) slot = NewType(node, type);
  return slot.id != 0 ? &slot : nullptr;
}

}  // namespace loopscope
