#include "training/distributed/launch.h"

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr int kMostRanks = 1 << 20;
constexpr int kFirstPort = 20000, kPorts = 20000;  // for launchers that name none

// What one launcher says; unset where it says nothing.
struct Said {
  const char* launcher;
  std::string names;
  std::optional<int> rank, world_size, local_rank;
};

class Finder {
 public:
  Finder(const Environment& environment, const LaunchFlags& flags)
      : environment_(environment), flags_(flags) {}

  absl::StatusOr<LaunchPlace> Find() {
    absl::StatusOr<Said> said = Choose();
    if (!status_.ok()) return status_;
    if (!said.ok()) return said.status();
    LaunchPlace place;
    place.launcher = said->launcher;
    place.said_by = said->names;
    place.rank = flags_.rank.value_or(said->rank.value_or(0));
    place.world_size = flags_.world_size.value_or(said->world_size.value_or(1));
    place.local_rank = flags_.local_rank.value_or(said->local_rank.value_or(0));
    if (absl::Status checked = Check(*said, place); !checked.ok()) return checked;
    if (absl::Status met = FindMeeting(&place); !met.ok()) return met;
    place.restart = Number("TORCHELASTIC_RESTART_COUNT").value_or(Number("SLURM_RESTART_COUNT").value_or(0));
    for (const char* name : {"TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "PMIX_NAMESPACE"}) {
      if (place.run_id.empty()) place.run_id = environment_(name).value_or("");
    }
    if (!status_.ok()) return status_;
    return place;
  }

 private:
  std::optional<int> Number(const char* name) {
    const std::optional<std::string> text = environment_(name);
    if (!text) return std::nullopt;
    int value = 0;
    if (absl::SimpleAtoi(*text, &value) && value >= 0 && value < kMostRanks) return value;
    status_.Update(
        absl::InvalidArgumentError(absl::StrCat(name, " is '", *text, "'; it takes a whole number")));
    return std::nullopt;
  }

  Said Torchrun() {
    return {"torchrun", "RANK, WORLD_SIZE", Number("RANK"), Number("WORLD_SIZE"), Number("LOCAL_RANK")};
  }
  Said OpenMpi() {
    Said said = {"openmpi", "OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE", Number("OMPI_COMM_WORLD_RANK"),
                 Number("OMPI_COMM_WORLD_SIZE"), Number("OMPI_COMM_WORLD_LOCAL_RANK")};
    if (!said.local_rank) said.local_rank = Number("SLURM_LOCALID");  // srun --mpi=pmix
    return said;
  }
  // A batch script or a shell of salloc has some of these too, and is no task of a step.
  Said Slurm() {
    if (!environment_("SLURM_STEP_ID")) return {"slurm", "", {}, {}, {}};
    return {"slurm", "SLURM_PROCID, SLURM_NTASKS", Number("SLURM_PROCID"), Number("SLURM_NTASKS"),
            Number("SLURM_LOCALID")};
  }
  Said Kubernetes() {
    Said said = {"kubernetes",
                 "JOB_COMPLETION_INDEX, WORLD_SIZE",
                 Number("JOB_COMPLETION_INDEX"),
                 Number("WORLD_SIZE"),
                 {}};
    said.local_rank = 0;
    return said;
  }

  absl::StatusOr<Said> Choose() {
    const std::string& wanted = flags_.launcher;
    const Said none = {"single", "", {}, {}, {}};
    const Said by_flags = {"flags", "--rank, --world-size", {}, {}, {}};
    if (wanted == "single") return none;
    if (wanted == "flags") {
      if (!flags_.rank || !flags_.world_size) {
        return absl::InvalidArgumentError("--launcher flags needs --rank and --world-size");
      }
      return by_flags;
    }
    std::vector<Said> there;
    if (environment_(kLocalRanks)) {
      return Said{"--processes", "", Number("RANK"), Number("WORLD_SIZE"), Number("LOCAL_RANK")};
    }
    for (const Said& said : {Torchrun(), Kubernetes(), OpenMpi(), Slurm()}) {
      if (wanted == said.launcher) {
        if (said.rank) return said;
        return absl::InvalidArgumentError(absl::StrCat("--launcher ", wanted, " was asked for, and ",
                                                       said.names.empty() ? "SLURM_STEP_ID" : said.names,
                                                       " are not in the environment"));
      }
      if (said.rank) there.push_back(said);
    }
    if (wanted != "auto") {
      return absl::InvalidArgumentError(absl::StrCat("there is no launcher '", wanted,
                                                     "'; there are auto, flags, torchrun, openmpi, slurm, "
                                                     "kubernetes and single"));
    }
    if (there.empty()) {
      if (!flags_.rank && !flags_.world_size) return none;
      if (flags_.rank && flags_.world_size) return by_flags;
      return absl::InvalidArgumentError("--rank and --world-size belong together");
    }
    // torchrun and mpirun run inside a task of Slurm's, one a node: theirs is then the number that counts.
    // Two of the others must say the same.
    const bool inside = std::string(there[0].launcher) != "slurm";
    for (size_t i = 1; i < there.size(); ++i) {
      if (inside && std::string(there[i].launcher) == "slurm") continue;
      if (there[i].rank == there[0].rank && there[i].world_size == there[0].world_size) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(there[0].launcher, " says rank ", *there[0].rank, " of ",
                       there[0].world_size.value_or(-1), " (", there[0].names, "), ", there[i].launcher,
                       " says rank ", *there[i].rank, " of ", there[i].world_size.value_or(-1), " (",
                       there[i].names, "); unset one of them, or name the one that counts with --launcher"));
    }
    return there[0];
  }

  absl::Status Check(const Said& said, const LaunchPlace& place) {
    const auto contradicts = [&](const char* flag, std::optional<int> given, std::optional<int> told) {
      if (!given || !told || *given == *told) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat(flag, " is ", *given, ", and ", said.launcher, " says ",
                                                     *told, " (", said.names,
                                                     "); drop the flag, or say --launcher flags"));
    };
    absl::Status status = contradicts("--rank", flags_.rank, said.rank);
    status.Update(contradicts("--world-size", flags_.world_size, said.world_size));
    status.Update(contradicts("--local-rank", flags_.local_rank, said.local_rank));
    if (!status.ok()) return status;
    if (said.rank && !said.world_size && !flags_.world_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("the environment has a rank (", said.names,
                       ") and no number of ranks; set WORLD_SIZE or say --world-size"));
    }
    if (place.world_size < 1 || place.world_size > kMostRanks) {
      return absl::InvalidArgumentError(
          absl::StrCat("the number of ranks is ", place.world_size, "; it takes 1 to ", kMostRanks));
    }
    if (place.rank < 0 || place.rank >= place.world_size) {
      return absl::InvalidArgumentError(absl::StrCat("the rank is ", place.rank, " of ", place.world_size,
                                                     "; ranks go from 0 to ", place.world_size - 1));
    }
    return absl::OkStatus();
  }

  int OwnPort() {
    uint64_t hash = 1469598103934665603u;  // FNV-1a
    for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "PMIX_NAMESPACE"}) {
      for (char c : environment_(name).value_or("")) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
    }
    return kFirstPort + static_cast<int>(hash % kPorts);
  }

  absl::Status FindMeeting(LaunchPlace* place) {
    if (place->world_size == 1 && flags_.rendezvous.empty()) return absl::OkStatus();
    if (!flags_.rendezvous.empty()) {
      const size_t colon = flags_.rendezvous.rfind(':');
      if (colon == std::string::npos || colon == 0 ||
          !absl::SimpleAtoi(flags_.rendezvous.substr(colon + 1), &place->port) || place->port < 1 ||
          place->port > 65535) {
        return absl::InvalidArgumentError(
            absl::StrCat("--rendezvous is '", flags_.rendezvous, "'; it takes HOST:PORT"));
      }
      place->host = flags_.rendezvous.substr(0, colon);
      return absl::OkStatus();
    }
    const std::optional<std::string> address = environment_("MASTER_ADDR");
    const std::optional<int> port = Number("MASTER_PORT");
    if (address) place->host = *address;
    place->port = port.value_or(OwnPort());
    if (address && place->launcher == "torchrun") {
      place->agent_store = environment_("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
    }
    if (address) return absl::OkStatus();
    if (place->launcher == "slurm") {
      std::optional<std::string> nodes = environment_("SLURM_STEP_NODELIST");
      if (!nodes) nodes = environment_("SLURM_JOB_NODELIST");
      if (!nodes)
        return absl::InvalidArgumentError("SLURM_JOB_NODELIST is not set; say --rendezvous HOST:PORT");
      absl::StatusOr<std::string> first = FirstHost(*nodes);
      if (!first.ok()) return first.status();
      place->host = Number("SLURM_STEP_NUM_NODES").value_or(Number("SLURM_NNODES").value_or(2)) == 1
                        ? "127.0.0.1"
                        : *first;
      return absl::OkStatus();
    }
    if (place->launcher == "openmpi" && Number("OMPI_COMM_WORLD_LOCAL_SIZE") == place->world_size) {
      place->host = "127.0.0.1";
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("where the ranks meet is not known: ", place->launcher,
                     " does not say it; set MASTER_ADDR and MASTER_PORT, or say --rendezvous HOST:PORT"));
  }

  const Environment& environment_;
  const LaunchFlags& flags_;
  absl::Status status_;
};

}  // namespace

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

absl::StatusOr<LaunchPlace> FindLaunch(const Environment& environment, const LaunchFlags& flags) {
  return Finder(environment, flags).Find();
}

std::string Describe(const LaunchPlace& place) {
  if (place.launcher == "single") return "one process";
  std::string text = absl::StrCat("rank ", place.rank, " of ", place.world_size, " (", place.launcher,
                                  place.said_by.empty() ? "" : absl::StrCat(": ", place.said_by),
                                  "), local rank ", place.local_rank);
  if (!place.host.empty()) {
    absl::StrAppend(&text, ", meets at ", place.host, ":", place.port,
                    place.agent_store ? " (held by torchrun)" : "");
  }
  if (place.restart > 0) absl::StrAppend(&text, ", restart ", place.restart);
  return text;
}

absl::StatusOr<std::string> FirstHost(const std::string& node_list) {
  const size_t bracket = node_list.find('['), comma = node_list.find(',');
  if (bracket == std::string::npos || comma < bracket) {
    const std::string host = node_list.substr(0, comma);
    if (!host.empty()) return host;
  } else if (const size_t close = node_list.find(']', bracket); close != std::string::npos) {
    const std::string inside = node_list.substr(bracket + 1, close - bracket - 1);
    const std::string number = inside.substr(0, inside.find_first_of("-,"));
    const size_t end = node_list.find(',', close);
    const std::string after = node_list.substr(close + 1, end == std::string::npos ? end : end - close - 1);
    if (!number.empty()) return node_list.substr(0, bracket) + number + after;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("cannot read the first host of the node list '", node_list, "'"));
}

}  // namespace waymark
