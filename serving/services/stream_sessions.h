// What imports and exports do, without their transport: it calls one step at a time, on threads for long
// work, and reads the next message only when the step before has ended.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "serving/call_context.h"

namespace waymark {

// A client stream: messages one by one, then one answer. An error ends it.
template <class Request, class Response>
class ImportSession {
 public:
  virtual ~ImportSession() = default;
  virtual absl::Status Take(const Request& request, const CallContext& context) = 0;
  virtual absl::Status Finish(Response* response, const CallContext& context) = 0;
};

// An export's chunk ends with the first of these.
inline constexpr size_t kExportChunk = 256;
inline constexpr size_t kExportChunkBytes = 1 << 20;

// A server stream, made in chunks. An empty chunk is the end.
template <class Entry>
class ExportCursor {
 public:
  virtual ~ExportCursor() = default;
  virtual absl::StatusOr<std::vector<Entry>> Next(const CallContext& context) = 0;
};

}  // namespace waymark
