#include "serving/services/event_listing.h"

#include <memory>
#include <utility>
#include <vector>

#include "serving/list_page.h"
#include "serving/services/collection_access.h"
#include "serving/services/event_messages.h"
#include "serving/services/event_service.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

constexpr size_t kReadBlock = 1000;
// As far back as histories go (recommend.proto: «of the last 10,000 events»).
constexpr size_t kMaxUserHistory = 10000;

struct LogPage {
  std::vector<v1::Event> events;
  LogOffset next = 0;  // read up to here
  bool end = false;    // nothing comes after, for now
};

// Events after `after`, until `limit` or `max_bytes` are reached or the log ends.
absl::StatusOr<LogPage> ReadLog(const Store& store, Scope scope, LogOffset after, size_t limit,
                                size_t max_bytes, const CallContext& context) {
  LogPage page;
  page.next = after;
  EventReader reader(store, scope);
  size_t bytes = 0;
  bool full = false;
  while (!full) {
    if (auto status = context.Check(); !status.ok()) {
      // What has been read is worth more than an error: the next page goes on here.
      if (absl::IsDeadlineExceeded(status) && page.next > after) break;
      return status;
    }
    const LogOffset end = store.End();
    // A block is never larger than what is missing, so that the page ends at a known place.
    const size_t block = std::min(kReadBlock, limit - page.events.size());
    LogOffset visited = page.next;
    auto read = store.Read(scope, page.next, block, [&](const Change& change) {
      visited = change.offset;
      if (!change.entry.has_event()) return absl::OkStatus();
      auto event = reader.Read(change.entry.event());
      if (!event) return absl::OkStatus();
      bytes += event->ByteSizeLong();
      page.events.push_back(*std::move(event));
      return absl::OkStatus();
    });
    if (!read.ok()) return read.status();
    page.next = std::max(*read, visited);
    full = page.events.size() >= limit || bytes >= max_bytes;
    if (page.next >= end) {
      page.end = true;
      break;
    }
  }
  return page;
}

absl::Status ListLog(const Store& store, Collection* collection, const ListPlace& place, size_t size,
                     const ListArguments& arguments, v1::ListEventsResponse* response,
                     const CallContext& context) {
  auto page = ReadLog(store, collection->scope(), place.first, size, kMaxListPageBytes, context);
  if (!page.ok()) return page.status();
  for (v1::Event& event : page->events) *response->add_events() = std::move(event);
  if (!page->end) response->set_next_page_token(MakeListToken({.first = page->next}, arguments));
  return absl::OkStatus();
}

// The place is (time in microseconds, offset) of the last event of the page before.
absl::Status ListUser(const Store& store, Collection* collection, const std::string& user_id,
                      const ListPlace& place, size_t size, const ListArguments& arguments,
                      v1::ListEventsResponse* response) {
  const Scope scope = collection->scope();
  const auto user = store.FindUser(scope, user_id);
  if (!user) {
    return WithReason(absl::NotFoundError("there is no user '" + user_id + "'"), "USER_NOT_FOUND");
  }
  EventReader reader(store, scope);
  size_t bytes = 0;
  const ListPlace start;
  std::pair<int64_t, LogOffset> last{static_cast<int64_t>(place.first), place.second};
  LogOffset previous = 0;
  for (const HistoryEvent& event : store.ReadHistory(scope, *user, {.limit = kMaxUserHistory})) {
    const std::pair<int64_t, LogOffset> key{absl::ToUnixMicros(event.time), event.offset};
    if (place != start && key >= last) continue;
    // An event of several items has a line of the history for each.
    if (event.offset == previous) continue;
    if (static_cast<size_t>(response->events_size()) >= size || bytes >= kMaxListPageBytes) {
      response->set_next_page_token(
          MakeListToken({static_cast<uint64_t>(last.first), last.second}, arguments));
      return absl::OkStatus();
    }
    previous = event.offset;
    last = key;
    auto record = store.GetEvent(scope, event.offset);
    if (absl::IsNotFound(record.status())) continue;
    if (!record.ok()) return record.status();
    auto message = reader.Read(*record);
    if (!message) continue;
    bytes += message->ByteSizeLong();
    *response->add_events() = *std::move(message);
  }
  return absl::OkStatus();
}

class EventExport : public ExportCursor<v1::Event> {
 public:
  EventExport(Engine* engine, Collection* collection) : engine_(engine), collection_(collection) {}
  absl::StatusOr<std::vector<v1::Event>> Next(const CallContext& context) override {
    if (end_) return std::vector<v1::Event>();
    auto page =
        ReadLog(engine_->store(), collection_->scope(), next_, kExportChunk, kExportChunkBytes, context);
    if (!page.ok()) return page.status();
    next_ = page->next;
    end_ = page->end;
    // An empty chunk would read as the end.
    if (page->events.empty() && !end_) return absl::DeadlineExceededError("the deadline has passed");
    return std::move(page->events);
  }

 private:
  Engine* engine_;
  Collection* collection_;
  LogOffset next_ = 0;
  bool end_ = false;
};

}  // namespace

absl::Status ListEvents(Engine* engine, const v1::ListEventsRequest& request,
                        v1::ListEventsResponse* response, const CallContext& context) {
  auto size = ReadPageSize(request.page_size());
  if (!size.ok()) return size.status();
  const ListArguments arguments = {"ListEvents", request.parent(), request.user_id()};
  auto place = ReadListToken(request.page_token(), arguments);
  if (!place.ok()) return place.status();
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  if (request.user_id().empty()) {
    return ListLog(engine->store(), *collection, *place, static_cast<size_t>(*size), arguments, response,
                   context);
  }
  return ListUser(engine->store(), *collection, request.user_id(), *place, static_cast<size_t>(*size),
                  arguments, response);
}

absl::StatusOr<std::unique_ptr<ExportCursor<v1::Event>>> MakeEventExport(
    Engine* engine, const v1::ExportEventsRequest& request, const CallContext& context) {
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  return std::make_unique<EventExport>(engine, *collection);
}

}  // namespace waymark
