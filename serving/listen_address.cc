#include "serving/listen_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

using Resolved = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Resolved Resolve(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = absl::StrCat(address.port);
  if (getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(), port.c_str(), &hints, &found) != 0) {
    found = nullptr;
  }
  return Resolved(found, &freeaddrinfo);
}

bool IsLoopbackAddress(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  }
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

// 0, or the error of the system that keeps us from listening there.
int TryToBind(const addrinfo& target) {
  const int fd = socket(target.ai_family, SOCK_STREAM, 0);
  if (fd < 0) return errno;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  int error = bind(fd, target.ai_addr, target.ai_addrlen) == 0 ? 0 : errno;
  if (error == 0 && listen(fd, 1) != 0) error = errno;
  close(fd);
  return error;
}

absl::Status Cannot(const std::string& address, const std::string& option, const std::string& why,
                    int error) {
  const char* remedy = error == EADDRINUSE
                           ? "Stop the program that listens there, or choose another port with "
                       : error == EACCES ? "Ports below 1024 need rights; choose another with "
                                         : "Choose an address of this machine with ";
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, ": ", why, ". ", remedy, option, "."));
}

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text, const std::string& option) {
  ListenAddress address;
  const size_t colon = text.rfind(':');
  int port = -1;
  bool good = colon != std::string::npos && absl::SimpleAtoi(text.substr(colon + 1), &port) && port >= 0 &&
              port <= 65535;
  if (good) {
    address.host = text.substr(0, colon);
    address.port = port;
    if (address.host.size() >= 2 && address.host.front() == '[' && address.host.back() == ']') {
      address.host = address.host.substr(1, address.host.size() - 2);
    } else {
      good = address.host.find(':') == std::string::npos && address.host.find('/') == std::string::npos;
    }
  }
  if (good) return address;
  return absl::InvalidArgumentError(absl::StrCat(
      option, ": '", text, "' is no address; it takes HOST:PORT, such as 127.0.0.1:7700 or [::1]:7700"));
}

std::string FormatListenAddress(const ListenAddress& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  const std::string host = address.host.empty() ? "0.0.0.0" : address.host;
  return v6 ? absl::StrCat("[", host, "]:", address.port) : absl::StrCat(host, ":", address.port);
}

bool IsLoopback(const ListenAddress& address) {
  if (address.host.empty()) return false;
  const Resolved resolved = Resolve(address);
  if (resolved == nullptr) return false;
  for (const addrinfo* one = resolved.get(); one != nullptr; one = one->ai_next) {
    if (!IsLoopbackAddress(one->ai_addr)) return false;
  }
  return true;
}

absl::Status CheckCanListen(const std::string& address, const std::string& option) {
  auto parsed = ParseListenAddress(address, option);
  if (!parsed.ok()) return parsed.status();
  const Resolved resolved = Resolve(*parsed);
  if (resolved == nullptr) return Cannot(address, option, "the name does not resolve", 0);
  const int error = TryToBind(*resolved);
  return error == 0 ? absl::OkStatus() : Cannot(address, option, std::strerror(error), error);
}

absl::Status CannotListen(const std::string& address, const std::string& option) {
  if (auto status = CheckCanListen(address, option); !status.ok()) return status;
  return Cannot(address, option, "it was taken a moment ago", EADDRINUSE);
}

}  // namespace waymark
