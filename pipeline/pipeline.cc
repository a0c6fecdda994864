#include "pipeline/pipeline.h"

#include <openssl/rand.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "catalog/group_items.h"
#include "catalog/sort_items.h"
#include "pipeline/answer_stage.h"
#include "pipeline/arrange_stage.h"
#include "pipeline/candidate_stage.h"
#include "pipeline/context_stage.h"
#include "pipeline/facet_stage.h"
#include "pipeline/group_stage.h"
#include "pipeline/page_list.h"
#include "pipeline/rank_stage.h"
#include "pipeline/request_check.h"
#include "pipeline/served_features.h"

namespace waymark {
namespace {

// How many of the best are re-ordered for diversity.
constexpr size_t kDiversityDepth = 150;

std::string NewRequestId() {
  std::string bytes(12, '\0');
  RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  return absl::BytesToHexString(bytes);
}

// What the keyword index knows of an item, whichever source found it.
class KeywordSignals : public SignalProvider {
 public:
  explicit KeywordSignals(const KeywordIndex* index) : index_(index) {}
  void Fill(const RequestContext& context, absl::Span<Candidate> candidates) const override {
    if (!context.query.empty()) index_->Fill(context.query, candidates);
  }

 private:
  const KeywordIndex* index_;
};

}  // namespace

// One request on its way through the stages.
class Pipeline::Call {
 public:
  Call(const Pipeline& pipeline, const LoadedRelease& release, const PipelineRequest& request,
       Deadline deadline)
      : pipeline_(pipeline),
        parts_(pipeline.parts_),
        release_(release),
        request_(request),
        deadline_(deadline) {}

  absl::StatusOr<PipelineResponse> Run() {
    const absl::Time start = absl::Now();
    if (auto status = MakeContext(); !status.ok()) return status;
    Lap("user_state", start);
    if (request_.page_token.empty()) {
      response_.request_id = NewRequestId();
      auto status = request_.kind == RequestKind::kRank ? RankGiven() : MakeList();
      if (!status.ok()) return status;
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
    Sign();
    Lap("arrange", arrange);
    LogServed();
    Lap("total", start);
    return std::move(response_);
  }

 private:
  void Lap(const char* stage, absl::Time since) { response_.timings.push_back({stage, absl::Now() - since}); }

  absl::Status MakeContext() {
    auto state = MakeRequestState(*parts_.store, parts_.scope, *parts_.catalog, *parts_.clock, request_);
    if (!state.ok()) return state.status();
    context_ = std::move(state->context);
    filter_ = std::move(state->filter);
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
    context_.all_matches = WordsOnly() && (!facets_.empty() || Sorted() || Grouped());
    return release_.behaviour->FillUserVector(&context_);
  }

  bool WordsOnly() const { return request_.kind == RequestKind::kSearch && !request_.query.empty(); }

  bool Sorted() const { return !order_.keys.empty(); }
  bool Grouped() const { return request_.group_by.has_value(); }
  size_t PerGroup() const { return static_cast<size_t>(std::max(1, request_.group_by->limit)); }

  std::vector<const CandidateSource*> Sources() const {
    if (WordsOnly()) return {pipeline_.keyword_.get()};
    std::vector<const CandidateSource*> sources = release_.behaviour->Sources();
    if (!request_.query.empty()) sources.push_back(pipeline_.keyword_.get());
    sources.push_back(&pipeline_.fresh_);
    return sources;
  }

  absl::StatusOr<std::vector<RankedCandidate>> GatherAndRank() {
    CandidateLimits limits{request_.per_source_limit, request_.rank_limit};
    // A search ranks as many matches as its pages may show.
    if (WordsOnly() && limits.merged == 0) limits.merged = static_cast<int>(kMaxPagedItems);
    GatheredCandidates gathered = Gather(limits);
    CountTotal(gathered);
    if (WordsOnly() && Grouped()) {
      AddBestOfGroups(static_cast<size_t>(limits.merged), &gathered.candidates);
    }
    return Rank(std::move(gathered.candidates), {});
  }

  // Asks the sources; all matches go into matches_.
  GatheredCandidates Gather(const CandidateLimits& limits) {
    GatheredCandidates gathered =
        GatherCandidates(context_, Sources(), release_.record.plan(), limits, deadline_);
    matches_ = std::move(gathered.matches);
    for (auto& d : gathered.degraded) response_.degraded.push_back(std::move(d));
    for (auto& t : gathered.timings) response_.timings.push_back(std::move(t));
    return gathered;
  }

  void CountTotal(const GatheredCandidates& gathered) {
    list_.total = gathered.total;
    list_.total_exact = gathered.total_exact;
    if (request_.kind == RequestKind::kSearch && request_.query.empty()) {
      list_.total =
          context_.allowed ? static_cast<int64_t>(context_.allowed->Size()) : parts_.catalog->live_count();
    }
  }

  // All that match, in the order that is asked for; ranking has no say in it.
  absl::StatusOr<std::vector<RankedCandidate>> GatherAndSort() {
    CountTotal(WordsOnly() ? Gather({1, 1}) : GatheredCandidates());
    const absl::Time start = absl::Now();
    auto sorted = Grouped() ? BestOfGroups(kMaxPagedItems) : SortAll();
    if (!sorted.ok()) return sorted.status();
    std::vector<Candidate> candidates;
    for (const ScoredItem& item : *sorted) {
      Candidate& candidate = candidates.emplace_back();
      candidate.item = item.item;
      candidate.fusion_score = item.score;
    }
    Lap("sort", start);
    // The log of served lists keeps features of samples.
    FillAllSignals(&candidates);
    return AsMerged(std::move(candidates));
  }

  absl::StatusOr<std::vector<ScoredItem>> SortAll() const {
    return SortItems(*parts_.catalog, order_, context_.allowed.get(), WordsOnly() ? &matches_ : nullptr,
                     kMaxPagedItems, [this] { return deadline_.Expired(); });
  }

  // Of all that match: in the order that is asked for, else by the words' score.
  absl::StatusOr<std::vector<ScoredItem>> BestOfGroups(size_t limit) const {
    return GroupItems(*parts_.catalog, {group_field_, PerGroup(), limit}, order_, context_.allowed.get(),
                      WordsOnly() ? &matches_ : nullptr, [this] { return deadline_.Expired(); });
  }

  // The most frequent group may hold more than the best that are ranked.
  void AddBestOfGroups(size_t most, std::vector<Candidate>* candidates) {
    const auto best = BestOfGroups(most);
    if (best.ok()) return PutFirst(*best, most, candidates);
    response_.degraded.push_back({"group", "the deadline passed: only groups of the best matches are shown"});
  }

  void FillAllSignals(std::vector<Candidate>* candidates) {
    const absl::Time start = absl::Now();
    const KeywordSignals keyword(parts_.index);
    FillSignals(context_, {release_.behaviour.get(), &pipeline_.content_, &keyword}, candidates);
    Lap("signals", start);
  }

  // `given`: signals that the caller brings, by item; they take the place of our own.
  absl::StatusOr<std::vector<RankedCandidate>> Rank(
      std::vector<Candidate> candidates,
      const std::vector<std::pair<ItemOrdinal, const GivenCandidate*>>& given) {
    FillAllSignals(&candidates);
    for (size_t i = 0; i < given.size(); ++i) {
      for (const auto& [name, value] : given[i].second->features) {
        Set(candidates[i].signals, *FindSignal(name), static_cast<float>(value));
      }
    }
    const absl::Time start = absl::Now();
    // Rankers learn from histories; who has none gets what is popular, and new.
    if (request_.kind == RequestKind::kRecommend && context_.history.empty() && context_.query.empty()) {
      return AsMerged(std::move(candidates));
    }
    RankStageOptions options;
    options.search = WordsOnly();
    options.explain = request_.explain;
    options.search_ranker_weight = release_.record.plan().search_ranker_weight();
    auto ranked = RankCandidates(*release_.ranker, context_, candidates, options, deadline_);
    if (!ranked.ok() && absl::IsDeadlineExceeded(ranked.status()) && !candidates.empty()) {
      response_.degraded.push_back({"rank", "the deadline passed: in the order of the merged sources"});
      return AsMerged(std::move(candidates));
    }
    Lap("rank", start);
    return ranked;
  }

  static std::vector<RankedCandidate> AsMerged(std::vector<Candidate> candidates) {
    std::vector<RankedCandidate> merged;
    for (Candidate& candidate : candidates) {
      RankedCandidate& out = merged.emplace_back();
      out.score = candidate.fusion_score;
      out.candidate = std::move(candidate);
    }
    return merged;
  }

  absl::Status MakeList() {
    auto ranked = Sorted() ? GatherAndSort() : GatherAndRank();
    if (!ranked.ok()) return ranked.status();
    if (ranked->empty() && !response_.degraded.empty() && deadline_.Expired()) {
      return absl::DeadlineExceededError(
          absl::StrCat("nothing was found before the deadline: ", response_.degraded[0].stage, " was ",
                       response_.degraded[0].reason));
    }
    strict_items_ = ranked->size();
    const size_t wanted = EffectivePageSize(request_);
    if (!request_.strict_filter && filter_ != nullptr && ranked->size() < wanted &&
        request_.kind == RequestKind::kRecommend) {
      if (auto status = FillUpWithoutFilter(&*ranked, wanted); !status.ok()) return status;
    }
    Arrange(std::move(*ranked));
    return absl::OkStatus();
  }

  absl::Status FillUpWithoutFilter(std::vector<RankedCandidate>* ranked, size_t wanted) {
    auto passing = std::move(context_.allowed);
    const std::vector<ItemOrdinal> excluded = context_.excluded;
    for (const RankedCandidate& r : *ranked) context_.excluded.push_back(r.candidate.item);
    SortUnique(&context_.excluded);
    context_.allowed = parts_.catalog->LiveItems();
    const int64_t total = list_.total;
    auto others = GatherAndRank();
    list_.total = total;
    context_.allowed = std::move(passing);
    context_.excluded = excluded;
    if (!others.ok()) return others.status();
    response_.degraded.push_back({"filter", absl::StrCat("only ", ranked->size(), " of ", wanted,
                                                         " items pass the filter; filled up with others")});
    for (RankedCandidate& r : *others) ranked->push_back(std::move(r));
    return absl::OkStatus();
  }

  void Arrange(std::vector<RankedCandidate> ranked) {
    std::vector<size_t> order(ranked.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (request_.diversity > 0) {
      const size_t depth = std::min({ranked.size(), kDiversityDepth, strict_items_});
      std::vector<ItemOrdinal> items(depth);
      for (size_t i = 0; i < depth; ++i) items[i] = ranked[i].candidate.item;
      std::vector<std::vector<uint64_t>> titles, categories;
      parts_.catalog->ReadContent(items, &titles, &categories);
      std::vector<ArrangeItem> arranged(ranked.size());
      for (size_t i = 0; i < ranked.size(); ++i) {
        arranged[i].item = ranked[i].candidate.item;
        arranged[i].score = ranked[i].score;
        if (i < depth) arranged[i].categories = std::move(categories[i]);
      }
      order = Diversify(arranged, request_.diversity, depth);
    }
    if (Grouped()) {
      std::vector<ItemOrdinal> items;
      for (const size_t i : order) items.push_back(ranked[i].candidate.item);
      std::vector<uint64_t> keys;
      for (const GroupOfItem& group : ReadGroups(*parts_.catalog, group_field_, items))
        keys.push_back(group.key);
      GroupedOrder grouped = GroupRanked(keys, PerGroup(), kMaxPagedItems);
      for (size_t& place : grouped.order) place = order[place];
      order = std::move(grouped.order);
      list_.group_sizes = std::move(grouped.sizes);
    }
    for (size_t i : order) {
      list_.items.push_back(ranked[i].candidate.item);
      list_.scores.push_back(static_cast<float>(ranked[i].score));
      details_.push_back(std::move(ranked[i]));
    }
    list_.release_id = release_.record.id();
    list_.request_id = response_.request_id;
  }

  absl::Status AddFacets() {
    if (facets_.empty()) return absl::OkStatus();
    // A later page's list comes with its token, its matches do not.
    if (WordsOnly() && !request_.page_token.empty()) Gather({1, 1});
    const absl::Time start = absl::Now();
    FacetBase base{parts_.catalog, filter_.get(), context_.allowed, nullptr};
    if (WordsOnly()) {
      std::vector<ItemOrdinal> items;
      items.reserve(matches_.size());
      for (const ScoredItem& match : matches_) items.push_back(match.item);
      base.matches = std::make_shared<const ItemSet>(ItemSet::Of(items));
    }
    auto counted = CountFacets(facets_, base, deadline_, &response_.degraded);
    if (!counted.ok()) return counted.status();
    response_.facets = *std::move(counted);
    Lap("facets", start);
    return absl::OkStatus();
  }

  absl::Status RankGiven() {
    std::vector<Candidate> candidates;
    std::vector<std::pair<ItemOrdinal, const GivenCandidate*>> given;
    for (const GivenCandidate& g : request_.given) {
      auto item = parts_.store->FindItem(parts_.scope, g.item_id);
      if (!item || !parts_.catalog->Live(*item)) {
        response_.unknown_item_ids.push_back(g.item_id);
        continue;
      }
      candidates.emplace_back().item = *item;
      given.emplace_back(*item, &g);
    }
    auto ranked = Rank(std::move(candidates), given);
    if (!ranked.ok()) return ranked.status();
    strict_items_ = ranked->size();
    Arrange(*std::move(ranked));
    return absl::OkStatus();
  }

  absl::Status CutPage() {
    const size_t page_size = EffectivePageSize(request_);
    const auto visible = [this](size_t i) {
      const ItemOrdinal item = list_.items[i];
      if (!parts_.catalog->Live(item)) return false;
      if (std::binary_search(context_.excluded.begin(), context_.excluded.end(), item) && i < strict_items_) {
        return false;
      }
      return filter_ == nullptr || !request_.strict_filter || parts_.catalog->Passes(*filter_, item);
    };
    const Page page = Grouped() ? TakeGroups(list_.group_sizes, list_.next, page_size, visible)
                                : TakePage(list_.items.size(), list_.next, page_size, visible);
    std::vector<ItemOrdinal> items;
    for (size_t i : page.indexes) items.push_back(list_.items[i]);
    const auto records = parts_.store->GetItems(parts_.scope, items);
    for (size_t k = 0; k < page.indexes.size(); ++k) {
      if (!records[k]) continue;  // deleted between the look at the catalogue and the read
      response_.items.push_back(MakeItem(page.indexes[k], *records[k]));
    }
    if (Grouped()) NameGroups();
    list_.next = page.next;
    const size_t end = std::min(list_.items.size(), kMaxPagedItems);
    if (request_.kind != RequestKind::kRank && list_.next < end) {
      response_.next_page_token = MakePageToken(*parts_.key, request_, list_, context_.now);
    }
    return absl::OkStatus();
  }

  void NameGroups() {
    std::vector<ItemOrdinal> items;
    for (const RankedItem& item : response_.items) items.push_back(item.item);
    const auto groups = ReadGroups(*parts_.catalog, group_field_, items);
    for (size_t i = 0; i < groups.size(); ++i) response_.items[i].group = ItemGroup{groups[i].value};
  }

  RankedItem MakeItem(size_t index, const storage::ItemRecord& record) const {
    RankedItem out;
    out.item = list_.items[index];
    out.score = list_.scores[index];
    out.record = VisibleRecord(request_, record);
    // A later page has no details: its token carries scores only.
    if (index < details_.size()) Describe(details_[index], &out);
    return out;
  }

  void Sign() {
    response_.total = list_.total;
    response_.total_exact = list_.total_exact;
    response_.release = release_.record.id().empty() ? "none" : release_.record.id();
    response_.retriever = release_.retriever_version;
    response_.ranker = release_.ranker->version();
    storage::Attribution attribution;
    attribution.set_request_id(response_.request_id);
    attribution.set_release_id(release_.record.id());
    attribution.set_time_us(absl::ToUnixMicros(context_.now));
    response_.attribution_token = parts_.key->Sign("attribution_token", attribution);
  }

  void LogServed() {
    if (parts_.served == nullptr || request_.personalization == PersonalizationMode::kOff) return;
    storage::ServeRecord record = MakeServeRecord(context_, response_, details_);
    *record.mutable_seen() = parts_.store->EndPosition();
    if (!details_.empty() && parts_.served->Sampled(response_.request_id)) {
      std::vector<Candidate> candidates;
      for (const RankedCandidate& detail : details_) candidates.push_back(detail.candidate);
      AddServedFeatures(context_, candidates, &record);
      record.set_sample_rate(parts_.served->sample_rate());
    }
    parts_.served->Served(std::move(record));
  }

  const Pipeline& pipeline_;
  const PipelineParts& parts_;
  const LoadedRelease& release_;
  const PipelineRequest& request_;
  const Deadline deadline_;
  RequestContext context_;
  std::shared_ptr<const Filter> filter_;
  std::vector<CheckedFacet> facets_;
  SortOrder order_;
  Field group_field_;  // when group_by is set
  std::vector<ScoredItem>
      matches_;  // of the words, whatever the filter; when facets or an order ask for them
  PageList list_;
  std::vector<RankedCandidate> details_;  // of list_, on the first page
  size_t strict_items_ =
      kMaxPagedItems;  // items of list_ that were found under the filter and the exclusions
  PipelineResponse response_;
};

Pipeline::Pipeline(PipelineParts parts)
    : parts_(parts),
      keyword_(MakeKeywordSource(parts.index)),
      fresh_(parts.store, parts.scope, parts.catalog),
      content_(parts.catalog, parts.first_events) {}

absl::StatusOr<PipelineResponse> Pipeline::Run(const Snapshot& snapshot, const PipelineRequest& request,
                                               Deadline deadline) const {
  if (auto status = CheckRequest(request); !status.ok()) return status;
  const LoadedRelease* release = snapshot.active.get();
  if (!request.release.empty()) {
    const auto found = snapshot.releases.find(request.release);
    if (found == snapshot.releases.end()) {
      return absl::NotFoundError(absl::StrCat("release: '", request.release, "' is not loaded"));
    }
    release = found->second.get();
  }
  return Call(*this, *release, request, deadline).Run();
}

}  // namespace waymark
