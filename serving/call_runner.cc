#include "serving/call_runner.h"

#include <algorithm>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

using google::protobuf::Message;

constexpr absl::Duration kComeBack = absl::Milliseconds(500);

bool Enter(std::atomic<int>* count, int limit) {
  if (count->fetch_add(1, std::memory_order_acq_rel) < limit) return true;
  count->fetch_sub(1, std::memory_order_acq_rel);
  return false;
}

bool CarriesConsistencyToken(const Message& request) {
  const auto* field = request.GetDescriptor()->FindFieldByName("consistency_token");
  return field != nullptr && field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING &&
         !request.GetReflection()->GetString(request, field).empty();
}

absl::Status Call(const Method& method, const Message& request, Message* response,
                  const CallContext& context) {
  if (auto status = context.Check(); !status.ok()) return status;
  try {
    return method.handler(request, response, context);
  } catch (const std::bad_alloc&) {
    return WithRetry(absl::ResourceExhaustedError("out of memory; the call asks for more than is free"),
                     kComeBack);
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat(method.descriptor->full_name(), ": ", error.what()));
  }
}

bool OurFault(absl::StatusCode code) {
  return code == absl::StatusCode::kInternal || code == absl::StatusCode::kUnknown ||
         code == absl::StatusCode::kDataLoss || code == absl::StatusCode::kUnimplemented;
}

}  // namespace

CallRunner::CallRunner(const CallRunnerOptions& options, const ServerLog* log)
    : options_(options),
      log_(log),
      requests_pool_(options.workers > 0 ? options.workers
                                         : static_cast<int>(std::thread::hardware_concurrency())),
      waiting_pool_(options.waiting_workers),
      bulk_(options.bulk_workers) {}

absl::Status CallRunner::Busy() const {
  return WithRetry(WithReason(absl::ResourceExhaustedError(absl::StrCat(
                                  "the server has all the work it takes (", options_.max_requests,
                                  " requests, ", options_.max_bulk, " long calls); try again shortly")),
                              "SERVER_BUSY"),
                   kComeBack);
}

void CallRunner::Run(const Method& method, const Message& request, Message* response, CallContext context,
                     std::function<void(absl::Status)> done) {
  const absl::Time start = absl::Now();
  const bool bulk = method.options.lane == Lane::kBulk;
  std::atomic<int>* count = bulk ? &bulk_calls_ : &requests_;
  absl::Status refusal;
  if (const size_t bytes = request.ByteSizeLong(); bytes > method.options.max_request_bytes) {
    refusal = WithReason(absl::ResourceExhaustedError(absl::StrCat(
                             "the request has ", bytes, " bytes; ", method.descriptor->name(), " takes ",
                             method.options.max_request_bytes, ". Send it in parts.")),
                         "REQUEST_TOO_LARGE");
  } else if (!Enter(count, bulk ? options_.max_bulk : options_.max_requests)) {
    refusal = Busy();
  }
  if (!refusal.ok()) {
    LogEnd(method.descriptor->full_name(), refusal, absl::Now() - start);
    done(std::move(refusal));
    return;
  }
  if (!bulk && context.deadline.when() == absl::InfiniteFuture()) {
    context.deadline = Deadline::After(std::max(options_.default_deadline, method.options.default_deadline));
  }
  const bool waits = method.options.lane == Lane::kWrite || CarriesConsistencyToken(request);
  WorkerPool* pool = bulk ? &bulk_ : waits ? &waiting_pool_ : &requests_pool_;
  pool->Submit([this, &method, &request, response, context = std::move(context), done = std::move(done),
                start, count] {
    absl::Status status = Call(method, request, response, context);
    count->fetch_sub(1, std::memory_order_acq_rel);
    LogEnd(method.descriptor->full_name(), status, absl::Now() - start);
    done(std::move(status));
  });
}

std::shared_ptr<void> CallRunner::OpenStream() {
  if (!Enter(&bulk_calls_, options_.max_bulk)) return nullptr;
  return std::shared_ptr<void>(this, [this](void*) { bulk_calls_.fetch_sub(1, std::memory_order_acq_rel); });
}

void CallRunner::LogEnd(std::string_view method, const absl::Status& status, absl::Duration took) const {
  const double milliseconds = absl::ToDoubleMilliseconds(took);
  if (status.ok()) {
    if (took >= options_.slow_call) {
      log_->Warn("slow_call", {{"method", method}, {"milliseconds", milliseconds}});
    } else if (log_->debug()) {
      log_->Debug("call", {{"method", method}, {"milliseconds", milliseconds}});
    }
    return;
  }
  const google::rpc::Status rpc = ToRpcStatus(status);
  nlohmann::ordered_json values = {{"method", method},
                                   {"code", absl::StatusCodeToString(status.code())},
                                   {"reason", ReasonOf(status)},
                                   {"message", rpc.message()},
                                   {"milliseconds", milliseconds}};
  if (OurFault(status.code())) {
    log_->Error("call_failed", std::move(values));
  } else {
    log_->Info("call_failed", std::move(values));
  }
}

}  // namespace waymark
