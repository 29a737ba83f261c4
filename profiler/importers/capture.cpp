#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "profiler/core/importer.h"
#include "profiler/core/steps/step_ledger.h"
#include "profiler/core/text.h"
#include "profiler/core/trace/facts.h"
#include "profiler/importers/capture/definitions.h"
#include "profiler/importers/capture/devices.h"
#include "profiler/importers/capture/file.h"
#include "profiler/importers/capture/left_out.h"
#include "profiler/importers/capture/run_files.h"
#include "profiler/importers/capture/threads.h"
#include "profiler/importers/capture/trace_parts.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeptInMemory = 64u << 20;  // bytes of a file while it is read

// One capture file, read into its own trace and later merged with the run's other files.
struct CaptureTrace {
  Trace trace;
  std::uint64_t step_ends = 0, repaired = 0, without_device = 0;
};

std::string OneLine(const Error& error) {
  return error.where + ": " + error.what;
}

void AddThread(ThreadEvents read, Trace& trace) {
  const auto thread = static_cast<std::uint32_t>(trace.threads.size());
  const auto first_detail = static_cast<std::uint32_t>(trace.details.size());
  const auto first_further = static_cast<std::uint32_t>(trace.further_producers.size());
  for (EventDetail& detail : read.details) detail.further += first_further;
  trace.details.insert(trace.details.end(), read.details.begin(), read.details.end());
  trace.further_producers.insert(trace.further_producers.end(), read.further_producers.begin(),
                                 read.further_producers.end());
  std::vector<Event>& events = read.thread.events;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].detail == kNone) continue;
    if (events[i].kind == EventKind::kOp) {
      events[i].detail += first_detail;
    } else {
      trace.range_stacks[std::uint64_t{thread} << 32 | i] = std::exchange(events[i].detail, kNone);
    }
  }
  for (Mark& mark : read.marks) {
    mark.thread = thread;
    if (mark.kind == MarkKind::kThreadName) read.thread.name = trace.text(mark.name);
  }
  for (StepRecord& step : read.steps) step.thread = thread;
  trace.steps.insert(trace.steps.end(), read.steps.begin(), read.steps.end());
  trace.quality.events += events.size();
  trace.marks.insert(trace.marks.end(), read.marks.begin(), read.marks.end());
  trace.threads.push_back(std::move(read.thread));
}

// Time from the file's creation to its last event.
double SecondsCovered(const Trace& trace, std::uint64_t start_ns) {
  std::int64_t last = 0;
  for (const Thread& thread : trace.threads) {
    if (!thread.events.empty()) last = std::max(last, thread.events.back().end_ns);
  }
  for (const Mark& mark : trace.marks) last = std::max(last, mark.time_ns);
  for (const StepRecord& step : trace.steps) last = std::max(last, step.end_ns);
  return std::max(0.0, static_cast<double>(last) / 1e9 - static_cast<double>(start_ns) / 1e9);
}

void JudgeQuality(const CaptureChunks& chunks, CaptureTrace& read) {
  Quality& quality = read.trace.quality;
  quality.dropped = chunks.header.dropped;
  quality.stalls_over_1ms = chunks.header.stalls_over_1ms;
  quality.torn_bytes = chunks.torn_bytes;
  quality.clean_end = chunks.header.clean_end == 1 && chunks.missing_bytes == 0;
  auto warn = [&](std::string text) { quality.warnings.push_back(std::move(text)); };
  if (chunks.missing_bytes > 0) {
    warn(fmt::format("the capture is cut off: {} bytes are missing at its end", chunks.missing_bytes));
  } else if (!quality.clean_end) {
    warn(fmt::format("the program did not end in order: what was written up to {:.1f} s after its start is used",
                     SecondsCovered(read.trace, chunks.header.start_mono_ns)));
  }
  if (quality.dropped > 0) warn(fmt::format("{} records were lost: the disk did not keep up", quality.dropped));
  if (chunks.damaged_chunks > 0) {
    warn(fmt::format("{} damaged chunks of the capture were left out", chunks.damaged_chunks));
  }
  if (read.repaired > 0) warn(fmt::format("{} records had impossible times", read.repaired));
  if (const std::int64_t lost = NumberFact(read.trace, "cupti.dropped").value_or(0); lost > 0) {
    quality.dropped += static_cast<std::uint64_t>(lost);
    warn(fmt::format("{} records of the GPU were lost: CUPTI ran out of buffers", lost));
  }
  if (const std::int64_t bad = NumberFact(read.trace, "cupti.bad_times").value_or(0); bad > 0) {
    const auto kept = NumberFact(read.trace, "cupti.records");
    warn(fmt::format("{} records of the GPU had no or impossible times and were left out{}", bad,
                     kept ? fmt::format("; {} were kept", *kept) : ""));
  }
  if (const std::int64_t torn = NumberFact(read.trace, "cupti.torn_buffers").value_or(0); torn > 0) {
    warn(fmt::format("{} of records of the GPU ended in a damaged one: what came after it is missing",
                     Counted(static_cast<std::uint64_t>(torn), "buffer")));
  }
  if (read.without_device > 0) {
    warn(fmt::format("left out {} of GPU work: which of several GPUs did it was not recorded",
                     Counted(read.without_device, "record")));
  }
  for (const std::string& slowed : SlowedDevices(read.trace)) warn(slowed);
  for (const std::string& line : DeviceWarnings(read.trace)) warn(line);
  std::set<StringId> told;  // what probes report that they cannot see
  for (const Mark& mark : read.trace.marks) {
    if (mark.kind == MarkKind::kProbeOff && told.insert(mark.name).second) {
      warn(std::string(read.trace.text(mark.name)));
    }
  }
}

// One of `files` that are read.
Result<CaptureTrace> ReadFile(const fs::path& path, std::uint64_t files) {
  Result<MappedFile> file = MappedFile::Open(path);
  if (!file) return file.error();
  Result<CaptureChunks> chunks = ReadChunks(file->bytes(), path, file->bytes().size() > kKeptInMemory);
  if (!chunks) return chunks.error();
  const LeftOut left_out(*chunks, {MostRead().operators / files, MostRead().others / files});
  CaptureTrace read;
  CaptureDefinitions all = ReadDefinitions(chunks->chunks, file->bytes().size());
  const IdMap ids{0, static_cast<std::uint32_t>(all.strings.size() - 1), 0,
                  static_cast<std::uint32_t>(all.stacks.size())};
  AddStacks(all, read.trace);
  if (!all.stacks.empty()) WarnOfNewerModules(all, chunks->header.start_real_ns, read.trace);
  read.trace.strings = std::move(all.strings);
  for (const ThreadChunks& thread : GroupByThread(chunks->chunks)) {
    ThreadEvents events = ReadThread(thread, ids, left_out);
    read.repaired += events.repaired;
    const bool empty = events.thread.events.empty() && events.marks.empty() && events.steps.empty() &&
                       events.thread.lines.empty();  // it recorded for other threads
    if (!empty) AddThread(std::move(events), read.trace);
  }
  NameCalledFunctions(all, read.trace);
  read.repaired += AddTensors(all, read.trace);
  FillInOlder(chunks->header, read.trace);
  read.step_ends = StepsOfAll(read.trace);
  read.trace.applied = std::move(all.applied);
  read.trace.gains = std::move(all.gains);
  read.trace.knobs.insert(all.knobs.begin(), all.knobs.end());
  for (auto& [key, value] : all.facts) read.trace.facts.insert_or_assign(key, std::move(value));
  const DeviceLosses losses = AddDevices(chunks->chunks, ids, left_out, read.trace);
  read.repaired += losses.impossible;
  read.without_device = losses.without_device;
  left_out.Mark(read.trace);
  read.trace.quality.skipped = left_out.skipped();
  JudgeQuality(*chunks, read);
  for (std::string& line : left_out.Warnings(chunks->header.start_mono_ns)) {
    read.trace.quality.warnings.push_back(std::move(line));
  }
  return read;
}

Result<std::vector<fs::path>> CaptureFiles(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<fs::path>{path};
  std::vector<fs::path> files;
  for (fs::directory_iterator one(path, error), end; !error && one != end; one.increment(error)) {
    if (one->path().extension() == ".cap") files.push_back(one->path());
  }
  if (error) return Error{"cannot be read: " + error.message(), path.string(), "check the folder's permissions"};
  if (files.empty()) {
    return Error{"holds no capture", path.string(),
                 "the program may have ended before it loaded LibTorch; pass a folder with .cap files"};
  }
  std::ranges::sort(files);
  return files;
}

void AddRunInfo(const fs::path& folder, Trace& trace) {
  std::error_code error;
  if (!fs::exists(folder / kRunJsonName, error)) return;
  Result<RunInfo> run = ReadRunJson(folder / kRunJsonName);
  if (run) {
    trace.run = std::move(*run);
  } else {
    trace.quality.warnings.push_back(OneLine(run.error()));
  }
}

// Names that devices report override what the launcher saw: containers hide the driver's files.
void AddGpuNames(Trace& trace) {
  std::vector<std::string> names;
  for (const Device& device : trace.devices) {
    if (!device.name.empty()) names.push_back(device.name);
  }
  std::vector<std::string>& known = trace.run.gpus;
  if (!names.empty() && std::ranges::find(known, names.front()) == known.end()) known = std::move(names);
}

int NumberOr(const Trace& trace, facts::NumberKey key, int otherwise) {
  const auto number = NumberFact(trace, key);
  return number && std::in_range<int>(*number) ? static_cast<int>(*number) : otherwise;
}

// What a rank reports about itself overrides what the launcher of all ranks knew.
void AddRank(Trace& trace) {
  trace.run.rank = NumberOr(trace, "rank", trace.run.rank);
  trace.run.ranks = NumberOr(trace, "ranks", trace.run.ranks);
  if (const std::string_view node = FactOf(trace, "node"); !node.empty()) trace.run.node = node;
}

// The training process comes first; the run's other processes are threads beside it. With several ranks it is the
// lowest, so that two runs of a program show the same one, whichever was a step ahead.
void Order(std::vector<CaptureTrace>& all) {
  const auto rank = [](const CaptureTrace& one) {
    return NumberOr(one.trace, "rank", std::numeric_limits<int>::max());
  };
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.step_ends > b.step_ends; });
  const auto fewer =
      std::ranges::find_if(all, [&](const auto& one) { return 2 * one.step_ends < all.front().step_ends; });
  std::stable_sort(all.begin(), fewer, [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

Result<Trace> ReadCapture(const Input& input) {
  Result<std::vector<fs::path>> files = CaptureFiles(input.path);
  if (!files) return files.error();
  std::vector<CaptureTrace> all;
  std::vector<std::string> unreadable;
  for (const fs::path& path : *files) {
    Result<CaptureTrace> read = ReadFile(path, files->size());
    if (!read && files->size() == 1) return read.error();
    if (read) {
      all.push_back(std::move(*read));
    } else {
      unreadable.push_back(OneLine(read.error()));
    }
  }
  if (all.empty()) return Error{"no capture in it can be read", input.path.string(), unreadable.front()};
  Order(all);
  Trace trace = std::move(all.front().trace);
  if (all.size() > 1 && all[1].step_ends > 0) {
    trace.quality.warnings.push_back("several processes of this run trained; the first of them is shown");
  }
  for (std::size_t i = 1; i < all.size(); ++i) JoinCapture(std::move(all[i].trace), trace);
  std::ranges::stable_sort(trace.marks, [](const Mark& a, const Mark& b) { return a.time_ns < b.time_ns; });
  std::ranges::stable_sort(trace.steps, {}, &StepRecord::end_ns);
  trace.quality.warnings.insert(trace.quality.warnings.end(), unreadable.begin(), unreadable.end());
  std::error_code error;
  const fs::path folder = fs::is_directory(input.path, error) ? input.path : input.path.parent_path();
  AddRunInfo(folder, trace);
  for (MeasuredGain& gain : ReadFormsJson(folder / kFormsJsonName)) trace.gains.push_back(std::move(gain));
  AddGpuNames(trace);
  AddRank(trace);
  const std::string_view torch = FactOf(trace, "torch.version");
  if (!torch.empty()) trace.run.versions.try_emplace("torch", torch);
  return trace;
}

bool SniffCapture(std::string_view head) {
  return head.starts_with(std::string_view(wire::kMagic, sizeof wire::kMagic));
}

bool IsRunFolder(std::span<const std::string> names) {
  return std::ranges::any_of(names,
                             [](const std::string& name) { return name.ends_with(".cap") || name == kRunJsonName; });
}

}  // namespace

extern const Importer kCapture{"capture", SniffCapture, ReadCapture, "a run folder or a .cap file in one", IsRunFolder};

}  // namespace loopscope
