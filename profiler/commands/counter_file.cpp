#include "profiler/commands/counter_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace loopscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "loopscope.counters/1", kSchemaPrefix[] = "loopscope.counters/";

Json SitesJson(const std::vector<CounterSite>& sites) {
  Json rows = Json::array();
  for (const CounterSite& one : sites) {
    rows.push_back({{"path", one.where.path},
                    {"line", one.where.line},
                    {"function", one.where.function},
                    {"per_step", one.per_step}});
  }
  return rows;
}

std::vector<CounterSite> ReadSites(const Json& rows) {
  std::vector<CounterSite> sites;
  for (const Json& row : rows) {
    sites.push_back({{row.at("path"), row.at("line"), row.at("function")}, row.at("per_step")});
  }
  return sites;
}

template <class Enum>
Enum Named(const Json& object, const char* key, std::string_view (*name)(Enum), Enum last) {
  const std::string text = object.at(key);
  for (int value = 0; value <= static_cast<int>(last); ++value) {
    if (name(static_cast<Enum>(value)) == text) return static_cast<Enum>(value);
  }
  throw nlohmann::json::other_error::create(501, "\"" + text + "\" is no " + key, &object);
}

Json WorkloadJson(const std::string& command, const Counters& counters) {
  Json counts = Json::object(), findings = Json::array();
  for (const auto& [name, count] : counters.counts) {
    counts[name] = {
        {"kind", CounterKindName(count.kind)}, {"per_step", count.per_step}, {"sites", SitesJson(count.sites)}};
  }
  for (const CountedFinding& one : counters.findings) {
    findings.push_back({{"rule", one.rule},
                        {"title", one.title},
                        {"severity", SeverityName(one.severity)},
                        {"cost_pct", one.cost_pct},
                        {"sites", SitesJson(one.sites)}});
  }
  return {{"command", command},
          {"steps", counters.steps},
          {"samples_per_step", counters.samples_per_step},
          {"clock", counters.clock},
          {"traced_ms_per_step", counters.ms_per_step},
          {"counts", std::move(counts)},
          {"findings", std::move(findings)},
          {"unstable", counters.unstable}};
}

Counters ReadWorkload(const Json& object) {
  Counters counters;
  counters.steps = object.at("steps");
  counters.samples_per_step = object.at("samples_per_step");
  counters.clock = object.at("clock");
  counters.ms_per_step = object.at("traced_ms_per_step");
  for (const auto& [name, one] : object.at("counts").items()) {
    counters.counts[name] = {Named(one, "kind", CounterKindName, CounterKind::kCount), one.at("per_step"),
                             ReadSites(one.at("sites"))};
  }
  for (const Json& one : object.at("findings")) {
    counters.findings.push_back({one.at("rule"), one.at("title"), Named(one, "severity", SeverityName, Severity::kHigh),
                                 one.at("cost_pct"), ReadSites(one.at("sites"))});
  }
  counters.unstable = object.at("unstable").get<std::set<std::string>>();
  return counters;
}

void Differ(std::vector<std::string>& to, std::string_view what, const std::string& recorded, const std::string& here) {
  if (recorded.empty() || here.empty() || recorded == here) return;
  to.push_back(fmt::format("{}: recorded on {}, here {}", what, recorded, here));
}

std::string GpusText(const Fingerprint& machine) {
  return machine.gpus.empty() ? "none" : fmt::format("{}", fmt::join(machine.gpus, ", "));
}

Error Unreadable(const std::filesystem::path& path, std::string what) {
  return {std::move(what), path, "record it anew: loopscope gate --baseline FILE --accept -- CMD"};
}

}  // namespace

Fingerprint FingerprintOf(const RunInfo& run) {
  const auto version = [&](const char* name) {
    const auto found = run.versions.find(name);
    return found == run.versions.end() ? std::string() : found->second;
  };
  return {run.cpu, version("torch"), version("driver"), run.cores, run.gpus};
}

std::vector<std::string> OtherMachine(const Fingerprint& recorded, const Fingerprint& here) {
  std::vector<std::string> differences;
  Differ(differences, "CPU", recorded.cpu, here.cpu);
  if (recorded.cores > 0 && here.cores > 0) {
    Differ(differences, "cores", std::to_string(recorded.cores), std::to_string(here.cores));
  }
  Differ(differences, "GPUs", GpusText(recorded), GpusText(here));
  Differ(differences, "driver", recorded.driver, here.driver);
  Differ(differences, "torch", recorded.torch, here.torch);
  return differences;
}

std::vector<std::string> OtherOperators(const Fingerprint& recorded, const Fingerprint& here) {
  std::vector<std::string> differences;
  Differ(differences, "torch", recorded.torch, here.torch);
  if (recorded.gpus.empty() != here.gpus.empty()) Differ(differences, "GPUs", GpusText(recorded), GpusText(here));
  return differences;
}

const Counters* CounterFile::Find(const std::string& command, bool only) const {
  if (only && workloads.size() == 1) return &workloads.front().second;
  const auto found = std::ranges::find(workloads, command, [](const auto& one) { return one.first; });
  return found == workloads.end() ? nullptr : &found->second;
}

std::string CounterFileText(const CounterFile& file) {
  Json workloads = Json::array();
  for (const auto& [command, counters] : file.workloads) workloads.push_back(WorkloadJson(command, counters));
  const Json json = {{"schema", kSchema},
                     {"machine",
                      {{"cpu", file.machine.cpu},
                       {"cores", file.machine.cores},
                       {"gpus", file.machine.gpus},
                       {"driver", file.machine.driver},
                       {"torch", file.machine.torch}}},
                     {"workloads", std::move(workloads)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CounterFile> ReadCounterFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Unreadable(path, "no recorded counters can be read there");
  std::ostringstream text;
  text << in.rdbuf();
  try {
    const Json json = Json::parse(text.str());
    const std::string schema = json.is_object() ? json.value("schema", "") : "";
    if (!schema.starts_with(kSchemaPrefix)) return Unreadable(path, "these are no recorded counters");
    if (schema != kSchema) {
      return Unreadable(path, "its schema " + schema.substr(0, 40) + " is not " + kSchema + ", which is read here");
    }
    const Json& machine = json.at("machine");
    CounterFile file;
    file.machine = {machine.at("cpu"), machine.at("torch"), machine.at("driver"), machine.at("cores"),
                    machine.at("gpus").get<std::vector<std::string>>()};
    for (const Json& one : json.at("workloads")) file.workloads.emplace_back(one.at("command"), ReadWorkload(one));
    return file;
  } catch (const nlohmann::json::exception& problem) {
    return Unreadable(path, std::string("these are no recorded counters, or they were cut short: ") + problem.what());
  }
}

}  // namespace loopscope
