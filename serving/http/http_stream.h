// What the HTTP server reads requests from and writes answers to: a socket with a buffer, kept for all
// requests of the connection. Reading can be ended from outside while answers still go out, which the
// library's own stream takes for a dead connection: a shutdown need not wait for requests that are half sent.
#pragma once
#include <httplib.h>

#include <set>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace waymark {

// Used by one thread. The caller owns the socket.
class HttpStream : public httplib::Stream {
 public:
  HttpStream(socket_t socket, absl::Duration read_timeout, absl::Duration write_timeout)
      : socket_(socket), read_timeout_(read_timeout), write_timeout_(write_timeout) {}
  // Whether something comes, or the other side closes, within `timeout`.
  bool WaitForInput(absl::Duration timeout) const;

  bool is_readable() const override { return WaitForInput(read_timeout_); }
  bool is_writable() const override;
  // Bytes; 0: the end; -1: an error or nothing within the timeout.
  ssize_t read(char* data, size_t size) override;
  ssize_t write(const char* data, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  const socket_t socket_;
  const absl::Duration read_timeout_, write_timeout_;
  char buffer_[4096];
  size_t begin_ = 0, end_ = 0;  // of what is read and not taken
};

// The sockets that are open. Thread-safe.
class OpenSockets {
 public:
  void Add(socket_t socket);
  // Before it is closed: its number may be another's then.
  void Remove(socket_t socket);
  // What has come can still be read; then reading finds the end.
  void EndReading();

 private:
  absl::Mutex mutex_;
  std::set<socket_t> sockets_;  // guarded by mutex_
};

}  // namespace waymark
