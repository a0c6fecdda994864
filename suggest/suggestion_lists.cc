#include "suggest/suggestion_lists.h"

#include <algorithm>
#include <cmath>

#include "index/indexed_fields.h"

namespace waymark {
namespace {

constexpr absl::Duration kNewnessHalfLife = absl::Hours(24 * 30);
constexpr size_t kChunk = 4096;

void Weigh(const ListParts& parts, absl::Span<const ItemOrdinal> items, std::vector<float>* weights) {
  weights->assign(items.size(), 0);
  const absl::Time now = parts.clock->Now();
  if (parts.popularity) parts.popularity(items, now, absl::MakeSpan(*weights));
  std::vector<absl::Time> created(items.size());
  parts.catalog->ReadCreateTimes(items, absl::MakeSpan(created));
  for (size_t i = 0; i < items.size(); ++i) {
    // By days, so that what came together ties.
    const absl::Duration days = absl::Floor(now - created[i], absl::Hours(24));
    const double age = std::max(0.0, absl::FDivDuration(days, kNewnessHalfLife));
    if (created[i] != absl::InfiniteFuture()) (*weights)[i] += static_cast<float>(std::exp2(-age));
  }
}

bool Weigh(const ListParts& parts, std::vector<CompletionSource>* sources, Stop stop) {
  std::vector<ItemOrdinal> items;
  std::vector<float> weights;
  for (size_t from = 0; from < sources->size(); from += kChunk) {
    if (stop()) return false;
    const size_t end = std::min(sources->size(), from + kChunk);
    items.clear();
    for (size_t i = from; i < end; ++i) items.push_back((*sources)[i].item);
    Weigh(parts, items, &weights);
    for (size_t i = from; i < end; ++i) (*sources)[i].weight = weights[i - from];
  }
  return true;
}

using Sources = std::vector<std::vector<CompletionSource>>;  // of each title field

void AddTitles(const SuggestedFields& fields, ItemOrdinal item, const storage::ItemRecord& record,
               Sources* sources) {
  for (size_t f = 0; f < fields.titles.size(); ++f) {
    const auto value = record.fields().fields().find(fields.titles[f]);
    if (value == record.fields().fields().end()) continue;
    ForEachText(value->second, [&](std::string_view text) {
      if (text.size() <= kMaxCompletionBytes) (*sources)[f].push_back({std::string(text), 0, item});
    });
  }
}

bool FinishTitles(const ListParts& parts, Sources sources, SuggestionLists* lists, Stop stop) {
  for (size_t f = 0; f < sources.size(); ++f) {
    if (!Weigh(parts, &sources[f], stop)) return false;
    auto list = CompletionList::Build(std::move(sources[f]), stop);
    if (list == nullptr) return false;
    lists->titles.push_back({lists->fields.titles[f], std::move(list)});
  }
  return true;
}

std::vector<CompletionSource> SumValues(const ListParts& parts, const std::string& field,
                                        absl::Span<const ItemOrdinal> items, Stop stop) {
  absl::flat_hash_map<TermNumber, float> sums;
  std::vector<std::vector<TermNumber>> terms;
  std::vector<float> weights;
  for (size_t from = 0; from < items.size() && !stop(); from += kChunk) {
    const auto chunk = items.subspan(from, kChunk);
    parts.catalog->ReadTerms(field, chunk, &terms);
    Weigh(parts, chunk, &weights);
    for (size_t i = 0; i < chunk.size(); ++i) {
      for (const TermNumber term : terms[i]) sums[term] += 1 + weights[i];
    }
  }
  std::vector<CompletionSource> sources;
  for (const auto& [term, sum] : sums) {
    std::string text = parts.catalog->TermText(field, term);
    if (!text.empty()) sources.push_back({std::move(text), sum, kNoItem});
  }
  return sources;
}

bool AddValues(const ListParts& parts, absl::Span<const ItemOrdinal> items, SuggestionLists* lists,
               Stop stop) {
  for (const std::string& field : lists->fields.values) {
    auto list = CompletionList::Build(SumValues(parts, field, items, stop), stop);
    if (list == nullptr || stop()) return false;
    lists->values.push_back({field, std::move(list)});
  }
  return true;
}

}  // namespace

size_t SuggestionLists::entries() const {
  size_t sum = 0;
  for (const auto* kind : {&titles, &values}) {
    for (const FieldList& field : *kind) sum += field.list->entry_count();
  }
  return sum;
}

size_t SuggestionLists::memory_bytes() const {
  size_t sum = 0;
  for (const auto* kind : {&titles, &values}) {
    for (const FieldList& field : *kind) sum += field.list->memory().sum();
  }
  return sum;
}

absl::StatusOr<std::shared_ptr<const SuggestionLists>> MakeLists(const ListParts& parts,
                                                                 const SuggestedFields& fields, Stop stop) {
  auto lists = std::make_shared<SuggestionLists>();
  lists->position = parts.store->End();
  lists->fields = fields;
  Sources sources(fields.titles.size());
  bool stopped = false;
  if (!fields.titles.empty()) {
    auto status =
        parts.store->ForEachItem(parts.scope, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
          AddTitles(fields, item, record, &sources);
          stopped = stop();
          return !stopped;
        });
    if (!status.ok()) return status;
  }
  if (stopped || !FinishTitles(parts, std::move(sources), lists.get(), stop)) return nullptr;
  if (!AddValues(parts, parts.catalog->LiveItems()->ToVector(), lists.get(), stop)) return nullptr;
  return std::shared_ptr<const SuggestionLists>(std::move(lists));
}

absl::StatusOr<std::shared_ptr<const SuggestionLists>> MakeListsOf(const ListParts& parts,
                                                                   const SuggestedFields& fields,
                                                                   const std::vector<ItemOrdinal>& items) {
  const auto never = [] { return false; };
  auto lists = std::make_shared<SuggestionLists>();
  lists->position = parts.store->End();
  lists->fields = fields;
  Sources sources(fields.titles.size());
  for (size_t from = 0; from < items.size(); from += kChunk) {
    const auto chunk = absl::MakeConstSpan(items).subspan(from, kChunk);
    const auto records = parts.store->GetItems(parts.scope, chunk);
    for (size_t i = 0; i < chunk.size(); ++i) {
      if (records[i]) AddTitles(fields, chunk[i], *records[i], &sources);
    }
  }
  FinishTitles(parts, std::move(sources), lists.get(), never);
  AddValues(parts, items, lists.get(), never);
  return std::shared_ptr<const SuggestionLists>(std::move(lists));
}

std::shared_ptr<const SuggestionLists> MergeLists(const ListParts& parts, const SuggestionLists& before,
                                                  const SuggestionLists& newer,
                                                  const absl::flat_hash_set<ItemOrdinal>& changed,
                                                  Stop stop) {
  auto lists = std::make_shared<SuggestionLists>();
  lists->position = newer.position;
  lists->fields = before.fields;
  Sources sources(before.titles.size());
  for (size_t f = 0; f < before.titles.size(); ++f) {
    for (const SuggestionLists* from : {&before, &newer}) {
      const CompletionList& list = *from->titles[f].list;
      for (CompletionEntry e = 0; e < list.entry_count(); ++e) {
        for (const ItemOrdinal item : list.items(e)) {
          if (from == &before && changed.contains(item)) continue;
          if (!parts.catalog->Live(item)) continue;
          sources[f].push_back({std::string(list.text(e)), 0, item});
        }
      }
      if (stop()) return nullptr;
    }
  }
  if (!FinishTitles(parts, std::move(sources), lists.get(), stop)) return nullptr;
  if (!AddValues(parts, parts.catalog->LiveItems()->ToVector(), lists.get(), stop)) return nullptr;
  return lists;
}

}  // namespace waymark
