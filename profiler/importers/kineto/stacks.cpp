#include "profiler/importers/kineto/stacks.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "profiler/importers/kineto/names.h"

namespace loopscope {
namespace {

constexpr std::size_t kMaxFrames = 32;  // innermost ones; the rest of a recursion adds nothing new

// The line of "train.py:41"; 0 if the place is not in `path`.
int LineIn(std::string_view path, std::string_view place) {
  int line = 0;
  if (!place.starts_with(path) || !place.substr(path.size()).starts_with(':')) return 0;
  const char* const end = place.data() + place.size();
  const auto [at, error] = std::from_chars(place.data() + path.size() + 1, end, line);
  return error == std::errc() && at == end && line > 0 ? line : 0;
}

}  // namespace

const Where* KinetoStacks::UserFrame(StringId frame) {
  const auto [place, added] = frames_.try_emplace(frame);
  if (added) {
    std::optional<Where> where = WhereOfFrame(trace_.text(frame));
    if (where && IsUserFrame(*where)) place->second = {std::move(where->path), 0, std::move(where->function)};
  }
  return place->second.path.empty() ? nullptr : &place->second;
}

std::uint32_t KinetoStacks::Called(std::uint32_t caller, StringId frame, StringId line) {
  const Where* const function = UserFrame(frame);
  if (function == nullptr) return caller;
  const auto [stack, added] = stacks_.try_emplace({caller, frame, line});
  if (added) {
    Where where = *function;
    if (line != kNone) where.line = LineIn(where.path, trace_.text(line));
    stack->second = Add(caller, where);
  }
  return stack->second;
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
