#include "store/server_file.h"

#include <sys/wait.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/store/fixture.h"

namespace waymark::tests {

static nlohmann::json ReadJson(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}
static void WriteJson(const std::filesystem::path& path, const nlohmann::json& document) {
  std::ofstream(path) << document.dump();
}

TEST_CASE("server.json tells the running server, and goes with it") {
  TemporaryFolder folder;
  CHECK(absl::IsNotFound(ReadServerFile(folder.path()).status()));
  const FixedClock clock(kNow);
  {
    auto file = ServerFile::Write(
        folder.path(),
        {.grpc_address = "127.0.0.1:1", .http_address = "127.0.0.1:2", .admin_address = "127.0.0.1:3"},
        &clock);
    REQUIRE(file.ok());
    auto server = ReadServerFile(folder.path());
    REQUIRE(server.ok());
    CHECK(server->pid == getpid());
    CHECK(server->grpc_address == "127.0.0.1:1");
    CHECK(server->http_address == "127.0.0.1:2");
    CHECK(server->admin_address == "127.0.0.1:3");
    CHECK(server->start_time == kNow);
    int files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
    CHECK(files == 1);  // nothing is left beside it
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "server.json"));
}

TEST_CASE("a file that a dead process left, or another process with its number, is not believed") {
  TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "server.json";
  const FixedClock clock(kNow);
  const pid_t child = fork();
  if (child == 0) {
    auto file = ServerFile::Write(folder.path(), {.grpc_address = "a:1"}, &clock);
    _exit(file.ok() ? 0 : 1);  // without destructors, as a crash
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(status == 0);
  REQUIRE(std::filesystem::exists(path));
  CHECK(absl::IsNotFound(ReadServerFile(folder.path()).status()));

  auto file = ServerFile::Write(folder.path(), {.grpc_address = "a:1"}, &clock);
  REQUIRE(file.ok());
  const nlohmann::json good = ReadJson(path);
  REQUIRE(ReadServerFile(folder.path()).ok());
  for (const char* field : {"process_start_ticks", "boot_id"}) {
    nlohmann::json changed = good;
    changed[field] = "12";  // of an earlier process, of an earlier boot
    WriteJson(path, changed);
    CHECK(absl::IsNotFound(ReadServerFile(folder.path()).status()));
  }
  for (const char* damaged : {"", "{", "[]", "{\"pid\":\"x\"}", "{\"pid\":1e40}"}) {
    std::ofstream(path) << damaged;
    CHECK(absl::IsNotFound(ReadServerFile(folder.path()).status()));
  }
  WriteJson(path, good);
}

}  // namespace waymark::tests
