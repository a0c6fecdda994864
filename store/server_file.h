// DATA/server.json: which server has a data folder open, so that the command line works through it.
//
//   auto file = ServerFile::Write(data, {.grpc_address = "127.0.0.1:7700"}, Clock::Real());  // removed with
//   it auto server = ReadServerFile(data);  // NOT_FOUND: nobody, or a file that a crash left behind
//
// A process number is used again after a while, and so is an address: the file also tells when its process
// started and in which boot of the machine, and is believed only while that very process lives.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "store/clock.h"

namespace waymark {

struct ServerAddresses {
  pid_t pid = 0;                                          // filled by Write
  std::string grpc_address, http_address, admin_address;  // host:port; empty: not served
  absl::Time start_time;                                  // filled by Write
};

class ServerFile {
 public:
  // Atomic: a reader sees the old file, none, or this one whole.
  static absl::StatusOr<std::unique_ptr<ServerFile>> Write(const std::filesystem::path& data,
                                                           ServerAddresses addresses, const Clock* clock);
  // Removes the file when it is still this process's.
  ~ServerFile();
  ServerFile(const ServerFile&) = delete;

 private:
  explicit ServerFile(std::filesystem::path data) : data_(std::move(data)) {}
  std::filesystem::path data_;
};

// NOT_FOUND: no file, or one whose process is gone.
absl::StatusOr<ServerAddresses> ReadServerFile(const std::filesystem::path& data);

}  // namespace waymark
