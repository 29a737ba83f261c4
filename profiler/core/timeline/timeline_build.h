// Builds a Timeline from a Trace: linear passes over the events, then interval arithmetic on the results.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/core/timeline/launches.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// What the training thread did, each list by start.
struct Activity {
  struct Loader {
    Interval time;
    StringId name = 0;
    bool whole_wait = false;  // the range covers the whole `__next__` (Python), not only the sampler's call
  };
  std::vector<Loader> loaders;
  std::vector<Interval> backward;     // kBackward ranges and bursts of autograd nodes outside of them
  std::vector<Interval> optimizer;    // kOptimizer and kZeroGrad
  std::vector<Interval> steps_taken;  // kOptimizer alone
  std::vector<Interval> in_backward;  // kOptimizer and kZeroGrad that a hook of the backward pass calls
  std::vector<Interval> sync, communication, copies, evaluations;
  std::vector<Interval> waits;         // kWait of kMinWaitNs or more, outside ops and ranges above, not for other ranks
  std::vector<Interval> host_reads;    // outermost
  std::vector<Interval> compute;       // outermost ops of the model: they record a graph node, or are a layer below
  std::vector<Interval> graph_layers;  // outermost layers that record a graph node
  std::vector<Interval> outermost;     // all outermost ops …
  std::vector<bool> of_model;          // … and which of them record a graph node, or are a layer
  std::vector<Interval> layers;        // outermost convolutions, matmuls, batch norms, recurrent layers and cells
  std::vector<Interval> calls;         // outermost kForward: the model, where it is known when it was called
  std::vector<std::pair<std::int64_t, bool>> modes;  // begins of batch norms and dropouts whose inputs were recorded;
                                                     // whether in training mode
};

// A kWait shorter than this is not a wait for data: it only took the queue's lock.
inline constexpr std::int64_t kMinWaitNs = 20'000;

class TimelineBuilder {
 public:
  explicit TimelineBuilder(Trace trace);
  Timeline Build();

 private:
  // timeline_build_devices.cpp: what the devices did, and whether the trace shows it.
  void FindDevices();
  // timeline_build_recorded.cpp
  void DropUnrecordedSteps();
  std::int64_t HandedOverUntil() const;
  // timeline_build.cpp: one pass over all events.
  void ClassifyNames();
  void LinkParents();
  void FindTrainingThread();
  void IndexProducers();
  // timeline_build_activity.cpp: one pass over the training thread.
  void CollectActivity();
  void AddRange(const Event& range);
  void AddWait(const Interval& time, bool for_collective);
  void AddBackwardNodes();
  void AddUpdatesOfEngine();
  unsigned NameBits(const Event& event) const { return event.name < name_class_.size() ? name_class_[event.name] : 0; }
  void AddMode(EventRef op);
  // timeline_build_steps.cpp: fills the table of steps.
  void FindSteps();
  std::vector<StepEnd> BackwardBursts() const;
  std::int64_t FirstStepStart(std::int64_t first_end) const;
  void ChooseSteps();
  // timeline_build_cost.cpp
  void EstimateProbeCost();
  // timeline_build_lines.cpp: which line of the program each instant belongs to.
  void FindLines();
  // timeline_build_whole.cpp: what the run was spent on.
  void FindWhole();
  double StepsBetweenEvaluations() const;
  // timeline_build_parts.cpp: what each instant was spent on.
  void FindParts();
  // step_loader.cpp, step_evaluation.cpp
  IntervalSet LoaderWait() const;
  IntervalSet Forward() const;
  std::vector<Interval> EvaluatedBatches() const;
  void FindEvaluation();

  struct ThreadFacts {
    std::uint64_t graph_ops = 0, backward_nodes = 0, backward_ranges = 0;
  };

  Timeline timeline_;
  std::optional<StepLedger> ledger_;
  std::vector<std::uint8_t> name_class_;  // by string id, bits of NameClass
  std::vector<ThreadFacts> thread_facts_;
  std::vector<Launch> launches_;
  Activity activity_;
  Interval span_{INT64_MAX, INT64_MIN};  // of the training thread's events and marks
};

enum NameClass : std::uint8_t {
  kNameLayer = 1,
  kNameHostRead = 2,
  kNameBackwardNode = 4,
  kNamePythonLoader = 8,
  kNameMode = 16,
  kNameCollective = 32
};

// The first interval of `by_start` that starts at or after `time_ns`; null when there is none.
const Interval* FirstFrom(const std::vector<Interval>& by_start, std::int64_t time_ns);

}  // namespace loopscope
