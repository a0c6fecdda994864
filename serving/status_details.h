// Errors as clients see them: google.rpc.Status with ErrorInfo (domain "waymark", reason in UPPER_SNAKE),
// BadRequest that names the field, and RetryInfo where a later try can work.
//
// Folders below speak absl::Status. By their convention a message of INVALID_ARGUMENT begins with the field
// ("page_size: is -1; it takes 0 or more", "event.value is nan; it takes ...", "filter, column 9: ...") or
// says "field 'x'": from that the field violation is made. Reason and retry delay travel as payloads.
//
//   return WithRetry(WithReason(absl::ResourceExhaustedError("..."), "SERVER_BUSY"),
//   absl::Milliseconds(500));
#pragma once
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"

namespace waymark {

// INVALID_ARGUMENT "field: message".
absl::Status InvalidField(std::string_view field, std::string_view message);
absl::Status WithReason(absl::Status status, std::string_view reason);
absl::Status WithRetry(absl::Status status, absl::Duration delay);

// The field that a message is about; empty when it names none.
std::string FieldOfMessage(std::string_view message);
// The reason that was attached, else one that stands for the code.
std::string ReasonOf(const absl::Status& status);

// Messages longer than 1,500 bytes are cut, so that everything fits the 8 kB that HTTP/2 headers may take.
google::rpc::Status ToRpcStatus(const absl::Status& status);

}  // namespace waymark
