#include "serving/http/gateway.h"

#include <google/protobuf/arena.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "serving/http/connection_pool.h"
#include "serving/http/http_routes.h"
#include "serving/http/http_stream.h"
#include "serving/http/origin_rule.h"
#include "serving/http/transcoder.h"
#include "serving/listen_address.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kTooLarge[] = "REQUEST_TOO_LARGE";
constexpr int kBacklog = 512;
constexpr double kMaxTimeoutSeconds = 3600;

// cpp-httplib's own backlog is 5 connections and its sockets share their port; both are changed here.
class HttpServer : public httplib::Server {
 public:
  HttpServer() {
    set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    });
  }
  void KeepIdle(absl::Duration most, std::function<bool()> wanted) {
    longest_idle_ = most;
    thread_wanted_ = std::move(wanted);
  }
  bool WidenBacklog() { return ::listen(svr_sock_, kBacklog) == 0; }

  // Takes no more requests: those that have come whole are answered, those that are half sent are refused.
  void StopReading() {
    stop();
    sockets_.EndReading();
  }

 private:
  // What the library does, on a stream whose reading can be ended.
  bool process_and_close_socket(socket_t socket) override {
    sockets_.Add(socket);
    HttpStream stream(socket, absl::Seconds(read_timeout_sec_) + absl::Microseconds(read_timeout_usec_),
                      absl::Seconds(write_timeout_sec_) + absl::Microseconds(write_timeout_usec_));
    bool good = true, closed = false;
    for (size_t left = keep_alive_max_count_; left > 0 && good && !closed; --left) {
      if (svr_sock_ == INVALID_SOCKET || !WaitForRequest(stream)) break;
      good = process_request(stream, left == 1, closed, nullptr);
    }
    sockets_.Remove(socket);
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return good;
  }

  // A client that sends when its connection is just being closed loses its request, so idle connections are
  // kept for long; not when others wait for their threads.
  bool WaitForRequest(const HttpStream& stream) const {
    const absl::Duration slice = absl::Seconds(keep_alive_timeout_sec_);
    const absl::Time end = absl::Now() + std::max(slice, longest_idle_);
    do {
      if (stream.WaitForInput(slice)) return true;
    } while (absl::Now() < end && !thread_wanted_());
    return false;
  }

  OpenSockets sockets_;
  absl::Duration longest_idle_;
  std::function<bool()> thread_wanted_;
};

void Answer(httplib::Response* response, int status, std::string json) {
  response->status = status;
  response->set_content(std::move(json), kJson);
}

void AnswerError(httplib::Response* response, const absl::Status& status, int http_status = 0) {
  // gRPC has one code for «too much», HTTP one for sizes and one for rates.
  if (http_status == 0 && absl::IsResourceExhausted(status) && ReasonOf(status) == kTooLarge)
    http_status = 413;
  Answer(response, http_status != 0 ? http_status : HttpStatusOf(status.code()),
         ErrorJson(status, http_status));
}

std::chrono::microseconds Micros(absl::Duration duration) { return absl::ToChronoMicroseconds(duration); }

// The parts of a request's target, as they came.
std::pair<std::string_view, std::string_view> SplitTarget(std::string_view target) {
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {target, {}};
  return {target.substr(0, mark), target.substr(mark + 1)};
}

absl::StatusOr<Deadline> DeadlineOf(const httplib::Request& request) {
  const std::string text = request.get_header_value("X-Server-Timeout");
  if (text.empty()) return Deadline::Never();
  double seconds = 0;
  if (!absl::SimpleAtod(text, &seconds) || !(seconds > 0 && seconds <= kMaxTimeoutSeconds)) {
    return InvalidField("x-server-timeout",
                        absl::StrCat("is '", text.substr(0, 50), "'; it takes seconds, over 0 and up to ",
                                     kMaxTimeoutSeconds));
  }
  return Deadline::After(absl::Seconds(seconds));
}

}  // namespace

class Gateway::Impl {
 public:
  Impl(const GatewayOptions& options, HttpRoutes routes, const MethodRegistry* registry, CallRunner* runner,
       std::function<bool()> serving)
      : options_(options),
        routes_(std::move(routes)),
        registry_(registry),
        runner_(runner),
        serving_(std::move(serving)) {
    Configure();
    AddHandlers();
  }

  absl::Status Listen() {
    auto address = ParseListenAddress(options_.address, options_.option_name);
    if (!address.ok()) return address.status();
    const std::string host = address->host.empty() ? "0.0.0.0" : address->host;
    if (address->port == 0) {
      port_ = server_.bind_to_any_port(host);
    } else {
      port_ = server_.bind_to_port(host, address->port) ? address->port : -1;
    }
    if (port_ <= 0 || !server_.WidenBacklog()) return CannotListen(options_.address, options_.option_name);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return absl::OkStatus();
  }

  void Shutdown(absl::Time when) {
    if (!thread_.joinable()) return;
    absl::Notification closed;
    std::thread hurry([&] {
      if (!closed.WaitForNotificationWithDeadline(when)) cancelled_ = true;
    });
    server_.StopReading();
    thread_.join();
    closed.Notify();
    hurry.join();
  }
  int port() const { return port_; }

 private:
  void Configure() {
    server_.new_task_queue = [this] {
      return pool_ = new ConnectionPool(options_.threads,
                                        options_.max_waiting);  // the library's, while it serves
    };
    server_.KeepIdle(options_.longest_idle_timeout, [this] { return pool_->HasWaiting(); });
    server_.set_keep_alive_timeout(std::max<time_t>(1, absl::ToInt64Seconds(options_.idle_timeout)));
    server_.set_keep_alive_max_count(100000);
    server_.set_read_timeout(Micros(options_.read_timeout));
    server_.set_write_timeout(Micros(options_.write_timeout));
    server_.set_payload_max_length(options_.max_body_bytes);
    server_.set_tcp_nodelay(true);
    server_.set_exception_handler(
        [this](const httplib::Request& request, httplib::Response& response, std::exception_ptr error) {
          std::string why = "of something that is no exception";
          try {
            std::rethrow_exception(error);
          } catch (const std::exception& exception) {
            why = exception.what();
          } catch (...) {
          }
          const absl::Status status = absl::InternalError(absl::StrCat("the HTTP gateway failed: ", why));
          runner_->LogEnd(absl::StrCat(request.method, " ", request.path.substr(0, 200)), status,
                          absl::ZeroDuration());
          AnswerError(&response, status);
        });
    // Errors that the HTTP library finds itself come without a body.
    server_.set_error_handler([this](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      if (response.status == 413) return AnswerError(&response, TooLarge(), 413);
      if (response.status == 414) return AnswerError(&response, UrlTooLong(), 414);
      const int status = response.status;
      AnswerError(
          &response,
          absl::InvalidArgumentError(absl::StrCat("the HTTP request is not well formed (", status, ")")),
          status);
    });
  }

  void AddHandlers() {
    const auto plain = [this](const httplib::Request& request, httplib::Response& response) {
      Handle(request, &response, "");
    };
    const auto with_body = [this](const httplib::Request& request, httplib::Response& response,
                                  const httplib::ContentReader& read) {
      if (request.is_multipart_form_data()) return RefuseForm(read, response);
      std::string body;
      // The library would wait for a body that is not announced until its timeout.
      if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) {
        return Handle(request, &response, body);
      }
      bool fits = true;
      // Counted after decompression. Also keeps the library from parsing forms, which curl -d claims to send.
      const bool whole = read([&](const char* data, size_t size) {
        fits = body.size() + size <= options_.max_body_bytes;
        if (fits) body.append(data, size);
        return fits;
      });
      if (!fits) return AnswerError(&response, TooLarge(), 413);
      if (!whole) {
        if (response.status < 400) AnswerError(&response, InvalidField("body", "did not come whole"));
        return;
      }
      Handle(request, &response, body);
    };
    server_.Get(".*", plain);
    server_.Options(".*", plain);
    server_.Post(".*", with_body);
    server_.Put(".*", with_body);
    server_.Patch(".*", with_body);
    server_.Delete(".*", with_body);
  }

  void RefuseForm(const httplib::ContentReader& read, httplib::Response& response) {
    // Read to its end, so that the connection can go on with the next request.
    read([](const httplib::MultipartFormData&) { return true; }, [](const char*, size_t) { return true; });
    if (response.status == 413) return AnswerError(&response, TooLarge(), 413);
    AnswerError(&response,
                InvalidField("content-type",
                             "is multipart/form-data; it takes application/json, the fields "
                             "of the request as one JSON object"),
                415);
  }

  absl::Status TooLarge() const {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat("the body has over ", options_.max_body_bytes,
                                                                " bytes; send it in parts")),
                      kTooLarge);
  }

  static absl::Status UrlTooLong() {
    return WithReason(
        InvalidField("query string", absl::StrCat("makes a URL of over ", CPPHTTPLIB_REQUEST_URI_MAX_LENGTH,
                                                  " bytes; send the fields in the body of a POST")),
        kTooLarge);
  }

  void Handle(const httplib::Request& request, httplib::Response* response, const std::string& body) {
    const std::string origin = request.get_header_value("Origin");
    const OriginVerdict verdict =
        CheckOrigin(origin, request.get_header_value("Host"), options_.cors_origins);
    if (verdict == OriginVerdict::kRefused) {
      return AnswerError(
          response, WithReason(absl::PermissionDeniedError(absl::StrCat("pages of '", origin.substr(0, 200),
                                                                        "' may not call this server; the "
                                                                        "operator can allow their origin")),
                               "ORIGIN_NOT_ALLOWED"));
    }
    if (verdict == OriginVerdict::kAllowed) AddCorsHeaders(origin, response);
    if (request.method == "OPTIONS") {
      response->status = 204;
      return;
    }
    const auto [path, query] = SplitTarget(request.target);
    if (path == "/healthz") {
      const bool serving = serving_();
      return Answer(response, serving ? 200 : 503,
                    absl::StrCat("{\"status\":\"", serving ? "SERVING" : "NOT_SERVING", "\"}"));
    }
    Call(request, path, query, body, response);
  }

  static void AddCorsHeaders(const std::string& origin, httplib::Response* response) {
    response->set_header("Access-Control-Allow-Origin", origin);
    response->set_header("Vary", "Origin");
    response->set_header("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE");
    response->set_header("Access-Control-Allow-Headers", "Content-Type, X-Server-Timeout");
    response->set_header("Access-Control-Max-Age", "600");
  }

  void Call(const httplib::Request& request, std::string_view path, std::string_view query,
            const std::string& body, httplib::Response* response) {
    // HEAD is GET without the body, which the library leaves out.
    const std::string verb = request.method == "HEAD" ? "GET" : request.method;
    const HttpMatch match = routes_.Find(verb, path);
    if (match.route == nullptr) return NoRoute(request, path, match, response);
    const Method* method = registry_->Find(match.route->method->full_name());
    if (method == nullptr)
      return AnswerError(response, absl::UnimplementedError(match.route->method->full_name()));
    auto deadline = DeadlineOf(request);
    if (!deadline.ok()) return AnswerError(response, deadline.status());
    auto message = ReadRequest(match, *method->request_prototype, query, body);
    if (!message.ok()) {
      runner_->LogEnd(match.route->method->full_name(), message.status(), absl::ZeroDuration());
      return AnswerError(response, message.status());
    }
    google::protobuf::Arena arena;  // answers of many small messages would cut the heap into pieces
    google::protobuf::Message* answer = method->response_prototype->New(&arena);
    absl::Notification done;
    absl::Status status;
    const CallContext context{.deadline = *deadline, .cancelled = [this] { return cancelled_.load(); }};
    runner_->Run(*method, **message, answer, context, [&](absl::Status result) {
      status = std::move(result);
      done.Notify();
    });
    done.WaitForNotification();
    if (!status.ok()) return AnswerError(response, status);
    auto json = WriteJson(*answer);
    if (!json.ok()) {
      runner_->LogEnd(match.route->method->full_name(), json.status(), absl::ZeroDuration());
      return AnswerError(response, json.status());
    }
    Answer(response, 200, *std::move(json));
  }

  static void NoRoute(const httplib::Request& request, std::string_view path, const HttpMatch& match,
                      httplib::Response* response) {
    const std::string shown(path.substr(0, 200));
    if (match.allowed.empty()) {
      return AnswerError(
          response,
          WithReason(absl::NotFoundError(absl::StrCat("nothing is served at ", shown)), "PATH_NOT_FOUND"));
    }
    const std::string allowed = absl::StrJoin(match.allowed, ", ");
    response->set_header("Allow", allowed);
    AnswerError(response,
                WithReason(absl::UnimplementedError(absl::StrCat(request.method, " is not taken at ", shown,
                                                                 "; it takes ", allowed)),
                           "METHOD_NOT_ALLOWED"),
                405);
  }

  const GatewayOptions options_;
  const HttpRoutes routes_;
  const MethodRegistry* registry_;
  CallRunner* runner_;
  std::function<bool()> serving_;
  HttpServer server_;
  ConnectionPool* pool_ = nullptr;
  std::atomic<bool> cancelled_{false};
  std::thread thread_;
  int port_ = -1;
};

absl::StatusOr<std::unique_ptr<Gateway>> Gateway::Start(const GatewayOptions& options,
                                                        const MethodRegistry* registry, CallRunner* runner,
                                                        std::function<bool()> serving) {
  auto routes = HttpRoutes::Make(options.services);
  if (!routes.ok()) return routes.status();
  auto impl = std::make_unique<Impl>(options, *std::move(routes), registry, runner, std::move(serving));
  if (auto status = impl->Listen(); !status.ok()) return status;
  return std::unique_ptr<Gateway>(new Gateway(std::move(impl)));
}

Gateway::Gateway(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Gateway::~Gateway() { Shutdown(absl::Now()); }
int Gateway::port() const { return impl_->port(); }
void Gateway::Shutdown(absl::Time when) { impl_->Shutdown(when); }

}  // namespace waymark
