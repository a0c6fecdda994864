#include "serving/services/suggest_service.h"

#include "absl/strings/str_cat.h"
#include "serving/services/collection_access.h"
#include "serving/status_details.h"
#include "waymark/v1/suggest.pb.h"

namespace waymark {
namespace {

absl::StatusOr<TypoTolerance> TyposOf(v1::SuggestRequest::TypoTolerance tolerance) {
  switch (tolerance) {
    case v1::SuggestRequest::TYPO_TOLERANCE_UNSPECIFIED:
    case v1::SuggestRequest::AUTO:
      return TypoTolerance::kAuto;
    case v1::SuggestRequest::OFF:
      return TypoTolerance::kOff;
    case v1::SuggestRequest::ALWAYS:
      return TypoTolerance::kAlways;
    default:
      return InvalidField("typo_tolerance",
                          absl::StrCat("is ", static_cast<int>(tolerance), "; it takes AUTO, OFF or ALWAYS"));
  }
}

absl::Status ReadKinds(const v1::SuggestRequest& request, std::vector<SuggestionKind>* kinds) {
  for (int i = 0; i < request.kinds_size(); ++i) {
    switch (request.kinds(i)) {
      case v1::TITLES:
        kinds->push_back(SuggestionKind::kTitle);
        break;
      case v1::FIELD_VALUES:
        kinds->push_back(SuggestionKind::kValue);
        break;
      case v1::PAST_QUERIES:
        kinds->push_back(SuggestionKind::kPastQuery);
        break;
      default:
        return InvalidField(absl::StrCat("kinds[", i, "]"),
                            absl::StrCat("is ", static_cast<int>(request.kinds(i)),
                                         "; it takes TITLES, FIELD_VALUES or PAST_QUERIES"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SuggestRequest> RequestOf(const v1::SuggestRequest& request) {
  SuggestRequest made;
  made.query = request.query();
  made.limit = request.limit();
  if (auto status = ReadKinds(request, &made.kinds); !status.ok()) return status;
  made.fields.assign(request.fields().begin(), request.fields().end());
  made.filter = request.filter();
  auto typos = TyposOf(request.typo_tolerance());
  if (!typos.ok()) return typos.status();
  made.typos = *typos;
  made.consistency_token = request.consistency_token();
  return made;
}

v1::SuggestionKind KindOf(SuggestionKind kind) {
  switch (kind) {
    case SuggestionKind::kTitle:
      return v1::TITLES;
    case SuggestionKind::kValue:
      return v1::FIELD_VALUES;
    case SuggestionKind::kPastQuery:
      return v1::PAST_QUERIES;
  }
  return v1::SUGGESTION_KIND_UNSPECIFIED;
}

void ToMessage(const CollectionName& collection, const Suggestion& from, v1::Suggestion* to) {
  to->set_text(from.text);
  to->set_kind(KindOf(from.kind));
  to->set_field(from.field);
  if (!from.item_id.empty()) to->set_item(FormatResource(collection, "items", from.item_id));
  to->set_count(from.count);
  to->set_weight(from.weight);
  for (const CompletionMatch& match : from.matches) {
    v1::Suggestion::Match* place = to->add_matches();
    place->set_begin(static_cast<int32_t>(match.begin));
    place->set_end(static_cast<int32_t>(match.end));
  }
  to->set_snippet(from.snippet);
  to->set_edits(from.edits);
}

absl::Status Suggest(Engine* engine, const v1::SuggestRequest& request, v1::SuggestResponse* response,
                     const CallContext& context) {
  auto made = RequestOf(request);
  if (!made.ok()) return made.status();
  auto collection = OpenForRead(engine, request.parent(), "", context);
  if (!collection.ok()) return collection.status();
  auto answer = (*collection)->Suggest(*made, context.deadline);
  if (!answer.ok()) return answer.status();
  for (const Suggestion& suggestion : answer->suggestions) {
    ToMessage((*collection)->name(), suggestion, response->add_suggestions());
  }
  for (const std::string& reason : answer->cut_short) {
    v1::Degradation* degraded = response->add_degraded();
    degraded->set_stage("suggest");
    degraded->set_reason(reason);
  }
  v1::StageTiming* timing = response->add_timings();
  timing->set_stage("total");
  timing->set_milliseconds(absl::ToDoubleMilliseconds(answer->time));
  return absl::OkStatus();
}

}  // namespace

void RegisterSuggest(Engine* engine, MethodRegistry* registry) {
  registry->Add<v1::SuggestRequest, v1::SuggestResponse>(
      "waymark.v1.SearchService.Suggest", {},
      [engine](const v1::SuggestRequest& request, v1::SuggestResponse* response, const CallContext& context) {
        return Suggest(engine, request, response, context);
      });
}

}  // namespace waymark
