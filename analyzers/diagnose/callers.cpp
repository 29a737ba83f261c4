#include "analyzers/diagnose/callers.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "profiler/core/report/finding.h"

namespace loopscope {
namespace {

// "torchdiffeq" of "torchdiffeq/_impl/solvers.py", the folder of a file outside of the working directory; empty for a
// file in the working directory itself.
std::string PackageOf(const std::string& relative) {
  if (relative.starts_with('/')) return relative.substr(0, relative.rfind('/'));
  const std::size_t slash = relative.find('/');
  return slash == relative.npos ? "" : relative.substr(0, slash);
}

}  // namespace

std::optional<Where> CalledAt(const Trace& trace, const Where& where) {
  const std::string& directory = trace.run.working_directory;
  const std::string package = PackageOf(RelativePath(where.path, directory));
  if (package.empty()) return std::nullopt;
  const auto here = [&](const Stack& stack) {
    return !stack.frames.empty() && stack.frames.front().line == where.line && stack.frames.front().path == where.path;
  };
  for (const Stack& stack : trace.stacks) {
    if (!here(stack)) continue;
    const auto caller = std::ranges::find_if(stack.frames, [&](const Where& frame) {
      const std::string path = RelativePath(frame.path, directory);
      return !path.starts_with('/') && PackageOf(path) != package;
    });
    if (caller != stack.frames.end()) return *caller;
  }
  return std::nullopt;
}

}  // namespace loopscope
