#include "suggest/suggestion_answer.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "catalog/keyword_values.h"
#include "suggest/complete.h"

namespace waymark {
namespace {

absl::Status CheckRequest(const SuggestRequest& request) {
  if (request.query.size() > kMaxSuggestQueryBytes) {
    return absl::InvalidArgumentError(absl::StrCat("query: has ", request.query.size(),
                                                   " bytes; it takes at most ", kMaxSuggestQueryBytes));
  }
  if (request.limit < 0 || request.limit > kMaxSuggestions) {
    return absl::InvalidArgumentError(absl::StrCat("limit: is ", request.limit, "; it takes 0 (for ",
                                                   kDefaultSuggestions, ") to ", kMaxSuggestions));
  }
  return absl::OkStatus();
}

struct Found {
  Suggestion suggestion;
  ItemOrdinal item = kNoItem;
  Completion completion;
  // Of the order within a kind.
  auto Rank() const {
    return std::tuple(completion.edits, !completion.whole, -completion.score, !completion.start,
                      suggestion.text.size(), std::string_view(suggestion.text));
  }
};

class Answer {
 public:
  Answer(const SuggestionSnapshot& snapshot, const ListParts& parts, const SuggestRequest& request,
         SuggestedFields fields, std::shared_ptr<const ItemSet> allowed, Deadline deadline)
      : snapshot_(snapshot),
        parts_(parts),
        request_(request),
        fields_(std::move(fields)),
        allowed_(std::move(allowed)),
        deadline_(deadline),
        typed_(TypedOf(request.query)),
        limit_(static_cast<size_t>(request.limit == 0 ? kDefaultSuggestions : request.limit)) {}

  SuggestAnswer Run() {
    std::vector<Found> found = Gather(TypoTolerance::kOff);
    const bool more = request_.typos == TypoTolerance::kAlways && found.size() < limit_;
    if (more || (request_.typos == TypoTolerance::kAuto && found.empty())) found = Gather(request_.typos);
    Name(&found);
    for (Found& each : found) answer_.suggestions.push_back(Finish(std::move(each)));
    return std::move(answer_);
  }

 private:
  bool Wants(SuggestionKind kind) const {
    return request_.kinds.empty() ||
           std::find(request_.kinds.begin(), request_.kinds.end(), kind) != request_.kinds.end();
  }

  // The best of all kinds, taking turns.
  std::vector<Found> Gather(TypoTolerance typos) {
    options_ = {.limit = limit_, .typos = typos};
    answer_.cut_short.clear();
    std::vector<std::tuple<int, bool, size_t, size_t>> turns;  // edits, not whole, turn, place
    std::vector<Found> all;
    for (std::vector<Found> kind : {PastQueries(), Titles(), Values()}) {
      std::sort(kind.begin(), kind.end(), [](const Found& a, const Found& b) { return a.Rank() < b.Rank(); });
      kind.resize(std::min(kind.size(), limit_));
      for (size_t i = 0; i < kind.size(); ++i) {
        turns.emplace_back(kind[i].completion.edits, !kind[i].completion.whole, i, all.size());
        all.push_back(std::move(kind[i]));
      }
    }
    std::sort(turns.begin(), turns.end());
    turns.resize(std::min(turns.size(), limit_));
    std::vector<Found> chosen;
    for (const auto& [edits, not_whole, turn, place] : turns) chosen.push_back(std::move(all[place]));
    return chosen;
  }

  void CutShort(const std::string& what) {
    answer_.cut_short.push_back(deadline_.Expired()
                                    ? absl::StrCat("the deadline passed while ", what, " were looked through")
                                    : absl::StrCat("more ", what, " than are looked at begin so: type more"));
  }

  std::vector<Found> PastQueries() {
    std::vector<Found> found;
    // Whether they find something under a filter is not known.
    if (!Wants(SuggestionKind::kPastQuery) || !request_.filter.empty()) return found;
    if (snapshot_.queries.list == nullptr) return found;
    const CompletionList& list = *snapshot_.queries.list;
    const auto all = [](CompletionEntry) { return true; };
    const Completions best = Complete(list, typed_, options_, deadline_, all);
    if (!best.complete) CutShort("past queries");
    for (const Completion& completion : best.best) {
      Found& each = Add(&found, list, completion, SuggestionKind::kPastQuery, "");
      each.suggestion.count = snapshot_.queries.users[completion.entry];
    }
    return found;
  }

  std::vector<Found> Titles() {
    std::vector<Found> found;
    if (!Wants(SuggestionKind::kTitle)) return found;
    if (snapshot_.tail != nullptr) AddTitles(*snapshot_.tail, nullptr, &found);
    AddTitles(*snapshot_.main, snapshot_.changed.get(), &found);
    return found;
  }

  // `changed`: items that other lists hold as they are now; null: none.
  void AddTitles(const SuggestionLists& lists, const absl::flat_hash_set<ItemOrdinal>* changed,
                 std::vector<Found>* found) {
    const auto shown = [&](ItemOrdinal item) {
      return allowed_->Contains(item) && (changed == nullptr || !changed->contains(item));
    };
    for (const FieldList& field : lists.titles) {
      if (!fields_.Has(field.field)) continue;
      const CompletionList& list = *field.list;
      const Completions best = Complete(list, typed_, options_, deadline_, [&](CompletionEntry e) {
        const auto items = list.items(e);
        return std::any_of(items.begin(), items.end(), shown);
      });
      if (!best.complete) CutShort("titles");
      for (const Completion& completion : best.best) {
        int64_t count = 0;
        ItemOrdinal first = kNoItem;
        for (const ItemOrdinal item : list.items(completion.entry)) {
          if (!shown(item)) continue;
          if (first == kNoItem) first = item;
          if (++count == kMaxCountedTitles) break;
        }
        const auto same = std::find_if(found->begin(), found->end(), [&](const Found& other) {
          return other.suggestion.field == field.field &&
                 other.suggestion.text == list.text(completion.entry);
        });
        if (same != found->end()) {
          // Another item with this title has changed.
          same->suggestion.count = std::min(kMaxCountedTitles, same->suggestion.count + count);
          if (list.weight(completion.entry) <= static_cast<float>(same->suggestion.weight)) continue;
          same->completion = completion;
          same->suggestion.weight = static_cast<double>(list.weight(completion.entry));
          same->item = first;
          continue;
        }
        Found& each = Add(found, list, completion, SuggestionKind::kTitle, field.field);
        each.item = first;
        each.suggestion.count = count;
      }
    }
  }

  std::vector<Found> Values() {
    std::vector<Found> found;
    if (!Wants(SuggestionKind::kValue)) return found;
    AddValues(*snapshot_.main, &found);
    if (snapshot_.tail != nullptr) AddValues(*snapshot_.tail, &found);
    return found;
  }

  void AddValues(const SuggestionLists& lists, std::vector<Found>* found) {
    const ItemSet* among = request_.filter.empty() ? nullptr : allowed_.get();
    for (const FieldList& field : lists.values) {
      if (!fields_.Has(field.field)) continue;
      const CompletionList& list = *field.list;
      const auto count = [&](CompletionEntry e) {
        return CountItemsWith(*parts_.catalog, field.field, std::string(list.text(e)), among);
      };
      const Completions best =
          Complete(list, typed_, options_, deadline_, [&](CompletionEntry e) { return count(e) > 0; });
      if (!best.complete) CutShort("values");
      for (const Completion& completion : best.best) {
        const bool there = std::any_of(found->begin(), found->end(), [&](const Found& other) {
          return other.suggestion.field == field.field &&
                 other.suggestion.text == list.text(completion.entry);
        });
        if (there) continue;
        Found& each = Add(found, list, completion, SuggestionKind::kValue, field.field);
        each.suggestion.count = count(completion.entry);
      }
    }
  }

  static Found& Add(std::vector<Found>* found, const CompletionList& list, const Completion& completion,
                    SuggestionKind kind, const std::string& field) {
    Found& each = found->emplace_back();
    each.completion = completion;
    each.suggestion.text = std::string(list.text(completion.entry));
    each.suggestion.kind = kind;
    each.suggestion.field = field;
    each.suggestion.weight = static_cast<double>(list.weight(completion.entry));
    each.suggestion.edits = completion.edits;
    return each;
  }

  // Ids of the items, in one read.
  void Name(std::vector<Found>* found) const {
    std::vector<ItemOrdinal> items;
    for (const Found& each : *found) {
      if (each.item != kNoItem) items.push_back(each.item);
    }
    const std::vector<std::string> ids = parts_.store->ItemIds(parts_.scope, items);
    size_t next = 0;
    for (Found& each : *found) {
      if (each.item != kNoItem) each.suggestion.item_id = ids[next++];
    }
  }

  Suggestion Finish(Found found) const {
    Suggestion& out = found.suggestion;
    if (!typed_.words.empty())
      out.matches = MatchesIn(out.text, found.completion.begin, found.completion.end);
    out.snippet = MarkedText(out.text, out.matches);
    return std::move(out);
  }

  const SuggestionSnapshot& snapshot_;
  const ListParts& parts_;
  const SuggestRequest& request_;
  const SuggestedFields fields_;
  const std::shared_ptr<const ItemSet> allowed_;  // live, and passing the filter
  const Deadline deadline_;
  const Typed typed_;
  const size_t limit_;
  CompleteOptions options_;
  SuggestAnswer answer_;
};

}  // namespace

absl::StatusOr<SuggestAnswer> AnswerSuggest(const SuggestionSnapshot& snapshot, const ListParts& parts,
                                            const SuggestRequest& request, Deadline deadline) {
  const absl::Time start = absl::Now();
  if (auto status = CheckRequest(request); !status.ok()) return status;
  auto fields = ChooseFields(snapshot.main->fields, request.fields);
  if (!fields.ok()) return fields.status();
  std::shared_ptr<const ItemSet> allowed;
  if (request.filter.empty()) {
    allowed = parts.catalog->LiveItems();
  } else {
    auto filter = parts.catalog->CompileFilter(request.filter);
    if (!filter.ok()) return filter.status();
    allowed = parts.catalog->Evaluate(**filter);
  }
  SuggestAnswer answer =
      Answer(snapshot, parts, request, *std::move(fields), std::move(allowed), deadline).Run();
  answer.time = absl::Now() - start;
  return answer;
}

}  // namespace waymark
