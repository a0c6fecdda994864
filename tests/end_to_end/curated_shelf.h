// A shelf of films with synonyms and rules, for tests of what these make of lists.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {

using storage::CurationRecord;
using storage::RuleRecord;
using Texts = std::vector<std::string>;

inline CurationWrite Synonyms(const std::string& id, const Texts& words) {
  CurationRecord record;
  for (const std::string& word : words) record.mutable_synonym()->add_words(word);
  return {CurationKind::kSynonym, id, record, {}};
}

// A rule by its parts.
struct RuleText {
  RuleRecord::Match match = RuleRecord::EXACT;
  std::string query;
  std::vector<std::pair<std::string, int>> pins = {};
  Texts hidden = {};
  std::string hidden_filter = "";
  std::vector<std::pair<std::string, double>> boosts = {};  // filters
  int priority = 0;
  std::string context = "";
  std::string redirect = "", replacement = "", added_filter = "";
};
inline CurationWrite Rule(const std::string& id, const RuleText& text) {
  CurationRecord record;
  RuleRecord& rule = *record.mutable_rule();
  rule.set_match(text.match);
  rule.set_query(text.query);
  rule.set_priority(text.priority);
  rule.set_context_filter(text.context);
  for (const auto& [item, position] : text.pins) {
    RuleRecord::Pin* pin = rule.add_pins();
    pin->set_item_id(item);
    pin->set_position(position);
  }
  for (const std::string& item : text.hidden) rule.add_hidden_items(item);
  rule.set_hidden_filter(text.hidden_filter);
  for (const auto& [filter, factor] : text.boosts) {
    RuleRecord::Boost* boost = rule.add_boosts();
    boost->set_filter(filter);
    boost->set_factor(factor);
  }
  rule.set_redirect_uri(text.redirect);
  rule.set_replacement_query(text.replacement);
  rule.set_added_filter(text.added_filter);
  return {CurationKind::kRule, id, record, {}};
}

inline absl::Status Tell(Collection* c, CurationWrite write) {
  std::vector<CurationWrite> writes;
  writes.push_back(std::move(write));
  auto written = c->curation().Write(std::move(writes));
  return written.ok() ? written->front().status : written.status();
}

inline void Must(Collection* c, CurationWrite write) {
  const absl::Status status = Tell(c, std::move(write));
  INFO(status);
  REQUIRE(status.ok());
}

inline CurationWrite Gone(CurationKind kind, const std::string& id) { return {kind, id, {}, {}}; }

inline PipelineResponse MustRun(Collection* c, const PipelineRequest& request) {
  auto answer = c->Run(request, Deadline::Never());
  INFO(answer.status());
  REQUIRE(answer.ok());
  return *std::move(answer);
}

// Twelve films «star 0».. of two genres, ranked in the order of their numbers: each title is longer than the
// one before; and films without the word.
struct Shelf {
  OpenEngine engine;
  Collection* films = engine.In();

  Shelf() {
    std::vector<Mutation> items;
    for (int i = 0; i < 12; ++i) {
      std::string title = "star";
      for (int n = 0; n < i; ++n) absl::StrAppend(&title, " filler", n);
      items.push_back(Film(absl::StrCat("s", i), title, i % 2 == 0 ? "Drama" : "Comedy", i));
    }
    items.push_back(Film("x", "nova", "Drama", 100));
    items.push_back(Film("y", "supernova remnant", "Western", 101));
    MustWrite(films, std::move(items));
    REQUIRE(films->CatchUp(Deadline::Never()).ok());
  }
  std::string List(const PipelineRequest& request) { return absl::StrJoin(Ids(films, request), " "); }
  std::string List(const std::string& query, const std::string& filter = "", int size = 100) {
    PipelineRequest request = SearchFor(query, filter);
    request.page_size = size;
    return List(request);
  }
};

}  // namespace waymark::tests
