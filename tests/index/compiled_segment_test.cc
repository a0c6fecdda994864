#include "index/compiled_segment.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "index/live_documents.h"
#include "index/posting_block.h"
#include "index/posting_cursor.h"
#include "index/top_scores.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using Positions = std::vector<int32_t>;
// term -> document -> field -> positions
using Postings = std::map<std::string, std::map<DocNumber, std::map<uint32_t, Positions>>>;

std::shared_ptr<const CompiledSegment> Compile(const Postings& postings, size_t fields,
                                               std::vector<ItemOrdinal> ordinals) {
  std::vector<std::string> names;
  for (size_t i = 0; i < fields; ++i) names.push_back(absl::StrCat("field", i));
  CompiledSegmentBuilder builder("_0", names, std::move(ordinals));
  for (const auto& [term, documents] : postings) {
    builder.StartTerm(term);
    for (const auto& [doc, by_field] : documents) {
      for (const auto& [field, positions] : by_field) builder.Add(doc, field, positions);
    }
  }
  return builder.Finish();
}

Postings RandomPostings(std::mt19937* random, DocNumber documents, size_t fields) {
  Postings postings;
  for (const auto& [term, every] : std::map<std::string, unsigned>{
           {"all", 1}, {"half", 2}, {"rare", 500}, {"some", 17}, {"zz\xC3\xA9", 3}}) {
    for (DocNumber doc = 0; doc < documents; ++doc) {
      if ((*random)() % every != 0) continue;
      for (uint32_t field = 0; field < fields; ++field) {
        if ((*random)() % 2 == 0 && !(field + 1 == fields && postings[term][doc].empty())) continue;
        Positions& positions = postings[term][doc][field];
        int32_t position = 0;
        for (size_t i = (*random)() % 4 + 1; i > 0; --i) {
          position += 1 + static_cast<int32_t>((*random)() % ((*random)() % 10 == 0 ? 100'000 : 20));
          positions.push_back(position);
        }
      }
    }
  }
  return postings;
}

TEST_CASE("postings come out of a compiled segment as they went in") {
  std::mt19937 random(1);
  for (size_t fields : {1, 3, 40}) {
    const DocNumber documents = 1500;
    const Postings postings = RandomPostings(&random, documents, fields);
    std::vector<ItemOrdinal> ordinals(documents);
    for (DocNumber doc = 0; doc < documents; ++doc) ordinals[doc] = doc * 2;
    const auto segment = Compile(postings, fields, ordinals);
    REQUIRE(segment->term_count() == postings.size());
    std::vector<uint64_t> lengths(fields * documents);
    for (const auto& [term, by_document] : postings) {
      const auto found = segment->FindTerm(term);
      REQUIRE(found.has_value());
      REQUIRE(segment->term(*found) == term);
      REQUIRE(segment->document_count(*found) == by_document.size());
      PostingCursor cursor(*segment, *found);
      for (const auto& [doc, by_field] : by_document) {
        REQUIRE(cursor.Advance(doc) == doc);
        REQUIRE(cursor.entries().size() == by_field.size());
        size_t entry = 0;
        for (const auto& [field, positions] : by_field) {
          REQUIRE(cursor.entries()[entry].field == field);
          REQUIRE(cursor.entries()[entry].tf == positions.size());
          const auto read = cursor.Positions(entry);
          REQUIRE(Positions(read.begin(), read.end()) == positions);
          lengths[field * documents + doc] += positions.size();
          ++entry;
        }
      }
      REQUIRE(cursor.Advance(by_document.rbegin()->first + 1) == kNoDoc);
    }
    for (uint32_t field = 0; field < fields; ++field) {
      for (DocNumber doc = 0; doc < documents; ++doc) {
        REQUIRE(segment->length(field, doc) == lengths[field * documents + doc]);
      }
    }
    CHECK_FALSE(segment->FindTerm("none").has_value());
    CHECK_FALSE(segment->FindTerm("").has_value());
    CHECK_FALSE(segment->FindTerm("zzz").has_value());
  }
}

TEST_CASE("a cursor that leaps lands where one that walks does") {
  std::mt19937 random(2);
  const Postings postings = RandomPostings(&random, 5000, 2);
  const auto segment = Compile(postings, 2, std::vector<ItemOrdinal>(5000, 7));
  for (const auto& [term, by_document] : postings) {
    for (int round = 0; round < 50; ++round) {
      PostingCursor cursor(*segment, *segment->FindTerm(term));
      DocNumber wanted = 0;
      while (true) {
        wanted += random() % (round % 5 == 0 ? 2000 : 100);
        auto expected = by_document.lower_bound(wanted);
        const DocNumber landed = cursor.Advance(wanted);
        REQUIRE(landed == (expected == by_document.end() ? kNoDoc : expected->first));
        if (landed == kNoDoc) break;
        const auto& positions = expected->second.begin()->second;
        if (random() % 2 == 0) {
          const auto read = cursor.Positions(0);
          REQUIRE(Positions(read.begin(), read.end()) == positions);
        }
        wanted = landed + (random() % 2);
      }
    }
  }
}

TEST_CASE("a block's frequencies are weighted sums over fields") {
  // "a" in document 2: twice in field 0, once in field 2; in document 5: once in field 1.
  const Postings postings = {{"a", {{2, {{0, {1, 9}}, {2, {4}}}}, {5, {{1, {0}}}}}}};
  const auto segment = Compile(postings, 3, std::vector<ItemOrdinal>(6, 1));
  PostingBlockReader reader(*segment, *segment->FindTerm("a"));
  const std::vector<float> weights = {2, 3, 0.5};
  const auto docs = reader.ReadFrequencies(0, weights);
  REQUIRE(std::vector<DocNumber>(docs.begin(), docs.end()) == std::vector<DocNumber>{2, 5});
  CHECK(reader.frequencies()[0] == 4.5f);
  CHECK(reader.frequencies()[1] == 3.0f);
}

TEST_CASE("items are found whatever the order of their documents") {
  const Postings none;
  const auto sorted = Compile(none, 1, {3, 4, 9});
  const auto mixed = Compile(none, 1, {9, kNoItem, 3, 4});
  CHECK(sorted->Find(4) == DocNumber{1});
  CHECK_FALSE(sorted->Find(5).has_value());
  CHECK(mixed->Find(9) == DocNumber{0});
  CHECK(mixed->Find(3) == DocNumber{2});
  CHECK_FALSE(mixed->Find(0).has_value());
}

TEST_CASE("deleted documents leave the counts") {
  std::mt19937 random(3);
  const Postings postings = RandomPostings(&random, 2000, 2);
  const auto segment = Compile(postings, 2, [] {
    std::vector<ItemOrdinal> ordinals(2000);
    for (DocNumber doc = 0; doc < 2000; ++doc) ordinals[doc] = doc;
    return ordinals;
  }());
  std::set<DocNumber> deleted;
  while (deleted.size() < 700) deleted.insert(random() % 2000);
  const LiveDocuments live(segment, [&](DocNumber doc) { return deleted.contains(doc); });
  CHECK(live.count() == 1300);
  uint64_t length = 0;
  for (DocNumber doc = 0; doc < 2000; ++doc) {
    REQUIRE(live.Contains(doc) == !deleted.contains(doc));
    if (live.Contains(doc)) length += segment->length(1, doc);
  }
  CHECK(live.total_length(1) == length);
  for (const auto& [term, by_document] : postings) {
    uint32_t holders = 0;
    for (const auto& [doc, fields] : by_document) holders += !deleted.contains(doc);
    CHECK(live.document_count(*segment->FindTerm(term)) == holders);
    CHECK(live.document_count(*segment->FindTerm(term)) == holders);  // as kept from the first time
  }
}

TEST_CASE("the best items come by score, ties by ordinal") {
  using Best = std::vector<std::pair<FixedScore, ItemOrdinal>>;
  TopScores top(3);
  for (const auto& [score, item] : Best{{1, 9}, {2, 4}, {1, 7}, {1, 3}, {5, 8}}) top.Offer(score, item);
  CHECK(top.NeededFrom(0) == 1);
  CHECK(top.NeededFrom(4) == 2);  // a tie with item 3 is lost
  CHECK(top.Take() == Best{{5, 8}, {2, 4}, {1, 3}});
  TopScores nothing(0);
  nothing.Offer(1, 1);
  CHECK(nothing.Take().empty());
}

TEST_CASE("the best of many are those that sorting all gives") {
  std::mt19937 random(4);
  for (size_t limit : {1, 10, 101, 1000, 5000}) {
    for (FixedScore spread : {3, 1'000'000, kGreatestScore}) {
      std::vector<std::pair<FixedScore, ItemOrdinal>> all;
      TopScores top(limit);
      for (ItemOrdinal item = 0; item < 20'000; ++item) {
        const auto score = static_cast<FixedScore>(1 + random() % static_cast<unsigned>(spread));
        all.emplace_back(score, item * 7919 % 20'000);
        if (score >= top.NeededFrom(all.back().second)) top.Offer(score, all.back().second);
      }
      std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
      });
      all.resize(limit);
      REQUIRE(top.Take() == all);
    }
  }
}

}  // namespace
}  // namespace waymark
