#include <algorithm>

#include "absl/time/clock.h"
#include "pipeline/context_stage.h"
#include "pipeline/pipeline_call_impl.h"
#include "pipeline/request_check.h"
#include "pipeline/served_features.h"

namespace waymark {
namespace {

// A search with no more may be misspelled.
constexpr int64_t kFewHits = 5;

}  // namespace

absl::StatusOr<PipelineResponse> Pipeline::Call::Run() {
  const absl::Time start = absl::Now();
  if (auto status = MakeContext(); !status.ok()) return status;
  Lap("user_state", start);
  if (request_.page_token.empty()) {
    response_.request_id = request_.request_id.empty() ? NewRequestId() : request_.request_id;
    auto status = request_.kind == RequestKind::kRank ? RankGiven() : MakeList();
    if (!status.ok()) return status;
    if (!rivals_.empty()) InterleaveWithRivals();
  } else {
    auto list = ReadPageToken(*parts_.key, request_, context_.now);
    if (!list.ok()) return list.status();
    if (list->release_id != release_.record.id()) {
      return absl::FailedPreconditionError(
          "page_token: was made by a release that no longer serves; start again without a token");
    }
    list_ = *std::move(list);
    response_.request_id = list_.request_id;
  }
  if (auto status = AddFacets(); !status.ok()) return status;
  const absl::Time arrange = absl::Now();
  if (auto status = CutPage(); !status.ok()) return status;
  if (WordsOnly()) {
    CorrectQuery();
  }
  DescribeCuration();
  Sign();
  Lap("arrange", arrange);
  LogServed(start);
  Lap("total", start);
  return std::move(response_);
}

// What others asked goes before what the words of the catalogue suggest.
void Pipeline::Call::CorrectQuery() {
  response_.corrected_query =
      parts_.index->CorrectQuery(context_.query, request_.typo_tolerance, deadline_, context_.synonyms.get());
  const bool doubtful = !response_.corrected_query.empty() || list_.total <= kFewHits;
  const bool words_only = context_.query.find_first_of("+-~*^:()\"") == std::string::npos;
  if (!doubtful || !words_only || request_.typo_tolerance == TypoTolerance::kOff || !parts_.asked_instead) {
    return;
  }
  const std::string asked = parts_.asked_instead(context_.query, deadline_);
  if (!asked.empty()) response_.corrected_query = asked;
}

absl::Status Pipeline::Call::MakeContext() {
  auto state = MakeRequestState(*parts_.store, parts_.scope, *parts_.catalog, *parts_.clock, request_);
  if (!state.ok()) return state.status();
  context_ = std::move(state->context);
  filter_ = std::move(state->filter);
  for (Degraded& degraded : state->degraded) response_.degraded.push_back(std::move(degraded));
  ApplyCuration();
  auto facets = CheckFacets(request_.facets, *parts_.catalog->schema());
  if (!facets.ok()) return facets.status();
  facets_ = *std::move(facets);
  auto order = ParseSortOrder(request_.order_by, *parts_.catalog->schema());
  if (!order.ok()) return order.status();
  order_ = *std::move(order);
  if (request_.group_by) {
    auto field = FindGroupField(*parts_.catalog->schema(), request_.group_by->field, "group_by.field");
    if (!field.ok()) return field.status();
    group_field_ = *std::move(field);
  }
  context_.all_matches = WordsOnly() && (!facets_.empty() || Sorted() || Grouped() || Near());
  // No total is shown of feeds; whether there are few hits must be known.
  context_.count_up_to =
      request_.kind == RequestKind::kSearch ? std::max(request_.exact_total_limit, kFewHits) : kCountNone;
  return release_.behaviour->FillUserVector(&context_);
}

std::string Pipeline::Call::Arm() const {
  const bool drawn = !request_.arm_release.empty() && request_.release.empty() &&
                     release_.record.id() == request_.arm_release;
  // Whoever was to be shown both arms, and was not, is answered by a release as everybody is.
  if (request_.interleave != nullptr && response_.teams.empty()) return {};
  return drawn ? request_.arm : std::string();
}

absl::Status Pipeline::Call::AddFacets() {
  if (facets_.empty()) return absl::OkStatus();
  // A later page's list comes with its token, its matches do not.
  if (!request_.page_token.empty()) {
    if (Near()) {
      const int64_t total = list_.total;
      if (auto gathered = GatherWithNearest({1, 1}); !gathered.ok()) return gathered.status();
      list_.total = total;
    } else if (WordsOnly()) {
      Gather({1, 1});
    }
  }
  const absl::Time start = absl::Now();
  FacetBase base{parts_.catalog, filter_.get(), context_.allowed, nullptr, curated_.allowed};
  if (Matching()) {
    std::vector<ItemOrdinal> items;
    items.reserve(matches_.size());
    for (const ScoredItem& match : matches_) items.push_back(match.item);
    if (!Sorted()) {
      for (const CuratedPin& pin : curated_.pins) items.push_back(pin.item);
    }
    base.matches = std::make_shared<const ItemSet>(ItemSet::Of(items));
  }
  auto counted = CountFacets(facets_, base, deadline_, &response_.degraded);
  if (!counted.ok()) return counted.status();
  response_.facets = *std::move(counted);
  Lap("facets", start);
  return absl::OkStatus();
}

void Pipeline::Call::Sign() {
  response_.total = list_.total;
  response_.total_exact = list_.total_exact;
  response_.release = release_.record.id().empty() ? "none" : release_.record.id();
  response_.retriever = release_.retriever_version;
  response_.ranker = release_.ranker->version();
  storage::Attribution attribution;
  attribution.set_request_id(response_.request_id);
  attribution.set_release_id(release_.record.id());
  attribution.set_arm(Arm());
  attribution.set_time_us(absl::ToUnixMicros(context_.now));
  response_.attribution_token = parts_.key->Sign("attribution_token", attribution);
}

void Pipeline::Call::LogServed(absl::Time start) {
  if (parts_.served == nullptr || request_.copy) return;
  if (request_.personalization == PersonalizationMode::kOff) return;
  storage::ServeRecord record = MakeServeRecord(context_, response_, details_);
  record.set_arm(Arm());
  for (const RankedItem& item : response_.items) {
    const auto& all = response_.interleaved_items;
    const auto at = std::find(all.begin(), all.end(), item.item);
    if (at != all.end())
      record.mutable_teams()->push_back(response_.teams[static_cast<size_t>(at - all.begin())]);
  }
  if (WordsOnly()) {
    record.set_total_size(list_.total);
    record.set_took_us(absl::ToInt64Microseconds(absl::Now() - start));
  }
  *record.mutable_seen() = parts_.store->EndPosition();
  if (!details_.empty() && parts_.served->Sampled(response_.request_id)) {
    std::vector<Candidate> candidates;
    for (const RankedCandidate& detail : details_) candidates.push_back(detail.candidate);
    AddServedFeatures(context_, candidates, &record);
    record.set_sample_rate(parts_.served->sample_rate());
  }
  parts_.served->Served(std::move(record));
}

}  // namespace waymark
