// The trace for ui.perfetto.dev, read back as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "profiler/core/format.h"
#include "reports/formats.h"
#include "tests/support/sample_report.h"
#include "tests/support/trace_builder.h"

namespace loopscope {
namespace {

using nlohmann::json;

constexpr std::int64_t kStart = 5'000'000'000'123'456;

StringId Intern(Trace& trace, std::string_view text) {
  trace.strings.emplace_back(text);
  return static_cast<StringId>(trace.strings.size() - 1);
}

void AddRange(Trace& trace, Thread& thread, std::string_view name, RangeCategory category, std::int64_t start_ns,
              std::int64_t end_ns, std::uint32_t value = 0) {
  Event event;
  event.start_ns = start_ns;
  event.end_ns = end_ns;
  event.name = Intern(trace, name);
  event.kind = EventKind::kRange;
  event.sub = static_cast<std::uint8_t>(category);
  event.value = value;
  thread.events.push_back(event);
}

// Six steps of 10 ms: backward, a launch, a kernel; then two ranges that overlap.
Trace SmallTrace(const std::string& odd_name = "odd") {
  Trace trace;
  trace.run.source = "nsys";
  Thread thread{100, 101, odd_name, {}};
  Device device{"NVIDIA \"Test\"", 0, {}};
  const StringId step_name = Intern(trace, "nvtx:step"), kernel = Intern(trace, "gemm<" + odd_name + ">");
  for (std::uint32_t step = 0; step < 6; ++step) {
    const std::int64_t at = kStart + step * 10'000'000;
    AddRange(trace, thread, "backward", RangeCategory::kBackward, at, at + 6'000'000);
    AddRange(trace, thread, "cudaLaunchKernel", RangeCategory::kDeviceCall, at + 1'000'000, at + 1'010'000, step + 1);
    DeviceEvent event;
    event.start_ns = at + 2'000'000;
    event.end_ns = at + 5'000'000;
    event.name = kernel;
    event.stream = 7;
    event.correlation = step + 1;
    device.events.push_back(event);
    trace.marks.push_back({at + 9'999'999, MarkKind::kStepEnd, step_name, 32, 0});
  }
  AddRange(trace, thread, odd_name, RangeCategory::kUser, kStart + 60'000'000, kStart + 60'500'000);
  AddRange(trace, thread, "overlaps", RangeCategory::kUser, kStart + 60'200'000, kStart + 60'900'000);
  trace.threads.push_back(std::move(thread));
  trace.devices.push_back(std::move(device));
  return trace;
}

Report ReportWith(Trace trace) {
  Report report = ReportOf(std::make_shared<const Timeline>(Timeline::Build(std::move(trace))));
  report.findings = test::SampleReport().findings;
  return report;
}

std::string Text(const Report& report) {
  Output output;
  EXPECT_TRUE(FindFormat("perfetto")->write(report, output));
  return output.bytes;
}

json Events(const Report& report) {
  return json::parse(Text(report)).at("traceEvents");
}

std::vector<json> Named(const json& events, const std::string& name, const char* phase = "X") {
  std::vector<json> found;
  for (const json& event : events) {
    if (event.at("ph") == phase && event.at("name") == name) found.push_back(event);
  }
  return found;
}

TEST(Perfetto, EventsKeepTheirTimesToTheNanosecond) {
  const json events = Events(ReportWith(SmallTrace()));
  const std::vector<json> kernels = Named(events, "gemm<odd>");
  ASSERT_EQ(kernels.size(), 6u);
  EXPECT_EQ(kernels[0].at("ts"), 2000.0);
  EXPECT_EQ(kernels[1].at("ts"), 12000.0);
  EXPECT_EQ(kernels[1].at("dur"), 3000.0);
  EXPECT_EQ(kernels[1].at("tid"), 7);
  const std::vector<json> overlap = Named(events, "overlaps");
  EXPECT_EQ(overlap.at(0).at("ts"), 60200.0);
}

TEST(Perfetto, StepsAndTheirPartsAreTracks) {
  const json events = Events(ReportWith(SmallTrace()));
  EXPECT_EQ(Named(events, "step 0, warm-up").size(), 1u);
  const std::vector<json> steps = Named(events, "step 3");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].at("args").at("samples"), 32);
  EXPECT_NEAR(steps[0].at("args").at("backward_ms").get<double>(), 6, 1e-6);
  std::size_t parts = 0;
  for (const json& event : events) parts += event.value("cat", "") == "part";
  EXPECT_GE(parts, 6u);
}

TEST(Perfetto, FollowedLinesAreATrackOfTheirOwn) {
  Trace trace = SmallTrace();
  trace.run.working_directory = "/home/ann";
  trace.stacks.push_back({{{"/home/ann/train.py", 36, "step"}}, {}});
  const StringId collect = Intern(trace, "gc.collect");
  trace.threads[0].lines = {{kStart, kStart + 4'000'000, 0, collect, 1, 0},
                            {kStart + 4'000'000, kStart + 5'000'000, 0, 0, 0, 1}};
  const json events = Events(ReportWith(std::move(trace)));
  const std::vector<json> lines = Named(events, "train.py:36 in step");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("args").at("calls"), "gc.collect");
  EXPECT_EQ(lines[0].at("dur"), 4000.0);
  EXPECT_EQ(lines[1].count("args"), 0u);
}

TEST(Perfetto, LaunchesPointAtTheirKernels) {
  const json events = Events(ReportWith(SmallTrace()));
  const std::vector<json> starts = Named(events, "launch", "s"), ends = Named(events, "launch", "f");
  ASSERT_EQ(starts.size(), 6u);
  ASSERT_EQ(ends.size(), 6u);
  EXPECT_EQ(starts[2].at("id"), ends[2].at("id"));
  EXPECT_EQ(starts[2].at("tid"), 101);
  EXPECT_EQ(ends[2].at("tid"), 7);
  EXPECT_EQ(ends[2].at("ts"), 22000.0);
}

TEST(Perfetto, IdleTimeHasItsCauses) {
  const Report report = ReportWith(SmallTrace());
  double written_us = 0;
  for (const json& event : Events(report)) {
    if (event.value("cat", "") == "idle") written_us += event.at("dur").get<double>();
  }
  EXPECT_NEAR(written_us, static_cast<double>(report.timeline->devices()[0].times().idle) / 1e3, 0.01);
  EXPECT_GT(written_us, 0);
}

TEST(Perfetto, FindingsAreInstantsWithTheirAdvice) {
  const Report report = ReportWith(SmallTrace());
  std::size_t instants = 0;
  for (const json& event : Events(report)) {
    if (event.at("ph") != "i") continue;
    const Finding& finding = report.findings.at(instants++);
    EXPECT_EQ(event.at("name"), finding.title);
    EXPECT_EQ(event.at("args").at("rule"), finding.rule);
    EXPECT_EQ(event.at("args").at("advice"), finding.advice);
    EXPECT_GE(event.at("ts").get<double>(), 0);
  }
  EXPECT_EQ(instants, report.findings.size());
}

// On one track a slice lies inside another or beside it: the page draws anything else wrongly.
TEST(Perfetto, SlicesOfATrackNest) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::pair<double, double>>> tracks;
  for (const json& event : Events(ReportWith(SmallTrace()))) {
    if (event.at("ph") != "X") continue;
    const double start = event.at("ts"), end = start + event.at("dur").get<double>();
    tracks[{event.at("pid"), event.at("tid")}].emplace_back(start, end);
  }
  EXPECT_GT(tracks.size(), 4u);
  for (auto& [track, slices] : tracks) {
    for (const auto& a : slices) {
      for (const auto& b : slices) {
        const bool crosses = a.first < b.first && b.first < a.second && a.second < b.second;
        EXPECT_FALSE(crosses) << track.second << ": " << a.first << " " << b.first;
      }
    }
  }
}

TEST(Perfetto, HostileNamesAreInert) {
  for (const std::string& name :
       {std::string("</script><script>alert(1)</script>"), std::string("\x1b[31m\"\\\n\0x", 10),
        std::string("\xff\xc0\xaf"), std::string(1 << 20, 'x')}) {
    const Report report = ReportWith(SmallTrace(name));
    const std::string text = Text(report);
    EXPECT_EQ(text.find("</script"), text.npos);
    EXPECT_EQ(text.find('\x1b'), text.npos);
    EXPECT_LT(text.size(), 100'000u) << "names are cut";
    std::size_t kernels = 0;
    for (const json& event : Events(report)) kernels += event.value("cat", "") == "device";
    EXPECT_EQ(kernels, 6u);
  }
}

TEST(Perfetto, WithoutEventsItSaysWhy) {
  const json trace = json::parse(Text(test::SampleReport()));
  EXPECT_THAT(trace.at("otherData").at("note").get<std::string>(), testing::HasSubstr("read from JSON"));
  EXPECT_FALSE(trace.at("traceEvents").empty());
  EXPECT_TRUE(json::accept(Text(ReportWith(Trace{}))));
}

}  // namespace
}  // namespace loopscope
