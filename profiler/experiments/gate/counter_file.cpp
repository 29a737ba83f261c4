#include "profiler/experiments/gate/counter_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "profiler/core/json_members.h"

namespace loopscope {
namespace {

using Json = nlohmann::ordered_json;  // as written
using json_members::json, json_members::Named;

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

std::vector<CounterSite> ReadSites(const json& rows) {
  std::vector<CounterSite> sites;
  for (const json& row : rows) {
    sites.push_back({{row.at("path"), row.at("line"), row.at("function")}, row.at("per_step")});
  }
  return sites;
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

Counters ReadWorkload(const json& object) {
  Counters counters;
  counters.steps = object.at("steps");
  counters.samples_per_step = object.at("samples_per_step");
  counters.clock = object.at("clock");
  counters.ms_per_step = object.at("traced_ms_per_step");
  for (const auto& [name, one] : object.at("counts").items()) {
    counters.counts[name] = {Named(one, "kind", CounterKindName, CounterKind::kCount), one.at("per_step"),
                             ReadSites(one.at("sites"))};
  }
  for (const json& one : object.at("findings")) {
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
  const Json tree = {{"schema", kSchema},
                     {"machine",
                      {{"cpu", file.machine.cpu},
                       {"cores", file.machine.cores},
                       {"gpus", file.machine.gpus},
                       {"driver", file.machine.driver},
                       {"torch", file.machine.torch}}},
                     {"workloads", std::move(workloads)}};
  return tree.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CounterFile> ReadCounterFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Unreadable(path, "no recorded counters can be read there");
  std::ostringstream text;
  text << in.rdbuf();
  try {
    const json tree = json::parse(text.str());
    const std::string schema = tree.is_object() ? tree.value("schema", "") : "";
    if (!schema.starts_with(kSchemaPrefix)) return Unreadable(path, "this file holds no recorded counters");
    if (schema != kSchema) {
      return Unreadable(path, "its schema " + schema.substr(0, 40) + " is not " + kSchema + ", which is read here");
    }
    const json& machine = tree.at("machine");
    CounterFile file;
    file.machine = {machine.at("cpu"), machine.at("torch"), machine.at("driver"), machine.at("cores"),
                    machine.at("gpus").get<std::vector<std::string>>()};
    for (const json& one : tree.at("workloads")) file.workloads.emplace_back(one.at("command"), ReadWorkload(one));
    return file;
  } catch (const nlohmann::json::exception& problem) {
    return Unreadable(path,
                      std::string("this file holds no recorded counters, or they were cut short: ") + problem.what());
  }
}

}  // namespace loopscope
