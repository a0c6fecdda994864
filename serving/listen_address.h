// Addresses that a server listens on: host:port, [::1]:port, :port.
#pragma once
#include <string>

#include "absl/status/statusor.h"

namespace waymark {

struct ListenAddress {
  std::string host;  // without brackets; empty: every address of the machine
  int port = 0;      // 0: any free one
};

// INVALID_ARGUMENT names `option` ("--grpc").
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text, const std::string& option);
std::string FormatListenAddress(const ListenAddress& address);

// Whether only this machine can reach it: everything that the host resolves to is a loopback address.
bool IsLoopback(const ListenAddress& address);

// UNAVAILABLE: the port is taken, or the address is not one of this machine.
absl::Status CheckCanListen(const std::string& address, const std::string& option);
// Why `address` could not be listened on (UNAVAILABLE), with what to do about it.
absl::Status CannotListen(const std::string& address, const std::string& option);

}  // namespace waymark
