#include "profiler/importers/capture/trace_parts.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/importers/capture/library_functions.h"
#include "profiler/importers/capture/symbolizer.h"
#include "profiler/importers/capture/threads.h"

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

namespace {

std::uint32_t ThreadOf(const Trace& trace, std::uint32_t pid, std::uint32_t tid) {
  const auto found =
      std::ranges::find_if(trace.threads, [&](const Thread& one) { return one.pid == pid && one.tid == tid; });
  return found == trace.threads.end() ? kNone : static_cast<std::uint32_t>(found - trace.threads.begin());
}

}  // namespace

std::uint64_t AddTensors(const CaptureDefinitions& all, Trace& trace) {
  std::uint64_t impossible = 0;
  for (const wire::TensorPeakRecord& peak : all.tensor_peaks) {
    if (peak.time_ns > kMaxTimeNs) {
      ++impossible;
      continue;
    }
    trace.tensor_peaks.push_back({static_cast<std::int64_t>(peak.time_ns), peak.bytes});
  }
  for (const auto& [pid, tensor] : all.tensors) {
    if (std::max({tensor.allocated_ns, tensor.used_ns, tensor.freed_ns}) > kMaxTimeNs) {
      ++impossible;
      continue;
    }
    trace.idle_tensors.push_back({tensor.bytes, static_cast<std::int64_t>(tensor.allocated_ns),
                                  static_cast<std::int64_t>(tensor.used_ns), static_cast<std::int64_t>(tensor.freed_ns),
                                  ThreadOf(trace, pid, tensor.tid)});
  }
  std::ranges::stable_sort(trace.tensor_peaks, {}, &TensorPeak::time_ns);
  std::ranges::stable_sort(trace.idle_tensors, std::ranges::greater(), &IdleTensor::bytes);
  return impossible;
}

void FillInOlder(const wire::FileHeader& header, Trace& trace) {
  // Before version 1.6, marks do not name the probe that is off: with no operator recorded, it is LibTorch's.
  constexpr std::uint16_t kProbesAreNamed = 6;
  const auto is_op = [](const Event& event) { return event.kind == EventKind::kOp; };
  const auto has_ops = [&](const Thread& one) { return std::ranges::any_of(one.events, is_op); };
  if (header.minor >= kProbesAreNamed || std::ranges::any_of(trace.threads, has_ops)) return;
  for (Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kProbeOff) mark.value = static_cast<std::uint64_t>(wire::ProbeId::kTorch);
  }
}

namespace {

// A device shared by two processes becomes one.
void JoinDevices(const Trace& from, StringId strings, Trace& into) {
  const auto collectives = static_cast<std::uint32_t>(into.collectives.size());
  for (Collective one : from.collectives) {
    one.operation += strings;
    one.group += strings;
    into.collectives.push_back(one);
  }
  for (const Device& device : from.devices) {
    auto same = std::ranges::find(into.devices, device.ordinal, &Device::ordinal);
    if (same == into.devices.end()) same = into.devices.insert(same, {device.name, device.ordinal, {}});
    for (DeviceEvent event : device.events) {
      event.name += strings;
      if (event.group != kNone) event.group += collectives;
      same->events.push_back(event);
    }
    std::ranges::stable_sort(same->events, {}, &DeviceEvent::start_ns);
  }
}

}  // namespace

void JoinCapture(Trace from, Trace& into) {
  const auto strings = static_cast<StringId>(into.strings.size());
  const auto stacks = static_cast<std::uint32_t>(into.stacks.size());
  const auto details = static_cast<std::uint32_t>(into.details.size());
  const auto threads = static_cast<std::uint32_t>(into.threads.size());
  auto moved = [](std::uint32_t id, std::uint32_t by) { return id == kNone ? kNone : id + by; };
  for (Thread& thread : from.threads) {
    for (Event& event : thread.events) {
      event.name += strings;
      event.detail = moved(event.detail, details);
    }
    for (LineSlice& line : thread.lines) {
      if (line.called != 0) line.called += strings;
      line.stack = moved(line.stack, stacks);
    }
    into.threads.push_back(std::move(thread));
  }
  const auto further = static_cast<std::uint32_t>(into.further_producers.size());
  for (EventDetail one : from.details) {
    one.inputs += strings;
    one.stack = moved(one.stack, stacks);
    one.further += further;
    into.details.push_back(one);
  }
  into.further_producers.insert(into.further_producers.end(), from.further_producers.begin(),
                                from.further_producers.end());
  for (Mark mark : from.marks) {
    mark.name += strings;
    mark.thread += threads;
    into.marks.push_back(mark);
  }
  for (StepRecord step : from.steps) {
    step.clock += strings;
    step.thread += threads;
    into.steps.push_back(step);
  }
  for (const auto& [key, stack] : from.range_stacks) {
    into.range_stacks[key + (std::uint64_t{threads} << 32)] = moved(stack, stacks);
  }
  JoinDevices(from, strings, into);
  into.strings.insert(into.strings.end(), from.strings.begin(), from.strings.end());
  into.stacks.insert(into.stacks.end(), from.stacks.begin(), from.stacks.end());
  into.applied.insert(into.applied.end(), from.applied.begin(), from.applied.end());
  into.knobs.merge(from.knobs);
  into.facts.merge(from.facts);
  into.quality.events += from.quality.events;
  into.quality.dropped += from.quality.dropped;
}

}  // namespace loopscope
