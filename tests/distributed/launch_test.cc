#include "training/distributed/launch.h"

#include <map>

#include "tests/support/catch.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

Environment Of(const std::map<std::string, std::string>& values) {
  return [values](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

std::string Refusal(const std::map<std::string, std::string>& values, const LaunchFlags& flags = {}) {
  const auto place = FindLaunch(Of(values), flags);
  CHECK(absl::IsInvalidArgument(place.status()));
  return std::string(place.status().message());
}

TEST_CASE("Nothing said is one process") {
  const auto place = FindLaunch(Of({}), {});
  REQUIRE(place.ok());
  CHECK(place->world_size == 1);
  CHECK(Describe(*place) == "one process");
}

TEST_CASE("torchrun is read, and its port is left to its agent") {
  const auto place = FindLaunch(Of({{"RANK", "3"},
                                    {"WORLD_SIZE", "4"},
                                    {"LOCAL_RANK", "1"},
                                    {"MASTER_ADDR", "localhost"},
                                    {"MASTER_PORT", "41234"},
                                    {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                    {"TORCHELASTIC_RESTART_COUNT", "2"},
                                    {"TORCHELASTIC_RUN_ID", "t1"}}),
                                {});
  REQUIRE(place.ok());
  CHECK(place->launcher == "torchrun");
  CHECK(place->rank == 3);
  CHECK(place->world_size == 4);
  CHECK(place->local_rank == 1);
  CHECK(place->agent_store);
  CHECK(place->restart == 2);
  CHECK(Describe(*place) ==
        "rank 3 of 4 (torchrun: RANK, WORLD_SIZE), local rank 1, meets at localhost:41234 (held by "
        "torchrun), restart 2");
}

TEST_CASE("A task of Slurm meets at the first node of its step; a batch script is no task") {
  std::map<std::string, std::string> task = {{"SLURM_PROCID", "1"},  {"SLURM_NTASKS", "4"},
                                             {"SLURM_LOCALID", "1"}, {"SLURM_STEP_ID", "0"},
                                             {"SLURM_JOB_ID", "17"}, {"SLURM_STEP_NODELIST", "gpu[07-08],x1"},
                                             {"SLURM_NNODES", "3"}};
  const auto place = FindLaunch(Of(task), {});
  REQUIRE(place.ok());
  CHECK(place->launcher == "slurm");
  CHECK(place->rank == 1);
  CHECK(place->host == "gpu07");
  CHECK(place->port >= 20000);
  CHECK(place->port < 40000);
  // The same port for every rank of the step, another one for another job.
  task["SLURM_PROCID"] = "0";
  CHECK(FindLaunch(Of(task), {})->port == place->port);
  task["SLURM_JOB_ID"] = "18";
  CHECK(FindLaunch(Of(task), {})->port != place->port);
  task["SLURM_NNODES"] = "1";
  CHECK(FindLaunch(Of(task), {})->host == "127.0.0.1");
  task.erase("SLURM_STEP_ID");
  CHECK(FindLaunch(Of(task), {})->world_size == 1);
}

TEST_CASE("mpirun on one machine meets there; on several it must be told where") {
  std::map<std::string, std::string> task = {{"OMPI_COMM_WORLD_RANK", "1"},
                                             {"OMPI_COMM_WORLD_SIZE", "2"},
                                             {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                             {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  CHECK(FindLaunch(Of(task), {})->host == "127.0.0.1");
  task["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  CHECK_THAT(Refusal(task), Contains("--rendezvous"));
  LaunchFlags flags;
  flags.rendezvous = "node1:29500";
  const auto place = FindLaunch(Of(task), flags);
  REQUIRE(place.ok());
  CHECK(place->host == "node1");
  CHECK(place->port == 29500);
  // Inside a task of Slurm mpirun's own number counts.
  task["SLURM_PROCID"] = "0";
  task["SLURM_NTASKS"] = "1";
  task["SLURM_STEP_ID"] = "0";
  CHECK(FindLaunch(Of(task), flags)->rank == 1);
}

TEST_CASE("An indexed job of Kubernetes says its rank; the number of ranks and the address must be set") {
  const std::map<std::string, std::string> pod = {{"JOB_COMPLETION_INDEX", "2"}};
  CHECK_THAT(Refusal(pod), Contains("WORLD_SIZE"));
  CHECK_THAT(Refusal({{"JOB_COMPLETION_INDEX", "2"}, {"WORLD_SIZE", "4"}}), Contains("MASTER_ADDR"));
  const auto place = FindLaunch(Of({{"JOB_COMPLETION_INDEX", "2"},
                                    {"WORLD_SIZE", "4"},
                                    {"MASTER_ADDR", "train-0.train"},
                                    {"MASTER_PORT", "29500"}}),
                                {});
  REQUIRE(place.ok());
  CHECK(place->launcher == "kubernetes");
  CHECK(place->rank == 2);
  CHECK_FALSE(place->agent_store);
}

TEST_CASE("What contradicts is refused by name") {
  CHECK_THAT(Refusal({{"RANK", "4"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}),
             Contains("the rank is 4 of 4"));
  CHECK_THAT(Refusal({{"RANK", "0"}}), Contains("WORLD_SIZE"));
  CHECK_THAT(Refusal({{"RANK", "x"}, {"WORLD_SIZE", "2"}}), Contains("RANK is 'x'"));
  CHECK_THAT(
      Refusal(
          {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
      Contains("torchrun says rank 0 of 2") && Contains("openmpi says rank 1 of 2") &&
          Contains("--launcher"));
  LaunchFlags flags;
  flags.rank = 1;
  flags.world_size = 2;
  CHECK_THAT(Refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}}, flags),
             Contains("--rank is 1, and torchrun says 0"));
  CHECK_THAT(Refusal({}, flags), Contains("--rendezvous HOST:PORT"));
  flags.rendezvous = "nowhere";
  CHECK_THAT(Refusal({}, flags), Contains("takes HOST:PORT"));
  LaunchFlags half;
  half.rank = 0;
  CHECK_THAT(Refusal({}, half), Contains("belong together"));
  LaunchFlags named;
  named.launcher = "slurm";
  CHECK_THAT(Refusal({}, named), Contains("--launcher slurm"));
}

TEST_CASE("The first host of a node list") {
  CHECK(*FirstHost("n1") == "n1");
  CHECK(*FirstHost("n1,n2") == "n1");
  CHECK(*FirstHost("n[1-2]") == "n1");
  CHECK(*FirstHost("n[007,9-12]-ib,m3") == "n007-ib");
  CHECK(*FirstHost("m3,n[1-2]") == "m3");
  CHECK_FALSE(FirstHost("").ok());
  CHECK_FALSE(FirstHost("n[").ok());
}

}  // namespace
}  // namespace waymark
