#include "index/word_places.h"

#include <algorithm>
#include <cstdlib>

namespace waymark {
namespace {

using Places = std::vector<WordCursor::Place>;

// The places in one field.
absl::Span<const WordCursor::Place> InField(const Places& places, uint32_t field) {
  const auto begin = std::lower_bound(places.begin(), places.end(), WordCursor::Place{field, 0});
  auto end = begin;
  while (end != places.end() && end->field == field) ++end;
  return {places.data() + (begin - places.begin()), static_cast<size_t>(end - begin)};
}

// The least distance of a `b` from the place `gap` behind an `a`, over all fields; -1: they share none.
int64_t LeastDistance(const Places& a, const Places& b, uint32_t gap) {
  int64_t least = -1;
  size_t at = 0;
  for (const WordCursor::Place& first : a) {
    const WordCursor::Place wanted{first.field, first.position + gap};
    while (at < b.size() && b[at] < wanted) ++at;
    for (const size_t near : {at, at - 1}) {  // at - 1 wraps where there is none
      if (near >= b.size() || b[near].field != first.field) continue;
      const int64_t distance = std::abs(static_cast<int64_t>(b[near].position) - wanted.position);
      if (least < 0 || distance < least) least = distance;
    }
    if (least == 0) break;
  }
  return least;
}

}  // namespace

WordPlaces::WordPlaces(const BoundQuery& bound) : bound_(bound) {
  for (const ParsedQuery::Place& place : bound.query.sequence) {
    if (sequence_.size() == kMaxPlacedWords) break;
    sequence_.push_back({CursorOf(place.term), place.position});
  }
  const auto word = [&](size_t i) -> const std::string& {
    return bound.query.terms[terms_[sequence_[i].cursor]];
  };
  for (const ParsedQuery::JoinedWords& joined : bound.query.joined) {
    for (size_t i = 1; i < sequence_.size(); ++i) {
      if (word(i - 1) == joined.first && word(i) == joined.second) {
        joined_.push_back({i, CursorOf(joined.joined)});
      }
    }
  }
  places_.resize(terms_.size());
}

size_t WordPlaces::CursorOf(uint32_t term) {
  const auto known = std::find(terms_.begin(), terms_.end(), term);
  const auto cursor = static_cast<size_t>(known - terms_.begin());
  if (known == terms_.end()) terms_.push_back(term);
  return cursor;
}

void WordPlaces::Enter(const SegmentView& segment) {
  segment_ = &segment;
  cursors_.clear();
  for (const uint32_t term : terms_) cursors_.push_back(WordCursor::Make(segment, bound_, term));
}

void WordPlaces::Read(DocNumber doc) {
  doc_ = doc;
  for (size_t i = 0; i < cursors_.size(); ++i) {
    if (cursors_[i] && cursors_[i]->Advance(doc) == doc) {
      cursors_[i]->ReadPlaces(&places_[i]);
    } else {
      places_[i].clear();
    }
  }
}

namespace {

// Words of the query that stand in the title in their order.
struct TitleRun {
  uint32_t position;  // of the last one
  uint32_t length;    // words of the query
  uint32_t joined;    // of its title words, those that are two of the query
};

// Runs that end with `words` of the query at `places`, after those of `before`, which end `gap` before.
void ExtendRuns(absl::Span<const WordCursor::Place> places, uint32_t words, uint32_t gap,
                const std::vector<TitleRun>& before, std::vector<TitleRun>* here) {
  size_t from = 0;
  for (const WordCursor::Place& place : places) {
    const TitleRun alone{place.position, words, words - 1};
    TitleRun run = alone;
    while (from < before.size() && before[from].position + gap + WordPlaces::kSkipped < place.position)
      ++from;
    for (size_t b = from; b < before.size() && before[b].position < place.position; ++b) {
      if (alone.length + before[b].length <= run.length) continue;
      run.length = alone.length + before[b].length;
      run.joined = alone.joined + before[b].joined;
    }
    here->push_back(run);
  }
}

}  // namespace

float WordPlaces::TitleMatch() const {
  if (segment_->title < 0) return 0;
  const auto title = static_cast<uint32_t>(segment_->title);
  const auto all = static_cast<float>(words() + segment_->postings->length(title, doc_));
  const auto gap = [&](size_t i) { return i == 0 ? 0 : sequence_[i].position - sequence_[i - 1].position; };
  float best = 0;
  std::vector<TitleRun> before_last, before, here;  // runs that end two words before, one before, at this one
  for (size_t i = 0; i < sequence_.size(); ++i) {
    here.clear();
    ExtendRuns(InField(PlacesOf(i), title), 1, gap(i), before, &here);
    for (const Joined& joined : joined_) {
      if (joined.second != i) continue;
      ExtendRuns(InField(places_[joined.cursor], title), 2, gap(i - 1), before_last, &here);
    }
    std::sort(here.begin(), here.end(),
              [](const TitleRun& a, const TitleRun& b) { return a.position < b.position; });
    for (const TitleRun& run : here) {
      best = std::max(best, 2.f * static_cast<float>(run.length) / (all + static_cast<float>(run.joined)));
    }
    before_last.swap(before);
    before.swap(here);
  }
  return std::min(1.f, best);
}

float WordPlaces::Proximity() const {
  float sum = 0;
  for (size_t i = 1; i < sequence_.size(); ++i) {
    const uint32_t gap = sequence_[i].position - sequence_[i - 1].position;
    const bool as_one = std::any_of(joined_.begin(), joined_.end(), [&](const Joined& joined) {
      return joined.second == i && !places_[joined.cursor].empty();
    });
    const int64_t distance = as_one ? 0 : LeastDistance(PlacesOf(i - 1), PlacesOf(i), gap);
    if (distance >= 0) sum += 1.f / (1.f + static_cast<float>(distance));
  }
  return words() < 2 ? 0.f : sum / static_cast<float>(words() - 1);
}

}  // namespace waymark
