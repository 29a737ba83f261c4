// Traces of PyTorch's profiler: each kind of event, in any order, packing and state of damage.
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "profiler/core/timeline/timeline.h"
#include "profiler/importers/importers.h"
#include "profiler/importers/kineto/run.h"
#include "tests/support/sanitized.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

fs::path Data(const std::string& name) {
  return fs::path(__FILE__).parent_path().parent_path() / "data/kineto" / name;
}

std::string Packed(const std::string& text) {
  std::string packed(text.size() + 4096, '\0');
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(packed.data());
  stream.avail_out = static_cast<std::uint32_t>(packed.size());
  EXPECT_EQ(isal_deflate_stateless(&stream), COMP_OK);
  packed.resize(stream.total_out);
  return packed;
}

std::string PackedByZstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

class KinetoImporter : public testing::Test {
 protected:
  fs::path Write(const std::string& text) {
    const fs::path path = fs::path(testing::TempDir()) /
                          (std::string("kineto_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  Trace Read(const std::string& text) {
    Result<Trace> trace = ReadAnyTrace(Write(text));
    if (!trace) ADD_FAILURE() << trace.error().Message();
    return trace ? std::move(*trace) : Trace{};
  }
  std::string Refusal(const std::string& text) {
    const Result<Trace> trace = ReadAnyTrace(Write(text));
    EXPECT_FALSE(trace.ok());
    return trace ? "" : trace.error().what;
  }
  Trace Elements(const std::string& elements) { return Read("{\"traceEvents\": [" + elements + "]}"); }
};

std::string Op(const std::string& name, const std::string& ts, const std::string& dur, const std::string& args = "") {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "pid": 7, "tid": 7, "ts": )" + ts + R"(, "dur": )" +
         dur + R"(, "args": {)" + args + "}}";
}

std::string Other(const std::string& cat, const std::string& name, int ts, int dur, const std::string& args = "") {
  return R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": 7, "tid": 7, "ts": )" +
         std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) + R"(, "args": {)" + args + "}}";
}

const Event* Find(const Trace& trace, std::string_view name) {
  for (const Thread& thread : trace.threads) {
    for (const Event& event : thread.events) {
      if (trace.text(event.name) == name) return &event;
    }
  }
  return nullptr;
}

bool Warns(const Trace& trace, std::string_view part) {
  return std::ranges::any_of(trace.quality.warnings,
                             [&](const Warning& one) { return one.text.find(part) != one.text.npos; });
}

std::vector<std::int64_t> StepEnds(const Trace& trace) {
  std::vector<std::int64_t> ends;
  for (const Mark& mark : trace.marks) {
    if (mark.kind == MarkKind::kStepEnd) ends.push_back(mark.time_ns);
  }
  return ends;
}

TEST_F(KinetoImporter, TimesKeepTheirNanoseconds) {
  const Trace trace = Read(R"({"traceEvents": [)" + Op("aten::a", "4458676522690.655", "156.777") + "," +
                           Op("aten::b", "4458676522700", "1") + "," + Op("aten::c", "4.458676522701e12", "2.0") +
                           R"(], "baseTimeNanoseconds": 1711964646000000001})");
  ASSERT_NE(Find(trace, "aten::a"), nullptr);
  EXPECT_EQ(Find(trace, "aten::a")->start_ns, 1711964646000000001 + 4458676522690655);
  EXPECT_EQ(Find(trace, "aten::a")->duration_ns(), 156777);
  EXPECT_EQ(Find(trace, "aten::b")->start_ns, 1711964646000000001 + 4458676522700000);
  EXPECT_EQ(Find(trace, "aten::c")->start_ns, 1711964646000000001 + 4458676522701000);
  EXPECT_TRUE(trace.quality.clean_end);
}

TEST_F(KinetoImporter, OrderOfTheFileDoesNotMatter) {
  const std::string events = Op("aten::outer", "10", "50") + "," + Op("aten::inner", "10", "50") + "," +
                             Op("aten::late", "70", "5") + "," + Op("aten::early", "1", "2");
  const std::string info = R"("distributedInfo": {"rank": 3, "world_size": 8, "backend": "nccl"})";
  for (const std::string& text :
       {"{" + info + ", \"traceEvents\": [" + events + "]}", "{\"traceEvents\": [" + events + "], " + info + "}"}) {
    const Trace trace = Read(text);
    EXPECT_EQ(trace.run.rank, 3);
    EXPECT_EQ(trace.run.ranks, 8);
    ASSERT_EQ(trace.threads.size(), 1u);
    std::vector<std::string> names;
    for (const Event& event : trace.threads[0].events) names.emplace_back(trace.text(event.name));
    EXPECT_EQ(names, (std::vector<std::string>{"aten::early", "aten::outer", "aten::inner", "aten::late"}));
  }
}

TEST_F(KinetoImporter, FieldsMayComeInAnyOrder) {
  const Trace trace = Elements(
      R"({"args": {"Sequence number": 5, "odd": [1, {"x": "]}"}]}, "dur": 4, "ts": 3, "tid": 7, "pid": 7,
          "name": "aten::\u00e9\n\"q\"", "cat": "cpu_op", "ph": "X"})");
  ASSERT_EQ(trace.threads.size(), 1u);
  const Event& event = trace.threads[0].events.at(0);
  EXPECT_EQ(trace.text(event.name), "aten::\u00e9\n\"q\"");
  EXPECT_EQ(event.sequence, 5u);
  EXPECT_EQ(event.end_ns, 7000);
}

TEST_F(KinetoImporter, InputsBecomeText) {
  const Trace trace = Elements(Op("aten::conv2d", "1", "2",
                                  R"("Concrete Inputs": ["", "", "", "[1, 1]", "True", "a;b"],
                                     "Input type": ["float", "c10::BFloat16", "", "ScalarList", "Scalar", "Scalar"],
                                     "Input Dims": [[8, 3, 8, 8], [4], [], [], [], []])"));
  const Event* op = Find(trace, "aten::conv2d");
  ASSERT_NE(op, nullptr);
  ASSERT_LT(op->detail, trace.details.size());
  EXPECT_EQ(trace.text(trace.details[op->detail].inputs), "f32[8,3,8,8];bf16[4];?;[1, 1];true;?");
  EXPECT_NE(op->shape_hash, 0u);
}

TEST_F(KinetoImporter, OpsThatLaunchHaveTheirTensorsOnTheDevice) {
  const std::string inputs = R"("Input type": ["float"], "Input Dims": [[4]])";
  const Trace trace = Elements(Op("aten::relu", "10", "20", inputs) + "," + Op("aten::view", "40", "2", inputs) + "," +
                               Other("cuda_runtime", "cudaLaunchKernel", 15, 3, R"("correlation": 9)") + "," +
                               Other("kernel", "relu_kernel", 30, 5, R"("device": 1, "stream": 7, "correlation": 9)"));
  const Event *relu = Find(trace, "aten::relu"), *view = Find(trace, "aten::view");
  ASSERT_TRUE(relu && view);
  EXPECT_EQ(trace.text(trace.details.at(relu->detail).inputs), "f32[4]@cuda:1");
  EXPECT_EQ(trace.text(trace.details.at(view->detail).inputs), "f32[4]");
  const Event* launch = Find(trace, "cudaLaunchKernel");
  ASSERT_NE(launch, nullptr);
  EXPECT_TRUE(launch->is_range(RangeCategory::kDeviceCall));
  EXPECT_EQ(launch->value, 9u);
}

TEST_F(KinetoImporter, DeviceWorkOfEachKind) {
  const Trace trace = Elements(
      Other("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 10, 5, R"("device": 0, "stream": 7, "bytes": 4096)") +
      "," + Other("gpu_memset", "Memset (Device)", 20, 5, R"("device": 0, "stream": 7, "bytes": 8)") + "," +
      Other("cuda_sync", "Stream Wait Event", 30, 5, R"("device": 0, "stream": 9)") + "," +
      Other("cuda_sync", "Context Sync", 32, 5, R"("device": 0, "stream": -1)") + "," +
      Other("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 40, 5,
            R"("device": 0, "stream": 20, "Collective name": "allreduce", "In msg nelems": 100, "Out msg nelems": 100,
               "Group size": 4, "dtype": "BFloat16", "Process Group Name": "0", "Seq": 12)") +
      "," + Other("hip_runtime", "hipDeviceSynchronize", 50, 5, R"("correlation": 3)"));
  ASSERT_EQ(trace.devices.size(), 1u);
  const std::vector<DeviceEvent>& events = trace.devices[0].events;
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].kind, DeviceKind::kCopy);
  EXPECT_EQ(events[0].copy, CopyKind::kHostToDevice);
  EXPECT_EQ(events[0].flags, kDevicePageable);
  EXPECT_EQ(events[0].bytes, 4096u);
  EXPECT_EQ(events[1].kind, DeviceKind::kMemset);
  EXPECT_EQ(events[2].kind, DeviceKind::kWait);
  EXPECT_EQ(events[2].stream, 9u);
  EXPECT_EQ(events[3].kind, DeviceKind::kCommunication);
  EXPECT_EQ(events[3].bytes, 200u);
  const Collective& collective = trace.collectives.at(events[3].group);
  EXPECT_EQ(trace.text(collective.operation), "allreduce");
  EXPECT_EQ(collective.ranks, 4);
  EXPECT_EQ(collective.sequence, 12u);
  ASSERT_NE(Find(trace, "hipDeviceSynchronize"), nullptr);
  EXPECT_TRUE(Find(trace, "hipDeviceSynchronize")->is_range(RangeCategory::kSync));
}

TEST_F(KinetoImporter, GraphOpsAreThoseThatTheNextNumberFollows) {
  const Trace trace = Elements(Op("aten::linear", "10", "20", R"("Sequence number": 4, "Fwd thread id": 0)") + "," +
                               Op("aten::addmm", "12", "10", R"("Sequence number": 4, "Fwd thread id": 0)") + "," +
                               Op("aten::detach", "40", "5", R"("Sequence number": 5, "Fwd thread id": 0)") + "," +
                               Op("aten::relu", "50", "5", R"("Sequence number": 5, "Fwd thread id": 0)") + "," +
                               Op("aten::sum", "60", "5", R"("Sequence number": 6, "Fwd thread id": 0)") + "," +
                               Op("ReluBackward0", "70", "5", R"("Sequence number": 5, "Fwd thread id": 1)"));
  const auto graph = [&](std::string_view name) { return (Find(trace, name)->flags & wire::kOpGraph) != 0; };
  EXPECT_TRUE(graph("aten::linear"));
  EXPECT_TRUE(graph("aten::addmm"));
  EXPECT_FALSE(graph("aten::detach"));
  EXPECT_TRUE(graph("aten::relu"));
  EXPECT_EQ(Find(trace, "ReluBackward0")->sub, 1);
  EXPECT_EQ(Find(trace, "aten::addmm")->flags & wire::kOpOutermost, 0);
}

TEST_F(KinetoImporter, PythonFramesTellWhere) {
  const Trace trace = Elements(Other("python_function", "train.py(30): <module>", 0, 100) + "," +
                               Other("python_function", "torch/nn/modules/module.py(1775): _call_impl", 8, 50) + "," +
                               Op("aten::relu", "10", "20") + "," + Op("aten::clamp_min", "11", "5"));
  Timeline timeline = Timeline::Build(trace);
  ASSERT_EQ(trace.threads.at(0).events.size(), 2u);
  const Where* where = timeline.where({0, 1});
  ASSERT_NE(where, nullptr);
  EXPECT_EQ(*where, (Where{"train.py", 0, "<module>"}));  // 30 is of the line that ran when recording began
}

// A function's name carries the line of its definition; where torch says from which line each call came, that is the
// place, for callers too.
TEST_F(KinetoImporter, CallsTellTheLine) {
  const auto call = [](const std::string& name, int start, int duration, const std::string& from) {
    return Other("python_function", name, start, duration, R"("CallFrom": ")" + from + R"(", "Python id": 1)") + ",";
  };
  const Trace trace = Elements(
      call("train.py(30): <module>", 0, 1000, "train.py:30") + call("train.py(9): loss_of", 10, 80, "train.py:31") +
      call("torch/nn/functional.py(2): relu", 20, 10, "train.py:12") +
      call("<built-in method relu of type object at 0x1>", 21, 5, "torch/nn/functional.py:3") +
      call("<built-in method item of Tensor object at 0x1>", 50, 10, "train.py:14") +
      call("torch/_tensor.py(5): backward", 100, 50, "train.py:32") +
      call("torch/_tensor.py(5): backward", 200, 50, "elsewhere.py:40") + Op("aten::relu", "22", "1") + "," +
      Op("aten::add", "40", "5") + "," + Op("aten::item", "52", "5") + "," + Op("aten::ones_like", "110", "5") + "," +
      Op("aten::zeros_like", "210", "5"));
  const auto stack_of = [&](std::string_view name) {
    const Event* const event = Find(trace, name);
    return trace.stacks.at(trace.details.at(event->detail).stack).frames;
  };
  const Where outer{"train.py", 31, "<module>"};
  EXPECT_EQ(stack_of("aten::relu"), (std::vector<Where>{{"train.py", 12, "loss_of"}, outer}));
  EXPECT_EQ(stack_of("aten::item"), (std::vector<Where>{{"train.py", 14, "loss_of"}, outer}));
  // Python's own operators are not calls: the line is unknown.
  EXPECT_EQ(stack_of("aten::add"), (std::vector<Where>{{"train.py", 0, "loss_of"}, outer}));
  EXPECT_EQ(stack_of("aten::ones_like"), (std::vector<Where>{{"train.py", 32, "<module>"}}));
  EXPECT_EQ(stack_of("aten::zeros_like"), (std::vector<Where>{{"train.py", 0, "<module>"}}));
}

TEST_F(KinetoImporter, StepsFromProfilerSteps) {
  std::string events;
  for (int i = 0; i < 5; ++i) {
    const int start = 1000 + i * 100;
    events += Other("user_annotation", "ProfilerStep#" + std::to_string(10 + i), start, 100) + ",";
    for (int op = 0; op < (i == 4 ? 1 : 10); ++op) events += Op("aten::mm", std::to_string(start + op * 5), "3") + ",";
  }
  const Trace trace = Elements(events + Op("aten::before", "500", "3"));
  EXPECT_EQ(StepEnds(trace), (std::vector<std::int64_t>{1'000'000, 1'100'000, 1'200'000, 1'300'000, 1'400'000}));
  EXPECT_TRUE(Warns(trace, "ProfilerStep#14 was cut off"));
  const Timeline timeline = Timeline::Build(trace);
  EXPECT_EQ(timeline.clock(), "ProfilerStep");
  EXPECT_EQ(timeline.steady().size(), 4u);
  EXPECT_DOUBLE_EQ(timeline.mean_step_ms(), 0.1);
}

TEST_F(KinetoImporter, RecordedTraceOfACpuLoop) {
  for (const char* name : {"cpu_full.json.gz", "cpu_plain.json.gz"}) {
    Result<Trace> read = ReadAnyTrace(Data(name));
    ASSERT_TRUE(read) << read.error().Message();
    EXPECT_TRUE(read->quality.clean_end);
    EXPECT_TRUE(read->quality.warnings.empty()) << read->quality.warnings.front().text;
    EXPECT_EQ(read->run.source, "kineto");
    EXPECT_TRUE(read->run.started.starts_with("20")) << read->run.started;
    const Timeline timeline = Timeline::Build(std::move(*read));
    EXPECT_EQ(timeline.clock(), "ProfilerStep");
    EXPECT_EQ(timeline.steady().size(), 4u);
    EXPECT_TRUE(timeline.loader_known());
    for (const Part part : {Part::kLoaderWait, Part::kForward, Part::kBackward, Part::kOptimizer}) {
      EXPECT_GT(timeline.part_ms(part), 0) << name << " " << PartName(part);
    }
    std::set<std::string> readers;
    timeline.ForEachSteady([&](EventRef ref) {
      if (timeline.name(ref) == "aten::item" && timeline.where(ref)) readers.insert(timeline.where(ref)->path);
    });
    EXPECT_EQ(readers.contains("train.py"), std::string_view(name) == "cpu_full.json.gz");
  }
}

TEST_F(KinetoImporter, EveryTearUsesWhatCameBefore) {
  const std::string whole = "{\"traceEvents\": [" + Op("aten::a", "1", "2") + ",\n" + Op("aten::b", "5", "2") + ",\n" +
                            Op("aten::c", "9", "2") + "]}";
  const std::size_t first_end = whole.find("}}") + 2;
  for (std::size_t size = first_end; size < whole.size(); ++size) {
    const Trace trace = Read(whole.substr(0, size));
    std::size_t expected = 0;
    for (std::size_t at = whole.find("}}"); at != whole.npos && at + 2 <= size; at = whole.find("}}", at + 2)) {
      ++expected;
    }
    ASSERT_EQ(trace.threads.at(0).events.size(), expected) << size;
    ASSERT_FALSE(trace.quality.clean_end);
    ASSERT_TRUE(Warns(trace, "cut off")) << size;
  }
}

TEST_F(KinetoImporter, PackedTracesOfAnyNumberOfMembers) {
  const std::string text = "{\"traceEvents\": [" + Op("aten::a", "1", "2") + "," + Op("aten::b", "5", "2") + "]}";
  const Trace joined = Read(Packed(text.substr(0, 90)) + Packed(text.substr(90)));
  EXPECT_EQ(joined.quality.events, 2u);
  EXPECT_TRUE(joined.quality.clean_end);
  EXPECT_EQ(Read(PackedByZstd(text)).quality.events, 2u);
  std::string torn = Packed(text);
  torn.resize(torn.size() - 12);
  EXPECT_TRUE(Warns(Read(torn), "ends early"));
  std::string damaged = Packed(text);
  damaged[damaged.size() - 6] ^= 1;
  EXPECT_TRUE(Warns(Read(damaged), "checksum"));
}

TEST_F(KinetoImporter, ImpossibleTimesAreLeftOutAndSaid) {
  const Trace trace = Elements(Op("aten::a", "1", "-2") + "," + Op("aten::b", "1e300", "2") + "," +
                               Op("aten::c", "99999999999999999999999", "2") + "," + Op("aten::d", "5", "2"));
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.threads[0].events.size(), 1u);
  EXPECT_TRUE(Warns(trace, "3 events have impossible times"));
}

TEST_F(KinetoImporter, OverlapOnOneStreamIsSaid) {
  const Trace trace = Elements(Other("kernel", "a", 10, 50, R"("device": 0, "stream": 7)") + "," +
                               Other("kernel", "b", 20, 5, R"("device": 0, "stream": 7)") + "," +
                               Other("kernel", "c", 20, 5, R"("device": 0, "stream": 8)"));
  EXPECT_TRUE(Warns(trace, "1 piece of device work overlaps"));
}

TEST_F(KinetoImporter, HugeAndDeepElementsAreLeftOutAndSaid) {
  const std::string huge = R"({"ph": "X", "name": ")" + std::string(20u << 20, 'x') + R"("},)";
  const std::string deep = R"({"args": )" + std::string(100'000, '[') + std::string(100'000, ']') + "},";
  const Trace trace = Elements(huge + deep + "17, \"}]\", null," + Op("aten::a", "5", "2"));
  EXPECT_EQ(trace.threads.at(0).events.size(), 1u);
  EXPECT_TRUE(Warns(trace, "of more than 16 MiB left out"));
}

TEST_F(KinetoImporter, DamagedElementsAreLeftOutAndSaid) {
  const Trace trace =
      Elements(Op("aten::a", "5", "2") + R"(,{"ph": "X", "name" "x"}, {[1}], )" + Op("aten::b", "9", "2"));
  EXPECT_EQ(trace.threads.at(0).events.size(), 2u);
  EXPECT_TRUE(Warns(trace, "damaged event"));
}

TEST_F(KinetoImporter, WhatIsNoTraceIsRefused) {
  const std::string unknown = "is not a trace format Loopscope knows";
  EXPECT_EQ(Refusal("{\"command\": [\"python\"]}"), unknown);
  EXPECT_EQ(Refusal("[2026-01-01 10:00:00] epoch 1\n{loss: 2}\n"), unknown);
  EXPECT_EQ(Refusal("{\"step\": 1}\n{\"step\": 2}\n"), unknown);
  EXPECT_EQ(Refusal("[{\"step\": 1}, {\"step\": 2}]"), unknown);
  EXPECT_EQ(Refusal("# not JSON"), unknown);
  EXPECT_EQ(Refusal("{\"text\": \"" + std::string(5000, 'x') + "\"}"),
            "holds no \"traceEvents\": it is not a trace of PyTorch's profiler");
  EXPECT_EQ(Refusal("{\"traceEvents\": []}"), "holds no events: nothing was recorded");
  EXPECT_EQ(Refusal("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"v8\", \"ts\": 1}]}"),
            "holds no event that PyTorch's profiler writes");
  EXPECT_EQ(Refusal(""), "is empty");
  EXPECT_EQ(Refusal(PackedByZstd("")), "is empty");
  EXPECT_EQ(Refusal("\x1f\x8b garbage"), "the compressed data is damaged");
}

TEST(KinetoSniff, LooksForWhatTracesHold) {
  for (const char* trace :
       {"{\"traceEvents\": [", " \n{ \"schemaVersion\" : 1, \"deviceProperties\": [",
        "\xef\xbb\xbf{\"traceEvents\":[]}", "[{\"name\": \"a\", \"ph\": \"X\"}]", "[{\"args\": {\"a\": [1"}) {
    EXPECT_TRUE(MayBeKineto(trace)) << trace;
  }
  for (const char* other :
       {"", "x", "{}", "[]", "[1, 2]", "{'a': 1}", "{\"a\" 1}", "{\"a\": }", "{\"a\": 1} {\"ph\": 2}",
        "[[{\"ph\": 1}]]", "[{\"a\": {\"ph\": 1}}]", "{\"a\": {\"traceEvents\": []}}"}) {
    EXPECT_FALSE(MayBeKineto(other)) << other;
  }
}

// Wherever a trace's head ends, it is still recognised as one.
TEST(KinetoSniff, AnyHeadOfATraceMayBeOne) {
  for (const std::string trace :
       {"{\"schemaVersion\": 1, \"note\": \"a\\\"b\", \"x\": [{\"y\": 1.5}], \"traceEvents\": []}",
        "[ {\"name\": \"a\", \"dur\": -1e3, \"ph\": \"X\"}]"}) {
    for (std::size_t size = 1; size <= trace.size(); ++size) {
      EXPECT_TRUE(MayBeKineto(trace.substr(0, size))) << trace.substr(0, size);
    }
  }
}

TEST_F(KinetoImporter, ABombIsRefused) {
  if (test::kSanitized) GTEST_SKIP() << "more than a gigabyte is read";
  const std::string member = PackedByZstd(std::string(64u << 20, ' '));
  std::string bomb = PackedByZstd("{\"traceEvents\": [");
  for (int i = 0; i < 20; ++i) bomb += member;
  EXPECT_NE(Refusal(bomb).find("expands to more than"), std::string::npos);
}

// Many windows, several readers: every event arrives once, and in order.
TEST_F(KinetoImporter, LargeTracesComeOutWholeAndTheSameEachTime) {
  constexpr int kOps = 30'000;
  std::string events;
  for (int i = 0; i < kOps; ++i) {
    events += Op("aten::op_" + std::to_string(i % 97), std::to_string(1000 + i), "0.5",
                 R"("Input type": ["float"], "Input Dims": [[)" + std::to_string(i % 5) + "]]") +
              ",\n";
  }
  const std::string text = "{\"traceEvents\": [" + events + Op("aten::last", "900000", "1") + "]}";
  const Trace first = Read(text), second = Read(text);
  ASSERT_EQ(first.threads.at(0).events.size(), kOps + 1u);
  EXPECT_EQ(first.strings, second.strings);
  for (int i = 0; i < kOps; ++i) {
    const Event& event = first.threads[0].events[static_cast<std::size_t>(i)];
    ASSERT_EQ(event.start_ns, (1000 + i) * 1000);
    ASSERT_EQ(first.text(event.name), "aten::op_" + std::to_string(i % 97));
    ASSERT_EQ(event.detail, second.threads[0].events[static_cast<std::size_t>(i)].detail);
  }
}

}  // namespace
}  // namespace loopscope
