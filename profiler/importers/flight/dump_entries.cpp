#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/core/json_members.h"
#include "profiler/importers/flight/dump.h"
#include "profiler/importers/shared/names.h"

namespace loopscope {
namespace {

using namespace json_members;
using nlohmann::json;

class Strings {
 public:
  explicit Strings(Trace& trace) : trace_(trace) {}
  StringId Id(const std::string& text) {
    if (text.empty()) return 0;
    const auto [known, added] = ids_.try_emplace(text, static_cast<StringId>(trace_.strings.size()));
    if (added) trace_.strings.push_back(text);
    return known->second;
  }

 private:
  Trace& trace_;
  std::unordered_map<std::string, StringId> ids_;
};

std::uint64_t BytesOf(std::string_view dtype) {
  for (const auto& [name, bytes] :
       std::initializer_list<std::pair<std::string_view, std::uint64_t>>{{"Float", 4},
                                                                         {"Double", 8},
                                                                         {"Half", 2},
                                                                         {"BFloat16", 2},
                                                                         {"Long", 8},
                                                                         {"Int", 4},
                                                                         {"Short", 2},
                                                                         {"Char", 1},
                                                                         {"Byte", 1},
                                                                         {"Bool", 1},
                                                                         {"ComplexFloat", 8},
                                                                         {"Float8_e4m3fn", 1},
                                                                         {"Float8_e5m2", 1}}) {
    if (dtype == name) return bytes;
  }
  return 0;
}

// [[2, 3], [4]] and ["Float", "Half"] → 32.
std::uint64_t TensorBytes(const json& sizes, const json& dtypes) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; sizes.is_array() && dtypes.is_array() && i < std::min(sizes.size(), dtypes.size()); ++i) {
    if (!sizes[i].is_array() || !dtypes[i].is_string()) return 0;
    std::uint64_t bytes = BytesOf(dtypes[i].get<std::string>());
    for (const json& one : sizes[i]) {
      const std::uint64_t length = one.is_number_unsigned() || one.is_number_integer() ? one.get<std::uint64_t>() : 0;
      if (length > (std::uint64_t{1} << 40) || bytes > (std::uint64_t{1} << 40)) return 0;
      bytes *= length;
    }
    total += bytes;
  }
  return total;
}

bool IsLibrary(std::string_view path) {
  for (const std::string_view part : {"site-packages/", "dist-packages/", "/lib/python", "/lib64/python"}) {
    if (path.find(part) != path.npos) return true;
  }
  return path.empty() || path.front() == '<' || path.find(".py") == path.npos;
}

// The innermost frame of the user's code.
std::uint32_t StackOf(const json& frames, Trace& trace) {
  for (const json& frame : frames.is_array() ? frames : json::array()) {
    const std::string path = Text(frame, "filename");
    if (IsLibrary(path)) continue;
    Stack& stack = trace.stacks.emplace_back();
    stack.frames.push_back({path, Whole<int>(frame, "line"), Text(frame, "name")});
    return static_cast<std::uint32_t>(trace.stacks.size() - 1);
  }
  return kNone;
}

// "nccl:all_reduce" → backend and operation.
std::pair<std::string, std::string> Split(const std::string& name) {
  const std::size_t colon = name.find(':');
  return colon == name.npos ? std::pair("", name) : std::pair(name.substr(0, colon), name.substr(colon + 1));
}

EnteredCollective EnteredOf(const json& entry, Strings& strings, Trace& trace) {
  EnteredCollective entered;
  const auto [backend, operation] = Split(Text(entry, "profiling_name"));
  entered.operation = strings.Id(operation);
  const bool described = Member(entry, "process_group").is_array();  // with what it is for, since version 2.0
  const std::vector<std::string> group =
      described ? Texts(entry, "process_group") : std::vector{Text(entry, "process_group")};
  if (!group.empty()) entered.group = strings.Id(group[0]);
  if (group.size() > 1 && group[1] != "undefined") entered.purpose = strings.Id(group[1]);
  entered.between_two = Flag(entry, "is_p2p");
  // Versions before 2.1 count both kinds in one.
  const char* const own = entered.between_two ? "p2p_seq_id" : "collective_seq_id";
  entered.sequence = Whole<std::uint64_t>(entry, entry.contains(own) ? own : "seq_id");
  entered.entered_ns = Whole<std::int64_t>(entry, "time_created_ns");
  entered.ended_ns = Whole<std::int64_t>(entry, "time_discovered_completed_ns");
  entered.length_ns = static_cast<std::int64_t>(Number(entry, "duration_ms").value_or(0) * 1e6);
  // gloo only marks entries as retired; NCCL's watchdog also retires one that timed out.
  const bool retired = Flag(entry, "retired") && backend != "nccl";
  entered.ended = Text(entry, "state") == "completed" || entered.ended_ns > 0 || retired;
  entered.bytes = std::max(TensorBytes(Member(entry, "input_sizes"), Member(entry, "input_dtypes")),
                           TensorBytes(Member(entry, "output_sizes"), Member(entry, "output_dtypes")));
  entered.stack = StackOf(Member(entry, "frames"), trace);
  return entered;
}

// "[0, 1, 2]" → "0,1,2".
std::string RanksText(std::string text) {
  std::erase_if(text, [](char letter) { return !IsDigit(letter) && letter != ','; });
  return text;
}

void AddGroups(const json& groups, Trace& trace) {
  if (!groups.is_object()) return;
  for (const auto& [name, group] : groups.items()) {
    const std::string ranks = RanksText(Text(group, "ranks"));
    if (ranks.empty()) continue;
    trace.facts["group.ranks." + name] = ranks;
    const int count = static_cast<int>(std::ranges::count(ranks, ',')) + 1;
    trace.run.ranks = std::max(trace.run.ranks, count);
  }
}

// The lines of NCCL Inspector. Up to version 4.0 of its format each record carries the communicator and the time; later
// ones group records, and the line with the group's counters ("dump_stats") alone carries them, before or after them.
class InspectorLines {
 public:
  explicit InspectorLines(Trace& trace) : trace_(trace), strings_(trace) {}

  // False if it is not such a line.
  bool Add(const json& object) {
    if (!object.is_object()) return false;
    const json& header = Member(object, "header");
    std::vector<std::pair<const json*, bool>> records;  // and whether it is point to point
    for (const bool between_two : {false, true}) {
      const json& performed = Member(object, between_two ? "p2p_perf" : "coll_perf");
      if (performed.is_object()) records.push_back({&performed, between_two});
      if (!performed.is_array()) continue;
      for (const json& one : performed) {
        if (one.is_object()) records.push_back({&one, between_two});
      }
    }
    if (records.empty() && !header.is_object()) return false;
    if (header.is_object()) {
      AddRanks(header);
      group_ = strings_.Id(Text(header, "id"));
      written_ns_ = Whole<std::int64_t>(Member(object, "metadata"), "dump_timestamp_us") * 1000;
      AddStats(Member(object, "dump_stats"));
      for (; grouped_after_ && complete_ < trace_.entered.size(); ++complete_) Complete(trace_.entered[complete_]);
    } else if (!any_header_) {
      grouped_after_ = true;
    }
    any_header_ |= header.is_object();
    for (const auto& [record, between_two] : records) AddRecord(*record, between_two);
    return true;
  }

  std::uint64_t lost() const { return lost_; }  // by NCCL, as it reports

 private:
  void AddRecord(const json& performed, bool between_two) {
    const auto of = [&](const char* name) { return (between_two ? "p2p" : "coll") + std::string(name); };
    EnteredCollective entered;
    entered.operation = strings_.Id(Text(performed, of("").c_str()));
    entered.sequence = Whole<std::uint64_t>(performed, of("_sn").c_str());
    entered.bytes = Whole<std::uint64_t>(performed, of("_msg_size_bytes").c_str());
    entered.length_ns = static_cast<std::int64_t>(Number(performed, of("_exec_time_us").c_str()).value_or(0) * 1e3);
    entered.ended = true;
    entered.between_two = between_two;
    Complete(entered);
    trace_.entered.push_back(entered);
    if (!grouped_after_) complete_ = trace_.entered.size();
    ++trace_.quality.events;
  }

  void Complete(EnteredCollective& entered) const {
    entered.group = group_;
    entered.ended_ns = written_ns_;
  }

  // The communicator of most ranks is the whole run's.
  void AddRanks(const json& header) {
    const int ranks = Whole<int>(header, "n_ranks");
    if (ranks < trace_.run.ranks) return;
    trace_.run.ranks = ranks;
    trace_.run.rank = Whole<int>(header, "rank");
  }

  void AddStats(const json& stats) {
    if (!stats.is_object()) return;
    for (const auto& [name, count] : stats.items()) {
      if (name.find("drop") != name.npos && count.is_number_unsigned()) lost_ += count.get<std::uint64_t>();
    }
  }

  Trace& trace_;
  Strings strings_;
  StringId group_ = 0;
  std::int64_t written_ns_ = 0;
  bool any_header_ = false, grouped_after_ = false;
  std::size_t complete_ = 0;  // whether records name their group
  std::uint64_t lost_ = 0;
};

}  // namespace

Trace TraceOfFlightDump(const json& dump) {
  Trace trace;
  trace.run.source = "flight-recorder";
  trace.run.rank = -1;  // taken from the file's name
  trace.quality.clean_end = true;
  const json groups = Member(dump, "pg_config");
  AddGroups(groups, trace);
  if (const std::string version = Text(dump, "version"); !version.empty())
    trace.run.versions["flight recorder"] = version;
  Strings strings(trace);
  for (const json& entry : Items(dump, "entries")) {
    try {
      trace.entered.push_back(EnteredOf(entry, strings, trace));
      ++trace.quality.events;
    } catch (const json::exception&) {
      ++trace.quality.dropped;
    }
  }
  return trace;
}

Trace TraceOfInspectorLines(std::string_view text) {
  Trace trace;
  trace.run.source = "nccl-inspector";
  trace.run.rank = -1;
  trace.quality.clean_end = text.empty() || text.back() == '\n';
  InspectorLines lines(trace);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const json object = json::parse(line, nullptr, false);
    try {
      if (!lines.Add(object)) ++trace.quality.dropped;
    } catch (const json::exception&) {
      ++trace.quality.dropped;
    }
  }
  if (lines.lost() > 0) {
    trace.quality.warnings.push_back(
        fmt::format("NCCL's inspector says that it left out {} collectives of its own", lines.lost()));
  }
  return trace;
}

}  // namespace loopscope
