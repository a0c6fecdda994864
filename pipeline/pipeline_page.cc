#include <algorithm>
#include <cmath>

#include "pipeline/arrange_stage.h"
#include "pipeline/group_stage.h"
#include "pipeline/pipeline_call_impl.h"
#include "pipeline/request_check.h"

namespace waymark {
namespace {

// How many of the best are re-ordered for diversity.
constexpr size_t kDiversityDepth = 150;

}  // namespace

absl::Status Pipeline::Call::Arrange(std::vector<RankedCandidate> ranked) {
  if (!Sorted()) Boost(&ranked);
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
  if (auto status = DrawPlaces(&ranked, &order); !status.ok()) return status;
  if (!Sorted() && !curated_.pins.empty()) {
    std::vector<Pin> pins;
    for (const CuratedPin& pin : curated_.pins) {
      for (size_t i = 0; i < ranked.size(); ++i) {
        if (ranked[i].candidate.item == pin.item) pins.push_back({i, pin.place});
      }
    }
    PinnedOrder pinned = PutPins(order, pins);
    order = std::move(pinned.order);
    list_.pinned = std::move(pinned.pinned);
  }
  if (Grouped()) {
    std::vector<ItemOrdinal> items;
    for (const size_t i : order) items.push_back(ranked[i].candidate.item);
    std::vector<uint64_t> keys;
    for (const GroupOfItem& group : ReadGroups(*parts_.catalog, group_field_, items))
      keys.push_back(group.key);
    GroupedOrder grouped = GroupRanked(keys, PerGroup(), kMaxPagedItems);
    const std::vector<uint32_t> pinned = std::move(list_.pinned);
    list_.pinned.clear();
    for (size_t at = 0; at < grouped.order.size(); ++at) {
      size_t& place = grouped.order[at];
      if (std::binary_search(pinned.begin(), pinned.end(), place)) {
        list_.pinned.push_back(static_cast<uint32_t>(at));
      }
      place = order[place];
    }
    order = std::move(grouped.order);
    list_.group_sizes = std::move(grouped.sizes);
  }
  for (size_t i : order) {
    list_.items.push_back(ranked[i].candidate.item);
    list_.scores.push_back(static_cast<float>(ranked[i].score));
    details_.push_back(std::move(ranked[i]));
  }
  if (!explored_.empty()) {
    for (const ItemOrdinal item : list_.items) list_.explored.push_back(explored_[item]);
  }
  list_.release_id = release_.record.id();
  list_.request_id = response_.request_id;
  return absl::OkStatus();
}

absl::Status Pipeline::Call::CutPage() {
  const size_t page_size = EffectivePageSize(request_);
  const auto visible = [this](size_t i) {
    const ItemOrdinal item = list_.items[i];
    if (!parts_.catalog->Live(item)) return false;
    if (std::binary_search(context_.excluded.begin(), context_.excluded.end(), item) && i < strict_items_) {
      return false;
    }
    if (curated_.allowed && !curated_.allowed->Contains(item)) return false;
    return filter_ == nullptr || !request_.strict_filter || parts_.catalog->Passes(*filter_, item);
  };
  const Page page = Grouped() ? TakeGroups(list_.group_sizes, list_.next, page_size, visible)
                              : TakePage(list_.items.size(), list_.next, page_size, visible);
  std::vector<ItemOrdinal> items;
  for (size_t i : page.indexes) items.push_back(list_.items[i]);
  const auto records = parts_.store->GetItems(parts_.scope, items);
  if (auto status = MakeHighlighter(); !status.ok()) return status;
  for (size_t k = 0; k < page.indexes.size(); ++k) {
    if (!records[k]) continue;  // deleted between the look at the catalogue and the read
    response_.items.push_back(MakeItem(page.indexes[k], *records[k]));
  }
  if (Grouped()) NameGroups();
  if (request_.explain && WordsOnly()) ExplainWords();
  MeasureDistances();
  list_.next = page.next;
  const size_t end = std::min(list_.items.size(), kMaxPagedItems);
  if (request_.kind != RequestKind::kRank && list_.next < end) {
    response_.next_page_token = MakePageToken(*parts_.key, request_, list_, context_.now);
  }
  return absl::OkStatus();
}

absl::Status Pipeline::Call::MakeHighlighter() {
  if (!request_.highlight || !WordsOnly()) return absl::OkStatus();
  auto made = parts_.index->MakeHighlighter(context_.query, request_.typo_tolerance, *request_.highlight,
                                            deadline_, context_.synonyms.get());
  if (!made.ok()) return made.status();
  highlighter_ = *std::move(made);
  return absl::OkStatus();
}

void Pipeline::Call::Highlight(const storage::ItemRecord& record, RankedItem* out) {
  if (!highlighter_) return;
  if (deadline_.Expired()) {
    response_.degraded.push_back({"highlight", "the deadline passed: some items are not highlighted"});
    highlighter_.reset();
    return;
  }
  out->highlights = highlighter_->Highlight(record);
}

void Pipeline::Call::NameGroups() {
  std::vector<ItemOrdinal> items;
  for (const RankedItem& item : response_.items) items.push_back(item.item);
  const auto groups = ReadGroups(*parts_.catalog, group_field_, items);
  for (size_t i = 0; i < groups.size(); ++i) response_.items[i].group = ItemGroup{groups[i].value};
}

void Pipeline::Call::MeasureDistances() {
  std::string field;
  GeoPoint from;
  if (const SortKey* key = FindDistance(order_)) {
    field = key->field.name();
    from = *key->from;
  } else if (const FilterNode* node = filter_ == nullptr ? nullptr : FindDistance(filter_->root)) {
    field = node->field;
    from = {node->numbers[0], node->numbers[1]};
  } else {
    return;
  }
  std::vector<ItemOrdinal> items;
  for (const RankedItem& item : response_.items) items.push_back(item.item);
  std::vector<double> metres(items.size());
  parts_.catalog->ReadDistances(field, from, items, absl::MakeSpan(metres));
  for (size_t i = 0; i < items.size(); ++i) {
    if (std::isfinite(metres[i])) response_.items[i].distance_metres = metres[i];
  }
}

void Pipeline::Call::ExplainWords() {
  std::vector<ItemOrdinal> items;
  for (const RankedItem& item : response_.items) items.push_back(item.item);
  auto explained = parts_.index->Explain(context_.query, items, deadline_, request_.typo_tolerance,
                                         context_.synonyms.get());
  for (size_t i = 0; i < items.size(); ++i) {
    response_.items[i].keyword_explanation = std::move(explained[i]);
  }
  if (deadline_.Expired()) {
    response_.degraded.push_back({"explain", "the deadline passed: some scores are not explained"});
  }
}

RankedItem Pipeline::Call::MakeItem(size_t index, const storage::ItemRecord& record) {
  RankedItem out;
  out.item = list_.items[index];
  out.score = list_.scores[index];
  out.record = VisibleRecord(request_, record);
  out.pinned = std::binary_search(list_.pinned.begin(), list_.pinned.end(), index);
  if (index < list_.explored.size() && list_.explored[index].propensity() > 0) {
    out.exploration = list_.explored[index];
  }
  Highlight(record, &out);
  // A later page has no details: its token carries scores only.
  if (index < details_.size()) Describe(details_[index], &out);
  if (Near()) DescribeNearness(&out);
  return out;
}

}  // namespace waymark
