// How the words of a query stand in a document: as a run of its title, and near each other.
//
// Not thread-safe: one belongs to one search.
#pragma once
#include <cstdint>
#include <vector>

#include "index/word_cursor.h"

namespace waymark {

// Words of a query whose places are looked at; later ones count as not held.
inline constexpr size_t kMaxPlacedWords = 32;

// Words of the query in its order, with where they stand in one document.
class WordPlaces {
 public:
  explicit WordPlaces(const BoundQuery& bound);

  // Words of the query, also those that are not looked at.
  size_t words() const { return bound_.query.sequence.size(); }
  // Before documents of a segment are read, in growing order.
  void Enter(const SegmentView& segment);
  void Read(DocNumber doc);

  // 2 * run / (words of the query + words of the title), 0..1: the longest run of the query's words that
  // stand in the title in their order, with at most kSkipped other words between two neighbours. 1: the title
  // is the query. A phrase form of Dice's coefficient (Dice, Ecology 26, 1945). A word that two of the query
  // are also looked for as («war games», «wargames») stands for both, and counts as two of the title.
  float TitleMatch() const;
  // Mean over neighbours a, b of the query of 1 / (1 + d), where d is how far b stands from where it would
  // follow a as in the query, in the field where that is least, 0 where both stand as one word; 0 for
  // neighbours that share no field. Pairs weigh by distance as in Rasolofo and Savoy (ECIR 2003), whose
  // weight is 1 / distance^2. Wants two words.
  float Proximity() const;

  static constexpr uint32_t kSkipped = 2;

 private:
  struct Placed {
    size_t cursor;      // into cursors_
    uint32_t position;  // in the query
  };
  const std::vector<WordCursor::Place>& PlacesOf(size_t word) const {
    return places_[sequence_[word].cursor];
  }

  // Two neighbours that are also looked for as one word.
  struct Joined {
    size_t second;  // of them, in the sequence
    size_t cursor;
  };
  size_t CursorOf(uint32_t term);

  const BoundQuery& bound_;
  std::vector<uint32_t> terms_;  // [cursors]: into ParsedQuery::terms
  std::vector<Placed> sequence_;
  std::vector<Joined> joined_;
  const SegmentView* segment_ = nullptr;
  std::vector<std::optional<WordCursor>> cursors_;
  DocNumber doc_ = 0;
  std::vector<std::vector<WordCursor::Place>> places_;  // [cursors], of doc_
};

}  // namespace waymark
