// One process of several that train together: its rank, and how it finds the others.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace loopscope::train {

struct Ranks {
  int rank = 0, size = 1;
  // Where ranks meet: a file that they share, else a host and a port.
  std::filesystem::path store;
  std::string host;
  int port = 0;
  bool serves = false;  // this rank listens at the port
  std::string prefix;   // of keys in the store

  bool several() const { return size > 1; }
  bool leads() const { return rank == 0; }
};

// Set by --ranks for the processes that it starts.
inline constexpr char kRanksStore[] = "LOOPSCOPE_TRAIN_STORE";

// From what --ranks, torchrun, Slurm (srun), Open MPI, MVAPICH or MPICH set in the environment; one rank without them.
// Throws std::runtime_error that names the variable which is missing or wrong.
Ranks ReadRanks();

// A warning about running `size` ranks on this machine, if there is one.
std::optional<std::string> WarnOfRanks(int size);

}  // namespace loopscope::train
