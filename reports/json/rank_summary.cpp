#include "reports/json/rank_summary.h"

#include <nlohmann/json.hpp>

#include "reports/json/reader.h"
#include "reports/json/report_json.h"
#include "reports/json/rows.h"
#include "reports/json/run.h"
#include "reports/json/schema.h"
#include "reports/json/writer.h"

namespace loopscope {

template <>
struct JsonFields<RankDevice> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("name", one.name);
    fields("ordinal", one.ordinal);
    fields("span_ms", one.span_ms);
    fields("busy_ms", one.busy_ms);
    fields("compute_ms", one.compute_ms);
    fields("memory_ms", one.memory_ms);
    fields("communication_ms", one.communication_ms);
    fields("exposed_ms", one.exposed_ms);
  }
};

template <>
struct JsonFields<RankEntered> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("group", one.group);
    fields("operation", one.operation);
    fields("sequence", one.sequence);
    fields("entered_ns", one.entered_ns);
    fields("ended_ns", one.ended_ns);
    fields("bytes", one.bytes);
    fields("ended", one.ended);
    fields("between_two", one.between_two);
    fields("where", one.where);
  }
};

template <>
struct JsonFields<UnusedSearch> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("per_step", one.per_step);
    fields("ms_per_step", one.ms_per_step);
    fields("passes_checked", one.passes_checked);
    fields("passes_unused", one.passes_unused);
    fields("where", one.where);
  }
};

template <>
struct JsonFields<RankOutput> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& one) {
    fields("ms_per_step", one.ms_per_step);
    fields("steps_share", one.steps_share);
    fields("where", one.where);
  }
};

template <>
struct JsonFields<RankSummary> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& rank) {
    fields("input", rank.input);
    fields("run", rank.run);
    fields.TextOrNull("node", rank.run.node);
    fields("steps", rank.steps);
    fields("why_no_steps", rank.why_no_steps);
    fields("mean_step_ms", rank.mean_step_ms);
    fields("loader_wait_ms", rank.loader_wait_ms);
    fields("communication_ms", rank.communication_ms);
    fields("communication_seen", rank.communication_seen);
    fields("own_step_ms", rank.own_step_ms);
    fields("devices", rank.devices);
    fields("why_no_devices", rank.why_no_devices);
    fields("names", rank.names);
    fields("entered", rank.entered);
    fields("events", rank.events);
    fields("all_steps", rank.all_steps);
    fields("facts", rank.facts);
    fields("first_losses", rank.first_losses);
    fields("gradient_exchanges", rank.gradient_exchanges);
    fields("unused_search", rank.unused_search);
    fields("output", rank.output);
  }
};

namespace {

using nlohmann::json;

// There are thousands of them: rows of numbers, in this order. The phase is -1 where it is unknown.
json CollectiveJson(const RankCollective& one) {
  return json::array({one.name, one.sequence, one.length_ns, one.added_ns, one.steady ? 1 : 0,
                      one.phase ? static_cast<int>(*one.phase) : -1, one.bytes, one.ranks});
}

RankCollective ReadCollective(const json& row, std::size_t names) {
  RankCollective one;
  one.name = row.at(0).get<std::uint32_t>();
  if (one.name >= names) throw json::out_of_range::create(401, "there is no such name", &row);
  one.sequence = row.at(1).get<std::uint64_t>();
  one.length_ns = row.at(2).get<std::int64_t>();
  one.added_ns = row.at(3).get<std::int64_t>();
  one.steady = row.at(4).get<int>() != 0;
  const int phase = row.at(5).get<int>();
  if (phase >= 0 && phase < kParts) one.phase = static_cast<Part>(phase);
  one.bytes = row.at(6).get<std::uint64_t>();
  one.ranks = row.at(7).get<int>();
  return one;
}

json SummaryJson(const RankSummary& rank) {
  json object = JsonWriter::Of(rank);
  object["trained_ns"] = {rank.trained.start_ns, rank.trained.end_ns};
  json& collectives = object["collectives"] = json::array();
  for (const RankCollective& one : rank.collectives) collectives.push_back(CollectiveJson(one));
  return object;
}

RankSummary ReadSummary(const json& object) {
  RankSummary rank;
  JsonReader::Into(object, rank);
  const json::array_t& trained = json_members::Items(object, "trained_ns");
  if (trained.size() == 2) rank.trained = {trained[0].get<std::int64_t>(), trained[1].get<std::int64_t>()};
  for (const json& one : json_members::Items(object, "collectives")) {
    rank.collectives.push_back(ReadCollective(one, rank.names.size()));
  }
  return rank;
}

constexpr JsonKind kSummary{.prefix = kSummarySchemaPrefix,
                            .version = kSummarySchemaVersion,
                            .what = "a rank's summary",
                            .next = "pass files that `loopscope report --summary FILE` wrote"};

}  // namespace

std::string SummaryLines(const RankSummary& rank, const Report& own) {
  constexpr auto kReplace = json::error_handler_t::replace;
  // "schema" comes first: a file is known by its first bytes.
  nlohmann::ordered_json first;
  first["schema"] = std::string(kSummarySchemaPrefix) + std::to_string(kSummarySchemaVersion);
  first["rank"] = SummaryJson(rank);
  return first.dump(-1, ' ', false, kReplace) + "\n" + ReportTree(own).dump(-1, ' ', false, kReplace) + "\n";
}

Result<RankSummary> ReadSummaryLine(std::string_view line) {
  return ReadJson<RankSummary>(line, kSummary,
                               [](const json& object) { return ReadSummary(json_members::Member(object, "rank")); });
}

}  // namespace loopscope
