// Which process of a distributed run this one is, as its launcher says it: flags, torchrun, OpenMPI, Slurm,
// an indexed job of Kubernetes, or nothing (one process). A pure function of the environment.
//
//   absl::StatusOr<LaunchPlace> place = FindLaunch(ProcessEnvironment(), flags);
//   LOG << Describe(*place);   // rank 1 of 4 (torchrun: RANK, WORLD_SIZE), meets at node1:29500
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace waymark {

struct LaunchFlags {
  std::optional<int> rank, world_size, local_rank;
  std::string rendezvous;         // HOST:PORT; empty: as the launcher says
  std::string launcher = "auto";  // auto, flags, torchrun, openmpi, slurm, kubernetes, single
};

struct LaunchPlace {
  std::string launcher = "single";
  std::string said_by;  // the names of what it was read from
  int rank = 0, world_size = 1, local_rank = 0;
  std::string host;  // where the ranks meet; empty: one process, or the launcher's own way (mpi)
  int port = 0;
  bool agent_store = false;  // the launcher holds the port: rank 0 must not listen there
  int restart = 0;           // how often the launcher has started this run again
  std::string run_id;
};

// In the environment of ranks that `--processes` has started: nothing else counts there.
inline constexpr char kLocalRanks[] = "WAYMARK_LOCAL_RANKS";

using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment ProcessEnvironment();

// INVALID_ARGUMENT names what contradicts what, what is missing, or what is no number.
absl::StatusOr<LaunchPlace> FindLaunch(const Environment& environment, const LaunchFlags& flags);
std::string Describe(const LaunchPlace& place);

// The first host of a Slurm node list: "n[1-2,7],m3" -> "n1".
absl::StatusOr<std::string> FirstHost(const std::string& node_list);

}  // namespace waymark
