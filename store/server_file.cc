#include "store/server_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace waymark {
namespace {

std::filesystem::path FileOf(const std::filesystem::path& data) { return data / "server.json"; }

std::string ReadSmallFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// When the process started, in clock ticks since the boot: field 22 of /proc/PID/stat (proc(5)). Fields are
// counted after the program's name, which may hold spaces and brackets. Empty: no such process.
std::string StartTicks(pid_t pid) {
  const std::string stat = ReadSmallFile(absl::StrCat("/proc/", pid, "/stat"));
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return "";
  const std::vector<std::string> fields =
      absl::StrSplit(absl::string_view(stat).substr(name_end + 1), ' ', absl::SkipEmpty());
  constexpr size_t kStartTime = 22 - 3;  // state is field 3 and stands first here
  if (fields.size() <= kStartTime || fields[0] == "Z") return "";
  return fields[kStartTime];
}

std::string BootId() {
  std::string id = ReadSmallFile("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

absl::Status Failed(const std::filesystem::path& path) {
  const std::string text = absl::StrCat(path.string(), ": ", std::strerror(errno));
  return errno == ENOSPC ? absl::ResourceExhaustedError(text) : absl::FailedPreconditionError(text);
}

absl::Status WriteAtomically(const std::filesystem::path& path, const std::string& text) {
  const std::string beside = absl::StrCat(path.string(), ".", getpid());
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return Failed(beside);
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  absl::Status status = written && fsync(file) == 0 ? absl::OkStatus() : Failed(beside);
  close(file);
  if (status.ok() && rename(beside.c_str(), path.c_str()) != 0) status = Failed(path);
  if (!status.ok()) unlink(beside.c_str());
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerFile>> ServerFile::Write(const std::filesystem::path& data,
                                                              ServerAddresses addresses, const Clock* clock) {
  const nlohmann::json document = {{"pid", getpid()},
                                   {"grpc", addresses.grpc_address},
                                   {"http", addresses.http_address},
                                   {"admin", addresses.admin_address},
                                   {"start_time", absl::FormatTime(clock->Now(), absl::UTCTimeZone())},
                                   {"process_start_ticks", StartTicks(getpid())},
                                   {"boot_id", BootId()}};
  if (absl::Status status = WriteAtomically(FileOf(data), document.dump(2) + "\n"); !status.ok())
    return status;
  return std::unique_ptr<ServerFile>(new ServerFile(data));
}

ServerFile::~ServerFile() {
  const auto current = ReadServerFile(data_);
  if (!current.ok() || current->pid != getpid()) return;
  std::error_code error;
  std::filesystem::remove(FileOf(data_), error);
}

absl::StatusOr<ServerAddresses> ReadServerFile(const std::filesystem::path& data) {
  const absl::Status nobody =
      absl::NotFoundError(absl::StrCat("no running server has ", data.string(), " open"));
  const nlohmann::json document = nlohmann::json::parse(ReadSmallFile(FileOf(data)), nullptr, false);
  if (!document.is_object()) return nobody;
  ServerAddresses server;
  try {
    server.pid = document.value("pid", 0);
    const std::string ticks = document.value("process_start_ticks", "");
    if (server.pid <= 0 || ticks.empty() || document.value("boot_id", "") != BootId() ||
        StartTicks(server.pid) != ticks) {
      return nobody;
    }
    server.grpc_address = document.value("grpc", "");
    server.http_address = document.value("http", "");
    server.admin_address = document.value("admin", "");
    std::string error;
    absl::ParseTime(absl::RFC3339_full, document.value("start_time", ""), &server.start_time, &error);
  } catch (const nlohmann::json::exception&) {
    return nobody;  // some other file of this name
  }
  return server;
}

}  // namespace waymark
