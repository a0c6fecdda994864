#include <algorithm>

#include "curation/query_terms.h"
#include "pipeline/arrange_stage.h"
#include "pipeline/pipeline_call_impl.h"

namespace waymark {
namespace {

// What rules see of who asks.
google::protobuf::Struct RuleContext(const PipelineRequest& request) {
  google::protobuf::Struct context = request.context;
  if (!request.surface.empty()) {
    (*context.mutable_fields())["surface"].set_string_value(request.surface);
  }
  return context;
}

}  // namespace

void Pipeline::Call::ApplyCuration() {
  if (parts_.curation == nullptr || request_.curation == CurationMode::kOff ||
      request_.kind == RequestKind::kRank) {
    return;
  }
  const std::shared_ptr<const CurationSnapshot> now = parts_.curation->snapshot();
  const google::protobuf::Struct asked = RuleContext(request_);
  if (now->rule_size.entries > 0) {
    const std::vector<std::string> terms = QueryTerms(request_.query, now->analyzer);
    const auto rules = now->rules.Match({terms, &asked, context_.now});
    if (!rules.empty()) {
      curated_ =
          Curate(rules, {parts_.store, parts_.scope, parts_.catalog, filter_.get(), &context_.excluded});
      for (Degraded& degraded : curated_.degraded) response_.degraded.push_back(std::move(degraded));
    }
  }
  if (!curated_.replacement_query.empty()) context_.query = curated_.replacement_query;
  if (now->synonym_size.entries > 0 && !context_.query.empty()) {
    const auto locale = asked.fields().find("locale");
    context_.synonyms = std::make_shared<const SynonymView>(SynonymView{
        now->synonyms, locale == asked.fields().end() ? std::string() : locale->second.string_value()});
  }
  if (curated_.allowed) {
    context_.allowed =
        context_.allowed
            ? std::make_shared<const ItemSet>(ItemSet::Both(*context_.allowed, *curated_.allowed))
            : curated_.allowed;
  }
}

void Pipeline::Call::AddPinned(std::vector<Candidate>* candidates) const {
  for (const CuratedPin& pin : curated_.pins) {
    const bool excluded = std::binary_search(context_.excluded.begin(), context_.excluded.end(), pin.item);
    const bool found = std::any_of(candidates->begin(), candidates->end(),
                                   [&](const Candidate& candidate) { return candidate.item == pin.item; });
    if (!excluded && !found) candidates->emplace_back().item = pin.item;
  }
}

void Pipeline::Call::CountPinned() {
  // Where all that passes the filter is counted, pins are among it.
  if (!WordsOnly() || curated_.pins.empty()) return;
  std::vector<ItemOrdinal> pinned;
  for (const CuratedPin& pin : curated_.pins) pinned.push_back(pin.item);
  KeywordQuery query{context_.query};
  query.match_all = context_.match_all_words;
  query.typos = context_.typo_tolerance;
  if (auto minimum = MinimumMatch::Parse(context_.minimum_match); minimum.ok()) query.minimum = *minimum;
  query.left_out = response_.left_out_words;
  query.synonyms = context_.synonyms;
  query.allowed = std::make_shared<const ItemSet>(ItemSet::Of(pinned));
  const auto matching = parts_.index->Search(query, pinned.size(), deadline_);
  if (!matching.ok() || !matching->complete) {
    list_.total_exact = false;
    return;
  }
  list_.total = std::max<int64_t>(list_.total, 0) + static_cast<int64_t>(pinned.size()) - matching->total;
}

void Pipeline::Call::Boost(std::vector<RankedCandidate>* ranked) {
  if (curated_.boosts.empty()) return;
  std::vector<ItemOrdinal> items;
  std::vector<double> scores;
  for (const RankedCandidate& r : *ranked) {
    items.push_back(r.candidate.item);
    scores.push_back(r.score);
  }
  const std::vector<double> factors = FactorsOf(items, curated_.boosts);
  const std::vector<double> boosted = BoostedScores(scores, factors);
  for (size_t i = 0; i < ranked->size(); ++i) {
    RankedCandidate& r = (*ranked)[i];
    if (request_.explain && factors[i] != 1) {
      r.explanation.push_back(
          {"curation.boost", static_cast<float>(factors[i]), static_cast<float>(boosted[i] - r.score)});
    }
    r.score = boosted[i];
  }
  // What fills up a short list stays behind it.
  const auto better = [](const RankedCandidate& a, const RankedCandidate& b) { return a.score > b.score; };
  const auto middle = ranked->begin() + static_cast<std::ptrdiff_t>(std::min(strict_items_, ranked->size()));
  std::stable_sort(ranked->begin(), middle, better);
  std::stable_sort(middle, ranked->end(), better);
}

void Pipeline::Call::DescribeCuration() {
  response_.rules = curated_.rules;
  response_.redirect_uri = curated_.redirect_uri;
  response_.replacement_query = curated_.replacement_query;
  if (context_.synonyms) {
    response_.synonyms = parts_.index->SynonymsOf(context_.query, *context_.synonyms);
  }
}

}  // namespace waymark
