// Dumps of PyTorch's flight recorder and NCCL Inspector's lines: what is read of them, and that nothing in them runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "profiler/importers/flight/dump.h"
#include "profiler/importers/importers.h"

namespace loopscope {
namespace {

using testing::HasSubstr;

std::string Little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

// Writes a value as torch's pickler does: protocol 2, texts kept for later.
std::string Pickled(const nlohmann::json& value) {
  if (value.is_null()) return "N";
  if (value.is_boolean()) return value.get<bool>() ? "\x88" : "\x89";
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (number >= 0 && number < 256) return "K" + Little(static_cast<std::uint64_t>(number), 1);
    return "\x8a\x08" + Little(static_cast<std::uint64_t>(number), 8);
  }
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return "X" + Little(text.size(), 4) + text + "q\x07";
  }
  std::string items = "(";
  if (value.is_array()) {
    for (const auto& one : value) items += Pickled(one);
    return "]" + items + "e";
  }
  for (const auto& [key, one] : value.items()) items += Pickled(key) + Pickled(one);
  return "}" + items + "u";
}

std::string Program(const std::string& body) {
  return "\x80\x02" + body + ".";
}

nlohmann::json Entry(int number, const std::string& state, bool retired = false) {
  return {
      {"frames",
       {{{"name", "all_reduce"}, {"filename", "/v/site-packages/torch/distributed/distributed_c10d.py"}, {"line", 3}},
        {{"name", "train"}, {"filename", "/home/user/train.py"}, {"line", 41}}}},
      {"pg_id", 0},
      {"process_group", {"0", "default_pg"}},
      {"collective_seq_id", number},
      {"p2p_seq_id", 0},
      {"profiling_name", "nccl:all_reduce"},
      {"time_created_ns", 1'795'737'817'136'110'210 + number},
      {"input_sizes", {{1024, 2}}},
      {"input_dtypes", {"Float"}},
      {"output_sizes", {{1024, 2}}},
      {"output_dtypes", {"Float"}},
      {"state", state},
      {"time_discovered_completed_ns", nullptr},
      {"retired", retired},
      {"is_p2p", false}};
}

nlohmann::json Dump() {
  return {{"version", "2.10"},
          {"pg_config", {{"0", {{"name", "0"}, {"desc", "default_pg"}, {"ranks", "[0, 1, 2, 3]"}}}}},
          {"entries", {Entry(1, "completed"), Entry(2, "scheduled")}}};
}

class FlightRecorder : public testing::Test {
 protected:
  Result<Trace> Read(const std::string& bytes) {
    const auto path = std::filesystem::path(testing::TempDir()) / "flight_recorder";
    std::ofstream(path, std::ios::binary) << bytes;
    return ReadAnyTrace(path);
  }
  std::string Refusal(const std::string& bytes) {
    const Result<Trace> trace = Read(bytes);
    EXPECT_FALSE(trace.ok());
    return trace ? "" : trace.error().what;
  }
};

TEST_F(FlightRecorder, PicklesAndJsonHoldTheSame) {
  for (const std::string& bytes : {Program(Pickled(Dump())), Dump().dump()}) {
    const Result<Trace> trace = Read(bytes);
    ASSERT_TRUE(trace.ok()) << trace.error().Message();
    EXPECT_EQ(trace->run.source, "flight-recorder");
    EXPECT_EQ(trace->run.ranks, 4);
    ASSERT_EQ(trace->entered.size(), 2u);
    const EnteredCollective& last = trace->entered[1];
    EXPECT_EQ(trace->text(last.operation), "all_reduce");
    EXPECT_EQ(trace->text(last.group), "0");
    EXPECT_EQ(trace->text(last.purpose), "default_pg");
    EXPECT_EQ(last.sequence, 2u);
    EXPECT_EQ(last.bytes, 8192u);
    EXPECT_EQ(last.entered_ns, 1'795'737'817'136'110'212);
    EXPECT_TRUE(trace->entered[0].ended);
    EXPECT_FALSE(last.ended);
    EXPECT_EQ(trace->stacks.at(last.stack).frames.at(0), (Where{"/home/user/train.py", 41, "train"}));
  }
}

TEST_F(FlightRecorder, AnEntryThatCannotBeReadIsCounted) {
  nlohmann::json dump = Dump();
  dump["entries"].push_back({{"collective_seq_id", "many"}});
  dump["entries"].push_back(7);
  const Result<Trace> trace = Read(dump.dump());
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->entered.size(), 2u);
  EXPECT_EQ(trace->quality.dropped, 2u);
}

// With pickle.loads() this would import os and call system().
TEST_F(FlightRecorder, NothingIsRun) {
  const std::string entries = "X" + Little(7, 4) + "entries";
  EXPECT_THAT(Refusal(Program("}(" + entries + "cos\nsystem\n(X" + Little(2, 4) + "idtRu")),
              HasSubstr("0x63, which plain data does not need: nothing of it is run"));
}

TEST(PlainPickle, SharedAndEndlessValuesAreBounded) {
  const auto shared = PlainPickle(Program("](X" + Little(1, 4) + "aq\x01h\x01h\x01" + "e"));
  ASSERT_TRUE(shared.ok()) << shared.error().what;
  EXPECT_EQ(shared->dump(), R"(["a","a","a"])");
  // A list that holds itself, and lists that hold the one before twice.
  EXPECT_FALSE(PlainPickle(Program("]q\x01h\x01" + std::string("a"))).ok());
  std::string doubled = "]q\x01";
  for (int i = 0; i < 60; ++i) doubled += "](h\x01h\x01" + std::string("eq\x01");
  EXPECT_THAT(PlainPickle(Program(doubled)).error().what, HasSubstr("too many values"));
}

TEST(PlainPickle, EveryTearIsRefused) {
  const std::string whole = Program(Pickled(Dump()));
  ASSERT_TRUE(PlainPickle(whole).ok());
  for (std::size_t size = 2; size < whole.size(); ++size) {
    ASSERT_FALSE(PlainPickle(whole.substr(0, size)).ok()) << size;
  }
  // Wherever a byte is wrong, the reader ends in order.
  for (std::size_t at = 2; at < whole.size(); ++at) {
    for (const int bit : {0x01, 0x10, 0x80}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      (void)PlainPickle(damaged);
    }
  }
}

TEST_F(FlightRecorder, InspectorLinesAreCollectivesThatEnded) {
  const std::string line =
      R"({"header":{"id":"0xad56","rank":3,"n_ranks":8,"nnodes":2},"metadata":{"hostname":"n1","dump_timestamp_us":1772585717263338},)"
      R"("coll_perf":{"coll":"AllReduce","coll_sn":8995,"coll_msg_size_bytes":2360832,"coll_exec_time_us":5663.0}})";
  const Result<Trace> trace = Read(line + "\n{\"header\": 1}\n" + line + "\n");
  ASSERT_TRUE(trace.ok()) << trace.error().Message();
  EXPECT_EQ(trace->run.source, "nccl-inspector");
  EXPECT_EQ(trace->run.rank, 3);
  EXPECT_EQ(trace->run.ranks, 8);
  ASSERT_EQ(trace->entered.size(), 2u);
  EXPECT_EQ(trace->entered[0].sequence, 8995u);
  EXPECT_EQ(trace->entered[0].bytes, 2'360'832u);
  EXPECT_EQ(trace->entered[0].length_ns, 5'663'000);
  EXPECT_THAT(trace->quality.warnings.at(0).text, HasSubstr("1 of 3 lines"));
}

// From version 4.3 of the format on, records stand in groups: one line has the communicator, the time and the counters.
TEST_F(FlightRecorder, InspectorLinesMayBeGrouped) {
  const auto group = [](const std::string& id, int ranks, int written_us) {
    return fmt::format(
        R"({{"header":{{"id":"{}","rank":1,"n_ranks":{}}},"metadata":{{"inspector_output_format_version":"v4.3",)"
        R"("dump_timestamp_us":{}}},"dump_stats":{{"colls":2,"coll_dropped":3}}}})",
        id, ranks, written_us);
  };
  const auto record = [](int number) {
    return fmt::format(R"({{"coll_perf":{{"coll":"AllReduce","coll_sn":{},"coll_msg_size_bytes":64,)"
                       R"("coll_exec_time_us":7}}}})",
                       number);
  };
  const auto one = record(1), two = record(2), three = record(3), a = group("0xa", 8, 5), b = group("0xb", 2, 6);
  for (const std::string& text : {a + "\n" + one + "\n" + two + "\n" + b + "\n" + three + "\n",
                                  one + "\n" + two + "\n" + a + "\n" + three + "\n" + b + "\n"}) {
    const Result<Trace> trace = Read(text);
    ASSERT_TRUE(trace.ok()) << trace.error().Message();
    EXPECT_EQ(trace->run.ranks, 8);
    ASSERT_EQ(trace->entered.size(), 3u);
    EXPECT_EQ(trace->text(trace->entered[1].group), "0xa");
    EXPECT_EQ(trace->text(trace->entered[2].group), "0xb");
    EXPECT_EQ(trace->entered[1].ended_ns, 5000);
    EXPECT_EQ(trace->entered[2].sequence, 3u);
    EXPECT_EQ(trace->quality.dropped, 0u);
    EXPECT_THAT(trace->quality.warnings.at(0).text, HasSubstr("left out 6 collectives"));
  }
}

}  // namespace
}  // namespace loopscope
