// What commands talk to: a data folder that this process opens, or a server. Both speak the messages of the
// API, so that every command is written once.
//
//   auto backend = OpenBackend(options);
//   v1::SearchResponse response;
//   absl::Status status = (*backend)->Call("waymark.v1.SearchService.Search", request, &response);
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "waymark/v1/catalog.pb.h"
#include "waymark/v1/event.pb.h"
#include "waymark/v1/model.pb.h"

namespace waymark {

class Engine;

// One thread.
class Backend {
 public:
  virtual ~Backend() = default;
  // «the data folder d» or «the server at 127.0.0.1:7700».
  virtual std::string where() const = 0;

  // A unary method of the API by its full name. UNAVAILABLE: no server answers there.
  virtual absl::Status Call(const std::string& method, const google::protobuf::Message& request,
                            google::protobuf::Message* response) = 0;

  // One batch of at most 1,000, durable when it answers.
  virtual absl::StatusOr<v1::ImportItemsResponse> ImportItems(const v1::ImportItemsRequest& batch) = 0;
  virtual absl::StatusOr<v1::ImportEventsResponse> ImportEvents(const v1::ImportEventsRequest& batch) = 0;
  virtual absl::StatusOr<v1::Model> ImportModel(const std::string& parent,
                                                const std::filesystem::path& folder) = 0;

  // All of them, one by one; stops at the first error of `visit`, which it returns.
  virtual absl::Status ExportItems(const v1::ExportItemsRequest& request,
                                   const std::function<absl::Status(const v1::Item&)>& visit) = 0;
  virtual absl::Status ExportEvents(const v1::ExportEventsRequest& request,
                                    const std::function<absl::Status(const v1::Event&)>& visit) = 0;

  // The folder that this process has open; null for a server.
  virtual Engine* engine() { return nullptr; }
  // After writes: what is derived takes them in and is kept. A server does this by itself.
  virtual absl::Status Settle() { return absl::OkStatus(); }
};

struct BackendOptions {
  std::string data;                            // folder; empty with `server`
  std::string server;                          // host:port
  bool create = false;                         // make the folder when it is not there
  absl::Duration timeout = absl::Seconds(60);  // of one call, but for long work
};

// With a folder that a living server has open: that server. FAILED_PRECONDITION, NOT_FOUND: the folder cannot
// be opened.
absl::StatusOr<std::unique_ptr<Backend>> OpenBackend(const BackendOptions& options);

std::unique_ptr<Backend> MakeLocalBackend(std::unique_ptr<Engine> engine, const std::string& data,
                                          absl::Duration timeout);
struct RemoteAddresses {
  std::string grpc, admin;  // admin empty: the same
};
std::unique_ptr<Backend> MakeRemoteBackend(const RemoteAddresses& addresses, absl::Duration timeout);

// Methods that may take long by their nature: they get an hour.
bool IsLongCall(const std::string& method);

}  // namespace waymark
