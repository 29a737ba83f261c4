#include "reports/json/rank_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/core/json_members.h"
#include "reports/json/run.h"
#include "reports/json/schema.h"
#include "reports/json/tree.h"

namespace loopscope {
namespace {

using json_members::Flag;
using json_members::Items;
using json_members::json;
using json_members::Member;
using json_members::Number;
using json_members::Numbers;
using json_members::Text;
using json_members::TextMap;
using json_members::Texts;
using json_members::Whole;

json Known(const std::optional<double>& value) {
  return value ? json(*value) : json(nullptr);
}

json SiteJson(const std::optional<Where>& where) {
  if (!where) return nullptr;
  return {{"path", where->path}, {"line", where->line}, {"function", where->function}};
}

std::optional<Where> ReadSite(const json& object) {
  const json& place = Member(object, "where");
  if (place.is_null()) return std::nullopt;
  return Where{Text(place, "path"), Whole<int>(place, "line"), Text(place, "function")};
}

json DeviceJson(const RankDevice& one) {
  return {{"name", one.name},
          {"ordinal", one.ordinal},
          {"span_ms", one.span_ms},
          {"busy_ms", one.busy_ms},
          {"compute_ms", one.compute_ms},
          {"memory_ms", one.memory_ms},
          {"communication_ms", one.communication_ms},
          {"exposed_ms", one.exposed_ms}};
}

RankDevice ReadDevice(const json& object) {
  const auto ms = [&](const char* key) { return Number(object, key).value_or(0); };
  return {.name = Text(object, "name"),
          .ordinal = Whole<std::uint32_t>(object, "ordinal"),
          .span_ms = ms("span_ms"),
          .busy_ms = ms("busy_ms"),
          .compute_ms = ms("compute_ms"),
          .memory_ms = ms("memory_ms"),
          .communication_ms = ms("communication_ms"),
          .exposed_ms = ms("exposed_ms")};
}

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

json EnteredJson(const RankEntered& one) {
  return {{"group", one.group},           {"operation", one.operation},     {"sequence", one.sequence},
          {"entered_ns", one.entered_ns}, {"ended_ns", one.ended_ns},       {"bytes", one.bytes},
          {"ended", one.ended},           {"between_two", one.between_two}, {"where", SiteJson(one.where)}};
}

RankEntered ReadEntered(const json& object) {
  return {.group = Text(object, "group"),
          .operation = Text(object, "operation"),
          .sequence = Whole<std::uint64_t>(object, "sequence"),
          .entered_ns = Whole<std::int64_t>(object, "entered_ns"),
          .ended_ns = Whole<std::int64_t>(object, "ended_ns"),
          .bytes = Whole<std::uint64_t>(object, "bytes"),
          .ended = Flag(object, "ended"),
          .between_two = Flag(object, "between_two"),
          .where = ReadSite(object)};
}

json SummaryJson(const RankSummary& rank) {
  json devices = json::array(), collectives = json::array(), entered = json::array();
  for (const RankDevice& one : rank.devices) devices.push_back(DeviceJson(one));
  for (const RankCollective& one : rank.collectives) collectives.push_back(CollectiveJson(one));
  for (const RankEntered& one : rank.entered) entered.push_back(EnteredJson(one));
  return {{"input", rank.input},
          {"run", json(RunJson(rank.run))},
          {"steps", rank.steps},
          {"why_no_steps", rank.why_no_steps},
          {"mean_step_ms", rank.mean_step_ms},
          {"loader_wait_ms", Known(rank.loader_wait_ms)},
          {"communication_ms", Known(rank.communication_ms)},
          {"communication_seen", rank.communication_seen},
          {"own_step_ms", rank.own_step_ms},
          {"devices", std::move(devices)},
          {"why_no_devices", rank.why_no_devices},
          {"names", rank.names},
          {"collectives", std::move(collectives)},
          {"entered", std::move(entered)},
          {"events", rank.events},
          {"all_steps", rank.all_steps},
          {"trained_ns", {rank.trained.start_ns, rank.trained.end_ns}},
          {"facts", rank.facts},
          {"first_losses", rank.first_losses},
          {"gradient_exchanges", rank.gradient_exchanges},
          {"unused_search",
           {{"per_step", rank.unused_search.per_step},
            {"ms_per_step", rank.unused_search.ms_per_step},
            {"passes_checked", rank.unused_search.passes_checked},
            {"passes_unused", rank.unused_search.passes_unused},
            {"where", SiteJson(rank.unused_search.where)}}},
          {"output",
           {{"ms_per_step", rank.output.ms_per_step},
            {"steps_share", rank.output.steps_share},
            {"where", SiteJson(rank.output.where)}}}};
}

RankSummary ReadSummary(const json& object) {
  RankSummary rank;
  rank.input = Text(object, "input");
  rank.run = ReadRun(Member(object, "run"));
  rank.steps = Whole<int>(object, "steps");
  rank.why_no_steps = Text(object, "why_no_steps");
  rank.mean_step_ms = Number(object, "mean_step_ms").value_or(0);
  rank.loader_wait_ms = Number(object, "loader_wait_ms");
  rank.communication_ms = Number(object, "communication_ms");
  rank.communication_seen = Flag(object, "communication_seen");
  for (const double one : Numbers(object, "own_step_ms")) rank.own_step_ms.push_back(static_cast<float>(one));
  for (const json& one : Items(object, "devices")) rank.devices.push_back(ReadDevice(one));
  rank.why_no_devices = Text(object, "why_no_devices");
  rank.names = Texts(object, "names");
  for (const json& one : Items(object, "collectives")) {
    rank.collectives.push_back(ReadCollective(one, rank.names.size()));
  }
  for (const json& one : Items(object, "entered")) rank.entered.push_back(ReadEntered(one));
  rank.events = Whole<std::uint64_t>(object, "events");
  rank.all_steps = Whole<int>(object, "all_steps");
  const json::array_t& trained = Items(object, "trained_ns");
  if (trained.size() == 2) rank.trained = {trained[0].get<std::int64_t>(), trained[1].get<std::int64_t>()};
  rank.facts = TextMap(object, "facts");
  rank.first_losses = Numbers(object, "first_losses");
  rank.gradient_exchanges = Number(object, "gradient_exchanges").value_or(0);
  const json& search = Member(object, "unused_search");
  rank.unused_search = {Number(search, "per_step").value_or(0), Number(search, "ms_per_step").value_or(0),
                        Whole<int>(search, "passes_checked"), Whole<int>(search, "passes_unused"), ReadSite(search)};
  const json& output = Member(object, "output");
  rank.output = {Number(output, "ms_per_step").value_or(0), Number(output, "steps_share").value_or(0),
                 ReadSite(output)};
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
  return ReadJson<RankSummary>(line, kSummary, [](const json& object) { return ReadSummary(Member(object, "rank")); });
}

}  // namespace loopscope
