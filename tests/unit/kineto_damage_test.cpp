// A trace with known figures, damaged in typical ways: the figures must be right, or the report says what is missing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "profiler/core/report/report.h"
#include "profiler/core/timeline/timeline.h"
#include "profiler/importers/importers.h"

namespace loopscope {
namespace {

constexpr std::int64_t kUs = 1'000, kMs = 1'000'000, kDay = 86'400'000 * kMs;
constexpr int kSteps = 12;

struct Element {
  std::string phase, category, name, pid, tid;  // pid and tid as in JSON: 4242, "4242"
  std::int64_t start_ns = 0, length_ns = 0;
  int order = 0, correlation = 0, stream = -1;
  std::string more = {};  // arguments

  std::int64_t end_ns() const { return start_ns + length_ns; }
  bool on_device() const { return category == "kernel" || category == "Kernel"; }
  bool is_step() const { return name.starts_with("ProfilerStep"); }
};
using Elements = std::vector<Element>;

// Per step of 10 ms: 8 ms of kernels, 3 ms of a collective, 1 ms of that under no kernel; the GPU is busy for 9 ms.
// On the host 12 outermost operators.
class Recording {
 public:
  Recording() {
    for (int step = 0; step < kSteps; ++step) AddStep(step, 5'000 * kMs + step * 10 * kMs);
  }
  Elements elements;

 private:
  void Host(const char* category, std::string name, std::int64_t start_ns, std::int64_t length_ns,
            int correlation = 0) {
    elements.push_back({"X", category, std::move(name), "4242", "4242", start_ns, length_ns, ++order_, correlation});
  }
  void Kernel(const char* name, std::int64_t start_ns, std::int64_t length_ns, int stream, std::string more = "") {
    elements.push_back(
        {"X", "kernel", name, "0", std::to_string(stream), start_ns, length_ns, order_, correlation_, stream, more});
  }

  void AddStep(int step, std::int64_t at) {
    Host("user_annotation", "ProfilerStep#" + std::to_string(step + 5), at, 9'990 * kUs);
    for (int k = 0; k < 8; ++k) {
      const std::int64_t start = at + (100 + 40 * k) * kUs;
      Host("cpu_op", "aten::linear", start, 30 * kUs);
      Host("cpu_op", "aten::addmm", start + 2'300, 20 * kUs);
      Host("cuda_runtime", "cudaLaunchKernel", start + 4'700, 5 * kUs, ++correlation_);
      Kernel("ampere_sgemm_128x64_tn", at + (200 + 1000 * k) * kUs, 1000 * kUs, 7);
    }
    Host("cpu_op", "c10d::allreduce_", at + 440 * kUs, 30 * kUs);
    Host("cuda_runtime", "cudaLaunchKernelExC", at + 445 * kUs, 5 * kUs, ++correlation_);
    Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + 6'200 * kUs, 3'000 * kUs, 20,
           R"("Collective name": "allreduce", "In msg nelems": 1000, "dtype": "Float", "Process Group Name": "0")");
    // Shorter than a microsecond; and one whose inner operator begins in the microsecond of its end, every other time.
    Host("cpu_op", "aten::detach", at + 472 * kUs + 200, 700);
    Host("cpu_op", "detach", at + 472 * kUs + 400, 300);
    Host("cpu_op", "aten::to", at + 474 * kUs + 300, step % 2 ? 3'900 : 900);
    Host("cpu_op", "aten::_to_copy", at + 475 * kUs, step % 2 ? 2'100 : 100);
    Host("cpu_op", "aten::item", at + 480 * kUs, 8'800 * kUs);
    Host("cpu_op", "aten::_local_scalar_dense", at + 482 * kUs, 8'790 * kUs);
    Host("cuda_runtime", "cudaStreamSynchronize", at + 484 * kUs, 8'780 * kUs, ++correlation_);
  }

  int order_ = 0, correlation_ = 0;
};

std::string Time(std::int64_t ns) {
  return ns % kUs == 0 ? std::to_string(ns / kUs) : fmt::format("{}.{:03}", ns / kUs, ns % kUs);
}

std::string Json(const Element& one) {
  std::string args = fmt::format(R"("External id": {})", one.order);
  if (one.correlation > 0) args += fmt::format(R"(, "correlation": {})", one.correlation);
  if (one.stream >= 0) args += fmt::format(R"(, "device": 0, "stream": {})", one.stream);
  if (!one.more.empty()) args += ", " + one.more;
  if (one.phase == "E")
    return fmt::format(R"({{"ph": "E", "pid": {}, "tid": {}, "ts": {}}})", one.pid, one.tid, Time(one.start_ns));
  return fmt::format(R"({{"ph": "{}", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}{}, "args": {{{}}}}})",
                     one.phase, one.category, one.name, one.pid, one.tid, Time(one.start_ns),
                     one.phase == "X" ? ", \"dur\": " + Time(one.length_ns) : "", args);
}

struct Damage {
  std::string name;
  std::function<void(Elements&)> act;
  std::string says = {};  // in a warning, or in why the device is not known; empty: nothing is missing
  std::function<void(std::string&)> tear = {};
  double within_pct = 0.1;  // of the figures, where they are given

  friend void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }
};

std::string Quoted(const std::string& text) {
  return '"' + text + '"';
}

void ForEach(Elements& all, const std::function<void(Element&)>& change) {
  std::ranges::for_each(all, change);
}

// Every `nth` of those that pass.
std::function<void(Elements&)> Some(int nth, bool (*passes)(const Element&), std::function<void(Element&)> change) {
  return [=](Elements& all) {
    int seen = 0;
    for (Element& one : all) {
      if (passes(one) && ++seen % nth == 0) change(one);
    }
  };
}

bool IsKernel(const Element& one) {
  return one.on_device() && one.stream == 7;
}
bool IsOp(const Element& one) {
  return one.name == "aten::addmm";
}

void RemoveMarked(Elements& all) {
  std::erase_if(all, [](const Element& one) { return one.phase.empty(); });
}

void FloorAll(Elements& all) {
  ForEach(all, [](Element& one) {
    const std::int64_t end_ns = one.end_ns() / kUs * kUs;
    one.start_ns = one.start_ns / kUs * kUs;
    one.length_ns = end_ns - one.start_ns;
  });
}

void Halve(Elements& all) {
  Elements halves;
  for (Element one : all) {
    Element end = one;
    one.phase = "B";
    end.phase = "E";
    end.start_ns = one.end_ns();
    halves.push_back(one);
    halves.push_back(end);
  }
  std::ranges::stable_sort(halves, {}, &Element::start_ns);
  all = halves;
}

// A second process that does the same half a step later.
void Merge(Elements& all, const std::string& first, const std::string& second, bool device_pids, int correlations) {
  Elements other = all;
  for (Element& one : other) {
    one.start_ns += 5 * kMs;
    if (one.correlation > 0) one.correlation += correlations;
  }
  const auto rename = [&](Element& one, const std::string& process) {
    const std::string separator = process.find(':') == process.npos ? "" : ":";
    if (one.on_device() && !device_pids) return;
    one.pid = separator.empty() ? process : Quoted(process + one.pid);
  };
  for (Element& one : all) rename(one, first);
  for (Element& one : other) rename(one, second);
  all.insert(all.end(), other.begin(), other.end());
}

const std::vector<Damage>& Damages() {
  static const std::vector<Damage> all{
      {"none", [](Elements&) {}},
      {"shuffled", [](Elements& of) { std::shuffle(of.begin(), of.end(), std::mt19937(1)); }},
      {"pids in quotes", [](Elements& of) { ForEach(of, [](Element& one) { one.pid = Quoted(one.pid); }); }},
      {"named pids", [](Elements& of) { ForEach(of, [](Element& one) { one.pid = Quoted("trainer:" + one.pid); }); }},
      {"named threads",
       [](Elements& of) {
         ForEach(of, [](Element& one) { one.tid = one.on_device() ? Quoted("stream " + one.tid) : Quoted("main"); });
       }},
      {"streams by thread only",
       [](Elements& of) {
         ForEach(of, [](Element& one) {
           if (one.on_device()) one.tid = Quoted("stream " + one.tid), one.stream = -1;
         });
       }},
      {"categories of torch 1.8",
       [](Elements& of) {
         ForEach(of, [](Element& one) {
           if (one.category == "kernel") one.category = "Kernel";
           if (one.category == "cuda_runtime") one.category = "Runtime";
           if (one.category == "cpu_op" || one.is_step()) one.category = "Operator";
         });
       }},
      {"whole microseconds", FloorAll},
      {"whole microseconds, inner operators first",
       [](Elements& of) {
         FloorAll(of);
         std::ranges::reverse(of);
       }},
      {"whole microseconds, shuffled",
       [](Elements& of) {
         FloorAll(of);
         std::shuffle(of.begin(), of.end(), std::mt19937(2));
       }},
      {"begins and ends", Halve},
      {"a begin without its end",
       [](Elements& of) {
         Halve(of);
         std::erase_if(of, [](const Element& one) { return one.phase == "E" && one.order == 5; });
       },
       "other half"},
      {"everything twice",
       [](Elements& of) {
         const Elements once = of;
         of.insert(of.end(), once.begin(), once.end());
       },
       "twice"},
      {"infinite arguments",
       [](Elements& of) {
         ForEach(of, [](Element& one) {
           if (one.on_device())
             one.more += (one.more.empty() ? "" : ", ") + std::string(R"x("memory bandwidth (GB/s)": inf)x");
         });
       }},
      {"kernels at 0", Some(8, IsKernel, [](Element& one) { one.start_ns = 0; }), "no time (0)"},
      {"an operator at 0", Some(90, IsOp, [](Element& one) { one.start_ns = 0; }), "1 event has no time (0)"},
      {"a kernel of days",
       Some(90, IsKernel, [](Element& one) { one.length_ns = 4 * kDay; }),
       "longer than the trace",
       {},
       2},
      {"an operator of days", Some(90, IsOp, [](Element& one) { one.length_ns = 4 * kDay; }), "longer than the trace"},
      {"an operator a year later", Some(90, IsOp, [](Element& one) { one.start_ns += 365 * kDay; }), "days away"},
      {"overlapping steps",
       [](Elements& of) {
         ForEach(of, [](Element& one) {
           if (one.is_step() && one.name != "ProfilerStep#16") one.length_ns += 700 * kUs;
         });
       },
       "begin before the one before them ends"},
      {"two processes, named", [](Elements& of) { Merge(of, "rank0:", "rank1:", true, 0); }, "rank0:4242 is shown"},
      {"two processes, one device pid", [](Elements& of) { Merge(of, "4242", "4343", false, 5000); },
       "pid 4242 is shown"},
      {"launches missing",
       [](Elements& of) {
         Some(
             2, [](const Element& one) { return one.name == "cudaLaunchKernel"; },
             [](Element& one) { one.phase.clear(); })(of);
         RemoveMarked(of);
       },
       "why it stood still is unknown"},
      {"no correlations",
       [](Elements& of) { ForEach(of, [](Element& one) { one.correlation = one.on_device() ? 0 : one.correlation; }); },
       "left no kernel"},
      {"kernels of some steps missing",
       [](Elements& of) {
         Some(
             2,
             [](const Element& one) {
               return IsKernel(one) && one.start_ns > 5'040 * kMs && one.start_ns < 5'060 * kMs;
             },
             [](Element& one) { one.phase.clear(); })(of);
         RemoveMarked(of);
       },
       "left no kernel"},
      {"cut off", [](Elements&) {}, "the trace is cut off",
       [](std::string& text) { text.resize(text.size() * 5 / 6); }},
  };
  return all;
}

class DamagedTrace : public testing::TestWithParam<Damage> {};

TEST_P(DamagedTrace, GivesItsFiguresOrSaysWhatIsMissing) {
  const Damage& damage = GetParam();
  Elements elements = Recording().elements;
  damage.act(elements);
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (const Element& one : elements) text += Json(one) + ",\n";
  text += R"({"name": "process_sort_index", "ph": "M", "pid": 1, "args": {}}]})";
  if (damage.tear) damage.tear(text);
  const auto path = std::filesystem::path(testing::TempDir()) / "kineto_damage.json";
  std::ofstream(path, std::ios::binary) << text;
  Result<Trace> trace = ReadAnyTrace(path);
  ASSERT_TRUE(trace.ok()) << trace.error().Message();
  const Timeline timeline = Timeline::Build(std::move(*trace));

  std::string said = timeline.device_coverage().why_not + "\n" + timeline.device_coverage().why_no_causes;
  for (const Warning& warning : timeline.trace().quality.warnings) said += "\n" + warning.text;
  if (damage.says.empty()) {
    EXPECT_EQ(said, "\n");
  } else {
    EXPECT_THAT(said, testing::HasSubstr(damage.says));
  }

  EXPECT_GE(timeline.steps().size(), damage.tear ? 9u : kSteps);
  const double allowed = damage.within_pct / 100;
  EXPECT_NEAR(timeline.mean_step_ms(), 10, 10 * allowed);
  double outermost = 0;
  timeline.ForEachSteady([&](EventRef ref) { outermost += timeline.outermost_op(ref); });
  EXPECT_NEAR(outermost / static_cast<double>(timeline.steady().size()), 12, 0.05);

  const std::optional<GpuFacts> gpu = GpuFactsOf(timeline);
  ASSERT_TRUE(gpu);
  const auto per_step_ms = [&](double us) { return us / 1e3 / gpu->steps; };
  if (gpu->busy_pct) {
    EXPECT_NEAR(*gpu->busy_pct, 90, 90 * allowed);
    EXPECT_NEAR(per_step_ms(gpu->compute_us), 8, 8 * allowed);
    EXPECT_NEAR(per_step_ms(gpu->communication_us), 3, 3 * allowed);
    EXPECT_NEAR(*gpu->comm_overlap_pct, 200.0 / 3, 100 * allowed);
  } else {
    EXPECT_FALSE(gpu->incomplete.empty());
    EXPECT_FALSE(gpu->idle_pct);
    EXPECT_LE(per_step_ms(gpu->compute_us), 8 * (1 + allowed));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedTrace, testing::ValuesIn(Damages()));

}  // namespace
}  // namespace loopscope
