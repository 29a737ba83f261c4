#include "workloads/common/ranks/ranks.h"

#include <fmt/format.h>
#include <sched.h>

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace loopscope::train {
namespace {

constexpr int kMostRanks = 65536;
constexpr int kDefaultPort = 29500;  // torchrun's

// A launcher's variables: which rank this is, how many there are, and how many of them are on this host.
struct Launcher {
  const char *rank, *size, *local_size;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
    // The step's, not the job's: a batch script itself is not a rank.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_TASKS_PER_NODE"},
};

const char* Variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

int Number(const char* name, std::string_view text, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most) return number;
  throw std::runtime_error(fmt::format("the environment has {}={}: it takes {} to {}", name, text, least, most));
}

bool AllOnThisHost(const Launcher& launcher, int size) {
  const char* local = Variable(launcher.local_size);
  return local != nullptr && std::string_view(local) == std::to_string(size);
}

void FindHost(const Launcher& launcher, Ranks& ranks) {
  const char* host = Variable("MASTER_ADDR");
  if (host == nullptr && !AllOnThisHost(launcher, ranks.size)) {
    throw std::runtime_error(
        fmt::format("{}={} but MASTER_ADDR is not set: export the name of rank 0's host as MASTER_ADDR", launcher.size,
                    ranks.size));
  }
  ranks.host = host != nullptr ? host : "127.0.0.1";
  const char* port = Variable("MASTER_PORT");
  ranks.port = port != nullptr ? Number("MASTER_PORT", port, 1, 65535) : kDefaultPort;
  const char* agent = Variable("TORCHELASTIC_USE_AGENT_STORE");
  const bool agent_serves = agent != nullptr && std::string_view(agent) == "True";
  ranks.serves = ranks.leads() && !agent_serves;
  // A restarted run finds the previous run's keys in the agent's store.
  const char* attempt = Variable("TORCHELASTIC_RESTART_COUNT");
  if (agent_serves) ranks.prefix = fmt::format("attempt-{}", attempt != nullptr ? attempt : "0");
}

}  // namespace

Ranks ReadRanks() {
  Ranks ranks;
  for (const Launcher& launcher : kLaunchers) {
    const char *rank = Variable(launcher.rank), *size = Variable(launcher.size);
    if (rank == nullptr || size == nullptr) continue;
    ranks.size = Number(launcher.size, size, 1, kMostRanks);
    ranks.rank = Number(launcher.rank, rank, 0, ranks.size - 1);
    if (!ranks.several()) return {};
    if (const char* store = Variable(kRanksStore)) {
      ranks.store = store;
    } else {
      FindHost(launcher, ranks);
    }
    return ranks;
  }
  return ranks;
}

std::optional<std::string> WarnOfRanks(int size) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0 || size <= CPU_COUNT(&cores)) return std::nullopt;
  return fmt::format("{} ranks share {} core{}: they take turns, and each is slower than alone", size,
                     CPU_COUNT(&cores), CPU_COUNT(&cores) == 1 ? "" : "s");
}

}  // namespace loopscope::train
