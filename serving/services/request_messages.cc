#include "serving/services/request_messages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "serving/services/explanation_message.h"
#include "serving/services/facet_messages.h"
#include "serving/services/item_messages.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"
#include "store/struct_fields.h"

namespace waymark {
namespace {

absl::StatusOr<PersonalizationMode> ModeOf(v1::Personalization mode) {
  switch (mode) {
    case v1::PERSONALIZATION_UNSPECIFIED:
    case v1::AUTO:
      return PersonalizationMode::kAuto;
    case v1::SESSION_ONLY:
      return PersonalizationMode::kSessionOnly;
    case v1::OFF:
      return PersonalizationMode::kOff;
    default:
      return InvalidField("personalization", absl::StrCat("is ", static_cast<int>(mode),
                                                          "; it takes AUTO, SESSION_ONLY or OFF"));
  }
}

absl::StatusOr<TypoTolerance> TyposOf(v1::SearchRequest::TypoTolerance tolerance) {
  switch (tolerance) {
    case v1::SearchRequest::TYPO_TOLERANCE_UNSPECIFIED:
    case v1::SearchRequest::AUTO:
      return TypoTolerance::kAuto;
    case v1::SearchRequest::OFF:
      return TypoTolerance::kOff;
    case v1::SearchRequest::ALWAYS:
      return TypoTolerance::kAlways;
    default:
      return InvalidField("typo_tolerance",
                          absl::StrCat("is ", static_cast<int>(tolerance), "; it takes AUTO, OFF or ALWAYS"));
  }
}

absl::StatusOr<CurationMode> CurationOf(v1::Curation::Mode mode) {
  switch (mode) {
    case v1::Curation::MODE_UNSPECIFIED:
    case v1::Curation::ON:
      return CurationMode::kOn;
    case v1::Curation::OFF:
      return CurationMode::kOff;
    default:
      return InvalidField("curation", absl::StrCat("is ", static_cast<int>(mode), "; it takes ON or OFF"));
  }
}

absl::StatusOr<VectorAsked> VectorOf(const v1::VectorQuery& query) {
  VectorAsked asked;
  asked.field = query.field();
  asked.values.assign(query.values().begin(), query.values().end());
  asked.limit = query.limit();
  if (query.has_weight()) asked.weight = query.weight();
  switch (query.fusion()) {
    case v1::VectorQuery::FUSION_UNSPECIFIED:
    case v1::VectorQuery::RANKS:
      break;
    case v1::VectorQuery::SCORES:
      asked.fusion = VectorAsked::Fusion::kScores;
      break;
    default:
      return InvalidField("vector.fusion", absl::StrCat("is ", static_cast<int>(query.fusion()),
                                                        "; it takes RANKS or SCORES"));
  }
  return asked;
}

HighlightOptions HighlightOf(const v1::SearchRequest::Highlight& highlight) {
  HighlightOptions options;
  options.fields.assign(highlight.fields().begin(), highlight.fields().end());
  if (highlight.has_pre_tag()) options.pre_tag = highlight.pre_tag();
  if (highlight.has_post_tag()) options.post_tag = highlight.post_tag();
  options.snippet_length = highlight.snippet_length();
  options.offsets_only = highlight.offsets_only();
  return options;
}

void FillHighlight(const TextHighlight& from, v1::Result::Highlight* highlight) {
  highlight->set_field(from.field);
  highlight->set_value(from.value);
  highlight->set_snippet(from.snippet);
  for (const HighlightMatch& match : from.matches) {
    v1::Result::Highlight::Match* to = highlight->add_matches();
    to->set_begin(static_cast<int32_t>(match.begin));
    to->set_end(static_cast<int32_t>(match.end));
    to->set_word(match.word);
  }
}

// The fields that all three kinds have.
template <class Request>
absl::StatusOr<PipelineRequest> Shared(RequestKind kind, const Request& request) {
  PipelineRequest made;
  made.kind = kind;
  made.query = request.query();
  made.user_id = request.user_id();
  made.visitor_id = request.visitor_id();
  made.session_id = request.session_id();
  made.surface = request.surface();
  if (auto status = CheckFields("context", request.context()); !status.ok()) return status;
  made.context = request.context();
  auto mode = ModeOf(request.personalization());
  if (!mode.ok()) return mode.status();
  made.personalization = *mode;
  made.consistency_token = request.consistency_token();
  made.explain = request.explain();
  made.release = request.release();
  return made;
}

// What searches and feeds have beside that.
template <class Request>
absl::Status FillList(const Request& request, PipelineRequest* made) {
  auto curation = CurationOf(request.curation());
  if (!curation.ok()) return curation.status();
  made->curation = *curation;
  made->filter = request.filter();
  made->page_size = request.page_size();
  made->page_token = request.page_token();
  made->fields.assign(request.fields().begin(), request.fields().end());
  made->per_source_limit = request.candidates().per_source();
  made->rank_limit = request.candidates().rank();
  if (request.has_group_by()) made->group_by = {request.group_by().field(), request.group_by().limit()};
  return absl::OkStatus();
}

void FillResult(const CollectionName& collection, const RankedItem& item, RequestKind kind,
                v1::Result* result) {
  if (kind == RequestKind::kRank) {
    result->mutable_item()->set_id(item.record.id());
  } else {
    ToMessage(collection, item.record, result->mutable_item());
  }
  result->set_score(item.score);
  result->set_pinned(item.pinned);
  if (item.exploration) {
    result->mutable_exploration()->set_propensity(item.exploration->propensity());
    result->mutable_exploration()->set_drawn(item.exploration->drawn());
  }
  result->mutable_scores()->insert(item.scores.begin(), item.scores.end());
  for (const SourceHit& hit : item.sources) {
    v1::Result::Source* source = result->add_sources();
    source->set_name(hit.name);
    source->set_score(hit.score);
    source->set_rank(hit.rank);
  }
  if (item.group) {
    v1::Result::Group* group = result->mutable_group();
    if (item.group->value) group->set_value(*item.group->value);
  }
  for (const Contribution& part : item.explanation) {
    v1::Result::Contribution* contribution = result->add_explanation();
    contribution->set_feature(part.feature);
    contribution->set_value(part.value);
    contribution->set_contribution(part.contribution);
  }
  if (item.distance_metres) result->set_distance_meters(*item.distance_metres);
  if (item.keyword_explanation) {
    ToMessage(*item.keyword_explanation, result->mutable_keyword_explanation());
  }
  for (const TextHighlight& highlight : item.highlights) FillHighlight(highlight, result->add_highlights());
}

template <class Response>
void FillShared(const CollectionName& collection, const PipelineResponse& answer, RequestKind kind,
                Response* response) {
  for (const RankedItem& item : answer.items) FillResult(collection, item, kind, response->add_results());
  response->set_request_id(answer.request_id);
  response->set_attribution_token(answer.attribution_token);
  v1::ServedBy* served_by = response->mutable_served_by();
  served_by->set_release(answer.release);
  served_by->set_retriever(answer.retriever);
  served_by->set_ranker(answer.ranker);
  for (const Degraded& from : answer.degraded) {
    v1::Degradation* degraded = response->add_degraded();
    degraded->set_stage(from.stage);
    degraded->set_reason(from.reason);
  }
  for (const Timing& from : answer.timings) {
    v1::StageTiming* timing = response->add_timings();
    timing->set_stage(from.stage);
    timing->set_milliseconds(absl::ToDoubleMilliseconds(from.time));
  }
}

// What curation did to a search or a feed.
template <class Response>
void FillCurated(const PipelineResponse& answer, Response* response) {
  for (const SynonymUse& use : answer.synonyms) {
    v1::AppliedSynonym* applied = response->add_applied_synonyms();
    applied->set_id(use.id);
    applied->set_typed(use.typed);
    for (const std::string& other : use.others) applied->add_stands_for(other);
  }
  for (const std::string& rule : answer.rules) response->add_applied_rules(rule);
  response->set_redirect_uri(answer.redirect_uri);
  response->set_replacement_query(answer.replacement_query);
}

}  // namespace

absl::StatusOr<PipelineRequest> RequestOf(const v1::SearchRequest& request) {
  auto made = Shared(RequestKind::kSearch, request);
  if (!made.ok()) return made;
  if (!v1::SearchRequest::Match_IsValid(request.match())) {
    return InvalidField("match",
                        absl::StrCat("is ", static_cast<int>(request.match()), "; it takes ANY or ALL"));
  }
  made->match_all = request.match() == v1::SearchRequest::ALL;
  auto typos = TyposOf(request.typo_tolerance());
  if (!typos.ok()) return typos.status();
  made->typo_tolerance = *typos;
  if (request.has_highlight()) made->highlight = HighlightOf(request.highlight());
  if (auto status = FillList(request, &*made); !status.ok()) return status;
  auto facets = FacetsOf(request);
  if (!facets.ok()) return facets.status();
  made->facets = *std::move(facets);
  made->order_by = request.order_by();
  made->minimum_match = request.minimum_match();
  made->relax_below = request.relax_below();
  if (request.has_exact_total_limit()) made->exact_total_limit = request.exact_total_limit();
  if (request.has_vector()) {
    auto vector = VectorOf(request.vector());
    if (!vector.ok()) return vector.status();
    made->vector = *std::move(vector);
  }
  return made;
}

absl::StatusOr<PipelineRequest> RequestOf(const v1::RecommendRequest& request) {
  auto made = Shared(RequestKind::kRecommend, request);
  if (!made.ok()) return made;
  if (auto status = FillList(request, &*made); !status.ok()) return status;
  made->context_items.assign(request.context_items().begin(), request.context_items().end());
  made->positive_items.assign(request.positive_items().begin(), request.positive_items().end());
  made->negative_items.assign(request.negative_items().begin(), request.negative_items().end());
  made->diversity = request.diversity();
  made->exploration = request.exploration();
  if (request.has_strict_filter()) made->strict_filter = request.strict_filter();
  const v1::RecommendRequest::ExcludeSeen& seen = request.exclude_seen();
  made->exclude_seen.types.assign(seen.types().begin(), seen.types().end());
  made->exclude_seen.disabled = seen.disabled();
  if (seen.has_within()) {
    auto within = ReadDuration(seen.within(), "exclude_seen.within");
    if (!within.ok()) return within.status();
    if (*within > absl::ZeroDuration()) made->exclude_seen.within = *within;
  }
  return made;
}

absl::StatusOr<PipelineRequest> RequestOf(const v1::RankRequest& request) {
  auto made = Shared(RequestKind::kRank, request);
  if (!made.ok()) return made;
  for (const v1::RankRequest::Candidate& candidate : request.candidates()) {
    made->given.push_back({candidate.item_id(), {candidate.features().begin(), candidate.features().end()}});
  }
  return made;
}

void ToMessage(const CollectionName& collection, const PipelineResponse& answer,
               v1::SearchResponse* response) {
  FillShared(collection, answer, RequestKind::kSearch, response);
  FillCurated(answer, response);
  response->set_next_page_token(answer.next_page_token);
  response->set_corrected_query(answer.corrected_query);
  for (const std::string& word : answer.left_out_words) response->add_left_out_words(word);
  for (const FacetAnswer& facet : answer.facets) ToMessage(facet, response->add_facets());
  if (answer.total < 0) return;
  response->set_total_size(answer.total);
  response->set_total_size_relation(answer.total_exact ? v1::EXACT : v1::AT_LEAST);
}

void ToMessage(const CollectionName& collection, const PipelineResponse& answer,
               v1::RecommendResponse* response) {
  FillShared(collection, answer, RequestKind::kRecommend, response);
  FillCurated(answer, response);
  response->set_next_page_token(answer.next_page_token);
}

void ToMessage(const CollectionName& collection, const PipelineResponse& answer, v1::RankResponse* response) {
  FillShared(collection, answer, RequestKind::kRank, response);
  for (const std::string& id : answer.unknown_item_ids) response->add_unknown_item_ids(id);
}

}  // namespace waymark
