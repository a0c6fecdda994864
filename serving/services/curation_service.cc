#include "serving/services/curation_service.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "serving/list_page.h"
#include "serving/services/collection_access.h"
#include "serving/services/curation_messages.h"
#include "serving/status_details.h"
#include "waymark/v1/curation.pb.h"

namespace waymark {
namespace {

constexpr int kMostOfBatch = 1000;
constexpr MethodOptions kBatch = {
    .max_request_bytes = size_t{16} << 20, .lane = Lane::kWrite, .default_deadline = kBatchDeadline};

// What synonyms and rules differ in.
struct SynonymKind {
  using Message = v1::Synonym;
  static constexpr CurationKind kKind = CurationKind::kSynonym;
  static constexpr const char* kName = "synonym";
  static constexpr const char* kNotFound = "SYNONYM_NOT_FOUND";
  static const v1::Synonym& Of(const v1::PutSynonymRequest& q) { return q.synonym(); }
  static const auto& Of(const v1::PutSynonymsRequest& q) { return q.synonyms(); }
  static v1::Synonym* Add(v1::ListSynonymsResponse* r) { return r->add_synonyms(); }
};
struct RuleKind {
  using Message = v1::Rule;
  static constexpr CurationKind kKind = CurationKind::kRule;
  static constexpr const char* kName = "rule";
  static constexpr const char* kNotFound = "RULE_NOT_FOUND";
  static const v1::Rule& Of(const v1::PutRuleRequest& q) { return q.rule(); }
  static const auto& Of(const v1::PutRulesRequest& q) { return q.rules(); }
  static v1::Rule* Add(v1::ListRulesResponse* r) { return r->add_rules(); }
};

template <class Kind>
absl::Status CheckId(const std::string& id) {
  return id.empty() ? InvalidField("id", absl::StrCat("is empty; it takes a ", Kind::kName, "'s id"))
                    : absl::OkStatus();
}

template <class Kind>
absl::Status Named(absl::Status status) {
  return absl::IsNotFound(status) ? WithReason(std::move(status), Kind::kNotFound) : status;
}

template <class Request>
std::optional<int64_t> Expected(const Request& request) {
  return request.has_expected_revision() ? std::optional(request.expected_revision()) : std::nullopt;
}

template <class Kind, class Request>
absl::Status PutOne(Engine* engine, const Request& request, typename Kind::Message* response) {
  if (auto status = CheckId<Kind>(request.id()); !status.ok()) return status;
  const std::string& inner = Kind::Of(request).id();
  if (!inner.empty() && inner != request.id()) {
    return InvalidField(absl::StrCat(Kind::kName, ".id"),
                        absl::StrCat("is '", inner, "', and the path names '", request.id(), "'"));
  }
  if (request.has_expected_revision() && request.expected_revision() < 0) {
    return InvalidField("expected_revision", "is below 0; it takes a revision, or 0 for none yet");
  }
  auto record = RecordOf(Kind::Of(request));
  if (!record.ok()) return record.status();
  auto collection = OpenForWrite(engine, request.parent());
  if (!collection.ok()) return collection.status();
  std::vector<CurationWrite> writes;
  writes.push_back({Kind::kKind, request.id(), *std::move(record), Expected(request)});
  auto written = (*collection)->curation().Write(std::move(writes));
  if (!written.ok()) return written.status();
  if (!written->front().status.ok()) return written->front().status;
  ToMessage((*collection)->name(), *written->front().after, response);
  return absl::OkStatus();
}

template <class Kind, class Request, class Response>
absl::Status PutAll(Engine* engine, const Request& request, Response* response) {
  const auto& entries = Kind::Of(request);
  if (entries.size() > kMostOfBatch) {
    return InvalidField(absl::StrCat(Kind::kName, "s"),
                        absl::StrCat("has ", entries.size(), " entries; it takes up to ", kMostOfBatch,
                                     ". Send them in parts."));
  }
  auto collection = OpenForWrite(engine, request.parent());
  if (!collection.ok()) return collection.status();
  std::vector<absl::Status> results(static_cast<size_t>(entries.size()));
  std::vector<int64_t> revisions(results.size());
  std::vector<CurationWrite> writes;
  std::vector<size_t> places;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto& entry = entries[static_cast<int>(i)];
    auto record = RecordOf(entry);
    results[i] = record.status();
    if (!record.ok()) continue;
    writes.push_back({Kind::kKind, entry.id(), *std::move(record), {}});
    places.push_back(i);
  }
  auto written = (*collection)->curation().Write(std::move(writes));
  if (!written.ok()) return written.status();
  for (size_t k = 0; k < places.size(); ++k) {
    results[places[k]] = (*written)[k].status;
    if ((*written)[k].after) revisions[places[k]] = (*written)[k].after->revision();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    v1::WriteResult* result = response->add_results();
    result->set_id(entries[static_cast<int>(i)].id());
    result->set_code(static_cast<int32_t>(results[i].code()));
    result->set_message(std::string(results[i].message()));
    result->set_version(revisions[i]);
  }
  return absl::OkStatus();
}

template <class Kind, class Request>
absl::Status Get(Engine* engine, const Request& request, typename Kind::Message* response,
                 const CallContext& context) {
  if (auto status = CheckId<Kind>(request.id()); !status.ok()) return status;
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  auto record = engine->store().GetCuration((*collection)->scope(), Kind::kKind, request.id());
  if (!record.ok()) return Named<Kind>(record.status());
  ToMessage((*collection)->name(), *record, response);
  return absl::OkStatus();
}

template <class Kind, class Request, class Response>
absl::Status List(Engine* engine, const Request& request, Response* response, const CallContext& context) {
  auto size = ReadPageSize(request.page_size());
  if (!size.ok()) return size.status();
  const ListArguments arguments = {Kind::kName, request.parent()};
  auto after = ReadIdListToken(request.page_token(), arguments);
  if (!after.ok()) return after.status();
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  int taken = 0;
  size_t bytes = 0;
  std::string last;
  auto status = engine->store().ForEachCuration(
      (*collection)->scope(), Kind::kKind, *after, [&](const storage::CurationRecord& record) {
        if (taken == *size || (taken > 0 && bytes + record.ByteSizeLong() > kMaxListPageBytes)) {
          response->set_next_page_token(MakeIdListToken(last, arguments));
          return false;
        }
        ++taken;
        bytes += record.ByteSizeLong();
        last = record.id();
        ToMessage((*collection)->name(), record, Kind::Add(response));
        return true;
      });
  return status;
}

template <class Kind, class Request>
absl::Status Delete(Engine* engine, const Request& request, const CallContext& context) {
  if (auto status = CheckId<Kind>(request.id()); !status.ok()) return status;
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  std::vector<CurationWrite> writes;
  writes.push_back({Kind::kKind, request.id(), {}, Expected(request)});
  auto written = (*collection)->curation().Write(std::move(writes));
  if (!written.ok()) return written.status();
  return Named<Kind>(written->front().status);
}

template <class Kind, class PutRequest, class PutAllRequest, class PutAllResponse, class GetRequest,
          class ListRequest, class ListResponse, class DeleteRequest, class DeleteResponse>
void Register(Engine* engine, const std::string& one, const std::string& many, MethodRegistry* registry) {
  const std::string service = "waymark.v1.CurationService.";
  using Message = typename Kind::Message;
  registry->Add<PutRequest, Message>(
      service + "Put" + one, kWriting,
      [engine](const auto& q, auto* r, const CallContext&) { return PutOne<Kind>(engine, q, r); });
  registry->Add<PutAllRequest, PutAllResponse>(
      service + "Put" + many, kBatch,
      [engine](const auto& q, auto* r, const CallContext&) { return PutAll<Kind>(engine, q, r); });
  registry->Add<GetRequest, Message>(
      service + "Get" + one, {},
      [engine](const auto& q, auto* r, const CallContext& c) { return Get<Kind>(engine, q, r, c); });
  registry->Add<ListRequest, ListResponse>(
      service + "List" + many, {},
      [engine](const auto& q, auto* r, const CallContext& c) { return List<Kind>(engine, q, r, c); });
  registry->Add<DeleteRequest, DeleteResponse>(
      service + "Delete" + one, kWriting,
      [engine](const auto& q, auto*, const CallContext& c) { return Delete<Kind>(engine, q, c); });
}

}  // namespace

void RegisterCuration(Engine* engine, MethodRegistry* registry) {
  Register<SynonymKind, v1::PutSynonymRequest, v1::PutSynonymsRequest, v1::PutSynonymsResponse,
           v1::GetSynonymRequest, v1::ListSynonymsRequest, v1::ListSynonymsResponse, v1::DeleteSynonymRequest,
           v1::DeleteSynonymResponse>(engine, "Synonym", "Synonyms", registry);
  Register<RuleKind, v1::PutRuleRequest, v1::PutRulesRequest, v1::PutRulesResponse, v1::GetRuleRequest,
           v1::ListRulesRequest, v1::ListRulesResponse, v1::DeleteRuleRequest, v1::DeleteRuleResponse>(
      engine, "Rule", "Rules", registry);
}

}  // namespace waymark
