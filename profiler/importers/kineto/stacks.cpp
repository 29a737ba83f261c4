#include "profiler/importers/kineto/stacks.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "profiler/importers/kineto/names.h"

namespace loopscope {
namespace {

constexpr std::size_t kMaxFrames = 32;  // innermost ones; the rest of a recursion adds nothing new

}  // namespace

const Where* KinetoStacks::UserFrame(StringId frame) {
  const auto [place, added] = frames_.try_emplace(frame);
  if (added) {
    std::optional<Where> where = WhereOfFrame(trace_.text(frame));
    if (where && IsUserFrame(*where)) place->second = std::move(*where);
  }
  return place->second.path.empty() ? nullptr : &place->second;
}

std::uint32_t KinetoStacks::Called(std::uint32_t caller, StringId frame) {
  const Where* const where = UserFrame(frame);
  if (where == nullptr) return caller;
  const auto [place, added] = by_caller_.try_emplace(std::uint64_t{caller} << 32 | frame);
  if (added) place->second = Add(caller, *where);
  return place->second;
}

std::uint32_t KinetoStacks::Add(std::uint32_t caller, const Where& where) {
  Stack stack;
  stack.frames.push_back(where);
  if (caller != kNone) {
    const std::vector<Where>& outer = trace_.stacks[caller].frames;
    const std::size_t kept = std::min(outer.size(), kMaxFrames - 1);
    stack.frames.insert(stack.frames.end(), outer.begin(), outer.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  trace_.stacks.push_back(std::move(stack));
  return static_cast<std::uint32_t>(trace_.stacks.size() - 1);
}

std::uint32_t KinetoStacks::OfText(std::string_view text) {
  Stack stack;
  while (!text.empty() && stack.frames.size() < kMaxFrames) {
    const std::size_t end = std::min(text.find(';'), text.size());
    std::optional<Where> where = WhereOfFrame(text.substr(0, end));
    if (where && IsUserFrame(*where)) stack.frames.push_back(std::move(*where));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (stack.frames.empty()) return kNone;
  trace_.stacks.push_back(std::move(stack));
  return static_cast<std::uint32_t>(trace_.stacks.size() - 1);
}

}  // namespace loopscope
