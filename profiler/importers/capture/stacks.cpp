#include "profiler/importers/capture/stacks.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/importers/capture/library_functions.h"
#include "profiler/importers/capture/symbolizer.h"

namespace loopscope {

void WarnOfNewerModules(const CaptureDefinitions& all, std::uint64_t run_real_ns, Trace& trace) {
  std::set<std::string> paths;
  for (const ModuleMapping& module : all.modules) {
    if (IsUserModule(module.path)) paths.insert(module.path);
  }
  for (const std::string& path : paths) {
    struct stat status;
    if (run_real_ns == 0 || stat(path.c_str(), &status) != 0) continue;
    const auto changed_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                            static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
    if (changed_ns <= run_real_ns) continue;
    trace.quality.warnings.push_back(path + " was changed after the run: lines named in it may be wrong");
  }
}

namespace {

// Only the main program counts as user code; libraries and CPython do not.
void SayWithoutLines(const CaptureDefinitions& all, const std::vector<std::string>& files, Trace& trace) {
  const auto is_python = [](const auto& stack) {
    return std::ranges::any_of(stack, [](std::uint64_t frame) { return (frame & wire::kFrameIsText) != 0; });
  };
  if (std::ranges::any_of(all.stacks, is_python)) return;
  for (const std::string& path : files) {
    if (path.find(".so") != path.npos) continue;
    trace.quality.warnings.push_back(path + " has no debug information: lines of it are not known (build it with -g1)");
  }
}

}  // namespace

void AddStacks(const CaptureDefinitions& all, Trace& trace) {
  std::vector<std::uint64_t> unique;
  for (const auto& stack : all.stacks) {
    for (const std::uint64_t frame : stack) {
      if (!(frame & wire::kFrameIsText) && frame != 0) unique.push_back(frame);
    }
  }
  std::ranges::sort(unique);
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  Symbolized symbols = Symbolize(all.modules, unique);
  for (const auto& stack : all.stacks) {
    Stack& named = trace.stacks.emplace_back();
    for (const std::uint64_t frame : stack) {
      if (frame & wire::kFrameIsText) {
        Where where = WhereOfText(all.text(static_cast<std::uint32_t>(frame)));
        if (frame & wire::kFrameIsLibrary) {
          named.library.push_back(std::move(where));
        } else if (IsUserSource(where.path)) {
          named.frames.push_back(std::move(where));
        }
        continue;
      }
      const auto found = std::ranges::lower_bound(unique, frame);
      if (found == unique.end() || *found != frame) continue;
      const auto& frames = symbols.frames[static_cast<std::size_t>(found - unique.begin())];
      named.frames.insert(named.frames.end(), frames.begin(), frames.end());
    }
  }
  SayWithoutLines(all, symbols.without_lines, trace);
  for (std::string& warning : symbols.warnings) trace.quality.warnings.push_back(std::move(warning));
}

void NameCalledFunctions(const CaptureDefinitions& all, Trace& trace) {
  LibraryFunctions functions(all.modules);
  std::map<std::string, StringId> known;
  for (Thread& thread : trace.threads) {
    for (LineSlice& line : thread.lines) {
      if (line.called != 0 || line.own_share > 0 || line.stack >= all.stacks.size()) continue;
      const std::vector<std::uint64_t>& stack = all.stacks[line.stack];
      if (stack.empty() || (stack.front() & wire::kFrameIsText)) continue;
      std::string name = functions.At(stack.front());
      if (name.empty()) continue;
      const auto [found, added] = known.try_emplace(std::move(name), static_cast<StringId>(trace.strings.size()));
      if (added) trace.strings.push_back(found->first);
      line.called = found->second;
    }
  }
}

}  // namespace loopscope
