#include "profiler/importers/kineto/metadata.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace loopscope {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxBaseNs = std::int64_t{1} << 61;
constexpr std::int64_t kEarliestNs = 1'000'000'000'000'000'000;  // 2001: smaller times do not count from 1970

json Member(const KinetoMembers& members, std::string_view key) {
  for (const auto& [name, raw] : members) {
    if (name == key) return json::parse(raw, nullptr, false);
  }
  return {};
}

int WholeOf(const json& object, const char* key, int otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return otherwise;
  const std::int64_t value = found->get<std::int64_t>();
  return value < 0 || value > 1'000'000'000 ? otherwise : static_cast<int>(value);
}

std::string TextOf(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// 12080 → "12.8".
std::string CudaVersion(std::int64_t number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

void AddRank(const KinetoMembers& members, Trace& trace) {
  const json distributed = Member(members, "distributedInfo");
  trace.run.rank = WholeOf(distributed, "rank", 0);
  trace.run.ranks = std::max(WholeOf(distributed, "world_size", 1), trace.run.rank + 1);
  const std::string nccl = TextOf(distributed, "nccl_version");
  if (!nccl.empty()) trace.run.versions["nccl"] = nccl;
}

// The file lists all GPUs of the machine; those that did something belong to the run.
void AddDevices(const KinetoMembers& members, Trace& trace) {
  const json properties = Member(members, "deviceProperties");
  for (Device& device : trace.devices) {
    for (const json& one : properties.is_array() ? properties : json::array()) {
      if (WholeOf(one, "id", -1) == static_cast<int>(device.ordinal)) device.name = TextOf(one, "name");
    }
    if (!device.name.empty()) trace.run.gpus.push_back(device.name);
  }
}

void AddStart(Trace& trace) {
  std::int64_t first_ns = INT64_MAX;
  for (const Thread& thread : trace.threads) first_ns = std::min(first_ns, thread.events.front().start_ns);
  if (first_ns < kEarliestNs || first_ns == INT64_MAX) return;
  trace.run.started =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(first_ns / 1'000'000'000)));
}

}  // namespace

std::int64_t KinetoBaseNs(const KinetoMembers& members) {
  const json base = Member(members, "baseTimeNanoseconds");
  if (!base.is_number_integer()) return 0;
  const std::int64_t base_ns = base.get<std::int64_t>();
  return base_ns < 0 || base_ns > kMaxBaseNs ? 0 : base_ns;
}

void AddKinetoMetadata(const KinetoMembers& members, Trace& trace) {
  trace.run.source = "kineto";
  AddRank(members, trace);
  AddDevices(members, trace);
  AddStart(trace);
  for (const auto& [key, name] :
       {std::pair{"cuda_runtime_version", "cuda"}, std::pair{"cuda_driver_version", "cuda driver"}}) {
    const json value = Member(members, key);
    if (value.is_number_integer() && value.get<std::int64_t>() > 0) {
      trace.run.versions[name] = CudaVersion(value.get<std::int64_t>());
    }
  }
}

}  // namespace loopscope
