// The import of items or events: messages are committed batch by batch, refused entries are counted and the
// first 100 of them told, the rest goes on.
#pragma once
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "serving/services/collection_access.h"
#include "serving/services/stream_sessions.h"
#include "serving/services/write_batch.h"
#include "serving/status_details.h"

namespace waymark {

inline constexpr int kMaxImportErrors = 100;

// The counts of an import so far.
class BatchImport {
 public:
  explicit BatchImport(Engine* engine) : engine_(engine) {}
  // The first message decides the parent; later ones may leave it out, but not change it.
  absl::Status Open(const std::string& parent);
  absl::Status Add(std::string id, absl::StatusOr<Mutation> mutation);
  absl::Status Flush();
  Collection* collection() const { return collection_; }

  template <class Response>
  void Answer(Response* response) const {
    response->set_written(written_);
    response->set_refused(refused_);
    for (const v1::ImportError& error : errors_) *response->add_errors() = error;
    response->set_consistency_token(token_.empty() ? TokenOfNow(engine_) : token_);
  }
  int64_t duplicates() const { return duplicates_; }

 private:
  Engine* engine_;
  Collection* collection_ = nullptr;
  std::string parent_;
  WriteBatch batch_;
  int64_t lines_ = 0;  // of finished batches
  int64_t written_ = 0, refused_ = 0, duplicates_ = 0;
  std::vector<v1::ImportError> errors_;
  std::string token_;
};

}  // namespace waymark
