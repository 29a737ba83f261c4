// Merges the shards of all reading threads: one table of strings, each thread's events by time with what follows from
// their order, each device's work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/kineto/details.h"
#include "profiler/importers/kineto/shard.h"

namespace loopscope {

class KinetoMerge {
 public:
  // `base_ns` is added to all times.
  KinetoMerge(std::vector<std::unique_ptr<KinetoShard>> shards, std::int64_t base_ns);

  // Threads with events, devices, details, stacks, strings; no marks but those of peak memory. The same for the same
  // file, whichever thread read what.
  Trace Run();
  std::uint64_t duplicates() const { return duplicates_; }  // events that were in the file twice: left out

 private:
  struct MergedThread {
    std::vector<std::size_t> shards;
    std::vector<KinetoThread*> parts;  // of those shards
    Thread thread;
    std::vector<PythonCall> python;  // by start, callers first
  };

  StringId Intern(std::string text);
  void MapNames();
  void MapInputs();
  void MapStacks();
  void MapDetails();
  std::vector<MergedThread> GroupThreads();
  template <class T>
  static std::vector<KinetoColumn<T>*> ColumnsOf(const MergedThread& merged, KinetoColumn<T> KinetoThread::*column) {
    std::vector<KinetoColumn<T>*> columns;
    for (KinetoThread* part : merged.parts) columns.push_back(&(part->*column));
    return columns;
  }
  void AddEvents(MergedThread& merged, KinetoColumn<Event> KinetoThread::*column) const;
  void MergeThread(MergedThread& merged);
  std::vector<Event> BackwardCalls(const MergedThread& merged) const;
  void MergeThreads();
  void MergeDevices();
  void NameThreads();
  void AddPeaks();

  std::vector<std::unique_ptr<KinetoShard>> shards_;
  std::int64_t base_ns_;
  Trace trace_;
  std::unordered_map<std::string, StringId> ids_;
  std::vector<std::vector<StringId>> names_;         // by shard and number
  std::vector<std::vector<std::uint32_t>> details_;  // by shard and Event::detail → raw_.details
  KinetoRawDetails raw_;
  std::vector<std::vector<std::uint32_t>> inputs_of_, stacks_of_;  // by shard and number
  std::atomic<std::uint64_t> duplicates_ = 0;
  std::vector<std::uint8_t> backward_names_;  // by string: a node of the graph; 2: the Python call that runs them all
};

}  // namespace loopscope
