#include "serving/http/http_stream.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace waymark {
namespace {

// The events that came; 0: none within `timeout`.
int Poll(socket_t socket, int16_t events, absl::Duration timeout) {
  const absl::Time end = absl::Now() + timeout;
  while (true) {
    pollfd one{socket, events, 0};
    const int64_t left = std::max<int64_t>(0, absl::ToInt64Milliseconds(end - absl::Now()));
    const int ready = ::poll(&one, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
    if (ready >= 0 || errno != EINTR) return ready > 0 ? one.revents : 0;
  }
}

template <class GetName>
void Address(socket_t socket, const GetName& get_name, std::string* ip, int* port) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  char host[NI_MAXHOST], service[NI_MAXSERV];
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (get_name(socket, generic, &size) != 0 ||
      ::getnameinfo(generic, size, host, sizeof(host), service, sizeof(service),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return;
  }
  *ip = host;
  *port = std::atoi(service);
}

}  // namespace

bool HttpStream::WaitForInput(absl::Duration timeout) const {
  return begin_ < end_ || Poll(socket_, POLLIN, timeout) != 0;
}

bool HttpStream::is_writable() const {
  const int events = Poll(socket_, POLLOUT, write_timeout_);
  return (events & POLLOUT) != 0 && (events & POLLERR) == 0;
}

ssize_t HttpStream::read(char* data, size_t size) {
  if (begin_ == end_) {
    if (!is_readable()) return -1;
    const bool direct = size >= sizeof(buffer_);
    ssize_t got = 0;
    do {
      got = ::recv(socket_, direct ? data : buffer_, direct ? size : sizeof(buffer_), 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0 || direct) return got;
    begin_ = 0;
    end_ = static_cast<size_t>(got);
  }
  const size_t taken = std::min(size, end_ - begin_);
  std::memcpy(data, buffer_ + begin_, taken);
  begin_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t HttpStream::write(const char* data, size_t size) {
  if (!is_writable()) return -1;
  ssize_t sent = 0;
  do {
    sent = ::send(socket_, data, size, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

void HttpStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  Address(socket_, ::getpeername, &ip, &port);
}
void HttpStream::get_local_ip_and_port(std::string& ip, int& port) const {
  Address(socket_, ::getsockname, &ip, &port);
}

void OpenSockets::Add(socket_t socket) {
  absl::MutexLock lock(&mutex_);
  sockets_.insert(socket);
}

void OpenSockets::Remove(socket_t socket) {
  absl::MutexLock lock(&mutex_);
  sockets_.erase(socket);
}

void OpenSockets::EndReading() {
  absl::MutexLock lock(&mutex_);
  for (const socket_t socket : sockets_) ::shutdown(socket, SHUT_RD);
}

}  // namespace waymark
