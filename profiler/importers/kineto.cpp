// Traces of PyTorch's profiler (Kineto) as Chrome JSON, plain or compressed, of any size: windows of whole elements are
// read by several threads, whose shards are then merged. Memory holds the windows in flight and what is kept of events.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "profiler/core/importer.h"
#include "profiler/core/parallel.h"
#include "profiler/importers/json/windows.h"
#include "profiler/importers/kineto/events.h"
#include "profiler/importers/kineto/merge.h"
#include "profiler/importers/kineto/processes.h"
#include "profiler/importers/kineto/repairs.h"
#include "profiler/importers/kineto/run.h"

namespace loopscope {
namespace {

constexpr std::int64_t kClockGrainNs = 1'000;  // times in whole microseconds
constexpr double kMinOverlapShare = 0.001;
constexpr unsigned kMaxReaders = 8;  // beyond this, cutting windows is the bottleneck

// Reads windows on several threads, each into a shard of its own.
class Readers {
 public:
  explicit Readers(JsonWindows& windows) : windows_(windows) {}

  Result<std::vector<std::unique_ptr<KinetoShard>>> Run(unsigned count) {
    std::vector<std::unique_ptr<KinetoShard>> shards;
    for (unsigned i = 0; i < count; ++i) shards.push_back(std::make_unique<KinetoShard>());
    ParallelFor(count, count, [&](std::size_t i) { Read(*shards[i]); });
    if (error_) return *error_;
    return shards;
  }

 private:
  void Read(KinetoShard& shard) {
    KinetoEvents events(shard);
    JsonWindow window;
    while (Next(window)) events.Read(window);
  }

  bool Next(JsonWindow& window) {
    const std::lock_guard lock(mutex_);
    if (error_) return false;
    const Result<bool> next = windows_.Next(window);
    if (!next) error_ = next.error();
    return next && *next;
  }

  JsonWindows& windows_;
  std::mutex mutex_;
  std::optional<Error> error_;
};

std::string Times(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void JudgeQuality(const std::vector<std::unique_ptr<KinetoShard>>& shards, const JsonWindows& windows,
                  Quality& quality) {
  std::uint64_t damaged = 0, impossible = 0, unpaired = 0, crowded = 0, timeless = 0, far_off = 0;
  for (const auto& shard : shards) {
    quality.events += shard->events;
    damaged += shard->damaged;
    impossible += shard->impossible;
    unpaired += shard->unpaired;
    crowded += shard->crowded;
    timeless += shard->timeless;
    far_off += shard->far_off;
  }
  const auto warn = [&](std::string text) { quality.warnings.push_back(std::move(text)); };
  quality.torn_bytes = windows.torn_bytes();
  quality.clean_end = windows.complete() && windows.source().damage().empty();
  quality.dropped = damaged + windows.oversized() + crowded;
  if (!windows.source().damage().empty()) warn(fmt::format("{}: what came before is used", windows.source().damage()));
  if (!windows.complete()) {
    warn(fmt::format("the trace is cut off: everything before the tear is used, {} behind the last whole event {} not",
                     Times(windows.torn_bytes(), "byte", "bytes"), windows.torn_bytes() == 1 ? "is" : "are"));
  }
  if (damaged > 0) warn(Times(damaged, "damaged event was", "damaged events were") + " left out");
  if (windows.oversized() > 0) {
    warn(fmt::format("{} of more than {} MiB left out", Times(windows.oversized(), "event", "events"),
                     kMaxJsonElementBytes >> 20));
  }
  if (impossible > 0) warn(Times(impossible, "event has", "events have") + " impossible times: left out");
  if (crowded > 0)
    warn(Times(crowded, "event is", "events are") + " left out: the trace names too many threads or devices");
  if (unpaired > 0)
    warn(Times(unpaired, "begin or end event lacks its other half", "begin and end events lack their other halves") +
         ": left out");
  if (timeless > 0) {
    warn(Times(timeless, "event has", "events have") + " no time (0): left out, so that what it did is missing");
  }
  if (far_off > 0) {
    warn(Times(far_off, "event begins days away from all others or lasts",
               "events begin days away from all others or last") +
         " longer than the trace: left out");
  }
}

// Work on one stream runs in order, so an overlap of more than the clocks' grain means that a clock is off.
void WarnOfOverlaps(Trace& trace) {
  std::uint64_t overlaps = 0;
  std::int64_t overlap_ns = 0, work_ns = 0;
  for (const Device& device : trace.devices) {
    std::unordered_map<std::uint32_t, std::int64_t> ends;
    for (const DeviceEvent& event : device.events) {
      if (event.kind == DeviceKind::kWait) continue;
      std::int64_t& end = ends.try_emplace(event.stream, event.start_ns).first->second;
      const std::int64_t overlap = std::min(end, event.end_ns) - event.start_ns;
      overlaps += overlap > kClockGrainNs;
      overlap_ns += std::max<std::int64_t>(overlap, 0);
      work_ns += event.duration_ns();
      end = std::max(end, event.end_ns);
    }
  }
  if (overlaps == 0 || static_cast<double>(overlap_ns) < kMinOverlapShare * static_cast<double>(work_ns)) return;
  trace.quality.warnings.push_back(
      fmt::format("{} with other work of the same stream, {:.1f} % of all device work: the device's clock is off",
                  Times(overlaps, "piece of device work overlaps", "pieces of device work overlap"),
                  100 * static_cast<double>(overlap_ns) / static_cast<double>(work_ns)));
}

// Warnings about a file that holds several processes, with the metadata of only one.
void AddProcesses(const KinetoProcesses& processes, std::uint32_t wanted, Trace& trace) {
  if (processes.training.size() < 2) return;
  trace.run.ranks = std::max(trace.run.ranks, static_cast<int>(processes.training.size()));
  trace.run.rank = static_cast<int>(processes.shown);
  if (processes.unowned > 0) {
    trace.quality.warnings.push_back(
        Times(processes.unowned, "piece of device work belongs", "pieces of device work belong") +
        " to one of several processes, and the trace does not tell which: left out");
  }
  if (wanted != 0) return;
  std::string pids, names;
  for (const KinetoProcess& one : processes.training) {
    pids += (pids.empty() ? "" : ",") + std::to_string(one.pid);
    names += (one.pid < kNamedId ? "" : one.name) + "\n";
  }
  trace.facts["trace.processes"] = pids;
  trace.facts["trace.process_names"] = names;
  trace.quality.warnings.emplace_back(WarningKind::kOtherProcesses,
                                      fmt::format("{} processes of this file trained; {} is shown",
                                                  processes.training.size(), processes.training[processes.shown].name));
}

Error NotATrace(const Input& input, std::string_view what) {
  return {std::string(what), input.path.string(),
          "pass what torch.profiler's export_chrome_trace() or tensorboard_trace_handler() wrote"};
}

Result<Trace> ReadKineto(const Input& input) {
  Result<std::unique_ptr<JsonSource>> source = OpenJsonSource(input.path);
  if (!source) return source.error();
  const std::uint64_t windows_of_file = (*source)->file_bytes() / kJsonWindowBytes;
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1u, kMaxReaders);
  JsonWindows windows(std::move(*source), "traceEvents");
  const auto readers = static_cast<unsigned>(std::min<std::uint64_t>(cores, 1 + windows_of_file));
  Result<std::vector<std::unique_ptr<KinetoShard>>> shards = Readers(windows).Run(readers);
  if (!shards && shards.error().where.empty()) {
    const std::string_view damage = windows.source().damage();
    return NotATrace(input, damage.empty() ? shards.error().what : damage);
  }
  if (!shards) return shards.error();
  if (!windows.array_seen())
    return NotATrace(input, "holds no \"traceEvents\": it is not a trace of PyTorch's profiler");
  PairKinetoEdges(*shards);
  DropUntrueTimes(*shards);
  Quality quality;
  JudgeQuality(*shards, windows, quality);
  if (!windows.any_element()) return NotATrace(input, "holds no events: nothing was recorded");
  if (quality.events == 0) return NotATrace(input, "holds no event that PyTorch's profiler writes");
  std::uint64_t lost_work = 0;
  for (const auto& shard : *shards) lost_work += shard->lost_work;
  const KinetoProcesses processes = SeparateProcesses(*shards, input.process);
  KinetoMerge merge(std::move(*shards), KinetoBaseNs(windows.members()));
  Trace trace = merge.Run();
  trace.quality = std::move(quality);
  if (const std::uint64_t twice = merge.duplicates(); twice > 0) {
    trace.quality.warnings.push_back(Times(twice, "event is", "events are") + " in the file twice: counted once");
  }
  if (trace.threads.empty() && trace.devices.empty()) return NotATrace(input, "holds no event with a usable time");
  AddKinetoMetadata(windows.members(), trace);
  AddProcesses(processes, input.process, trace);
  if (lost_work > 0) trace.facts["device.lost_work"] = std::to_string(lost_work);
  trace.facts["time.base_ns"] = std::to_string(KinetoBaseNs(windows.members()));
  AddKinetoSteps(trace);
  WarnOfOverlaps(trace);
  return trace;
}

bool SniffKineto(std::string_view head) {
  // A compressed file may hold nothing, be damaged, or begin with a block that is longer than the head.
  if (CompressionOf(head) == Compression::kPlain) return MayBeKineto(head);
  const std::string text = ExpandedHead(head);
  return text.empty() || MayBeKineto(text);
}

}  // namespace

extern const Importer kKineto{"kineto", SniffKineto, ReadKineto, "a trace of torch.profiler (.json, .json.gz, .zst)"};

}  // namespace loopscope
