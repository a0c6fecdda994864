// Searches by distance and by vector, and explanations of scores, through the whole pipeline.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "pipeline/vector_fusion.h"
#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {
namespace {

using storage::FieldRecord;
using IdList = std::vector<std::string>;

storage::SchemaRecord PlacesSchema() {
  storage::SchemaRecord schema;
  const auto add = [&](const char* name, FieldRecord::Type type) {
    FieldRecord* field = schema.add_fields();
    field->set_name(name);
    field->set_type(type);
    return field;
  };
  FieldRecord* title = add("title", FieldRecord::TEXT);
  title->set_searchable(true);
  title->set_title(true);
  add("at", FieldRecord::GEO)->set_filterable(true);
  add("kind", FieldRecord::KEYWORD)->set_filterable(true);
  add("look", FieldRecord::VECTOR)->set_dimension(8);
  schema.set_language("none");
  return schema;
}

struct Place {
  std::string id, title, kind;
  GeoPoint at;
  std::vector<float> look;
};

// Some of them without a place or a vector.
struct Places {
  explicit Places(int count) : random(9) {
    collection = engine.In();
    REQUIRE(collection->DeclareSchema(PlacesSchema()).ok());
    std::normal_distribution<float> normal;
    std::vector<Mutation> writes;
    for (int i = 0; i < count; ++i) {
      Place place{absl::StrCat("p", i),
                  absl::StrCat("w", random() % 5, " w", random() % 9),
                  absl::StrCat("k", random() % 3),
                  {},
                  {}};
      PutItem put{.id = place.id};
      auto& fields = *put.fields.mutable_fields();
      fields["title"].set_string_value(place.title);
      fields["kind"].set_string_value(place.kind);
      if (random() % 8 > 0) {
        place.at = {static_cast<double>(random() % 1800) / 10 - 90,
                    static_cast<double>(random() % 3600) / 10 - 180};
        auto& point = *fields["at"].mutable_struct_value()->mutable_fields();
        point["lat"].set_number_value(place.at.lat);
        point["lon"].set_number_value(place.at.lon);
      } else {
        place.at.lat = std::nan("");
      }
      if (random() % 8 > 0) {
        for (int d = 0; d < 8; ++d) {
          place.look.push_back(normal(random));
          fields["look"].mutable_list_value()->add_values()->set_number_value(place.look.back());
        }
      }
      writes.push_back(put);
      all.push_back(place);
    }
    MustWrite(collection, std::move(writes));
    REQUIRE(collection->CatchUp(Deadline::Never()).ok());
  }
  PipelineResponse Run(const PipelineRequest& request) {
    auto answer = collection->Run(request, Deadline::Never());
    INFO(answer.status());
    REQUIRE(answer.ok());
    return *answer;
  }
  const Place& At(const std::string& id) const {
    return *std::find_if(all.begin(), all.end(), [&](const Place& place) { return place.id == id; });
  }
  static double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
    double product = 0, na = 0, nb = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      product += double{a[i]} * b[i];
      na += double{a[i]} * a[i];
      nb += double{b[i]} * b[i];
    }
    return product / std::sqrt(na * nb);
  }
  bool Holds(const Place& place, const std::string& word) const {
    return (" " + place.title + " ").find(" " + word + " ") != std::string::npos;
  }

  std::mt19937 random;
  OpenEngine engine;
  Collection* collection = nullptr;
  std::vector<Place> all;
};

IdList IdsOf(const PipelineResponse& answer) {
  IdList ids;
  for (const RankedItem& item : answer.items) ids.push_back(item.record.id());
  return ids;
}

TEST_CASE("places come by their distance, under a circle, with metres in the answer") {
  Places places(400);
  const GeoPoint from{52.5, 13.4};
  std::vector<std::pair<double, std::string>> expected;
  for (const Place& place : places.all) {
    if (std::isnan(place.at.lat) || !places.Holds(place, "w1")) continue;
    const double metres = DistanceMetres(from, place.at);
    if (metres < 8e6) expected.emplace_back(metres, place.id);
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  REQUIRE(expected.size() > 10);
  PipelineRequest request = SearchFor("w1", "geo_distance(at, 52.5, 13.4) < 8000km");
  request.order_by = "geo_distance(at, 52.5, 13.4)";
  const PipelineResponse answer = places.Run(request);
  CHECK(answer.total == static_cast<int64_t>(expected.size()));
  REQUIRE(answer.items.size() == std::min<size_t>(100, expected.size()));
  for (size_t i = 0; i < answer.items.size(); ++i) {
    REQUIRE(answer.items[i].distance_metres.has_value());
    CHECK(std::abs(*answer.items[i].distance_metres - expected[i].first) < 1e-6);
  }
  // Ranked by words, the distance is from the filter's point.
  request.order_by.clear();
  for (const RankedItem& item : places.Run(request).items) {
    REQUIRE(item.distance_metres.has_value());
    CHECK(std::abs(*item.distance_metres - DistanceMetres(from, places.At(item.record.id()).at)) < 1e-6);
  }
  // Without a place: last, and without a distance.
  request = SearchFor("");
  request.order_by = "geo_distance(at, 0, 0)";
  std::string last;
  do {
    const PipelineResponse page = places.Run(request);
    for (const RankedItem& item : page.items) {
      CHECK(item.distance_metres.has_value() != std::isnan(places.At(item.record.id()).at.lat));
      last = item.record.id();
    }
    request.page_token = page.next_page_token;
  } while (!request.page_token.empty());
  CHECK(std::isnan(places.At(last).at.lat));
}

TEST_CASE("the items nearest to a vector come first, alone and under a filter") {
  Places places(300);
  const std::vector<float> query = {1, 0, -1, 2, 0, 0, 1, 0};
  for (const std::string filter : {"", "kind = \"k1\""}) {
    std::vector<std::pair<double, std::string>> expected;
    for (const Place& place : places.all) {
      if (place.look.empty() || (!filter.empty() && place.kind != "k1")) continue;
      expected.emplace_back(-Places::Cosine(query, place.look), place.id);
    }
    std::sort(expected.begin(), expected.end());
    PipelineRequest request = SearchFor("", filter);
    request.vector = {"look", query, 40};
    request.page_size = 15;
    IdList ids;
    do {
      const PipelineResponse answer = places.Run(request);
      CHECK(answer.total == 40);
      for (const RankedItem& item : answer.items) {
        const size_t at = ids.size();
        ids.push_back(item.record.id());
        CHECK(ids.back() == expected[at].second);
        // A later page's token carries the score alone.
        if (at < 15) CHECK(std::abs(item.scores.at("vector") + expected[at].first) < 1e-5);
        CHECK(std::abs(item.score + expected[at].first) < 1e-5);
      }
      request.page_token = answer.next_page_token;
    } while (!request.page_token.empty());
    CHECK(ids.size() == 40);
  }
}

TEST_CASE("words and vector become one list; totals and facets count both") {
  Places places(300);
  const std::vector<float> query = {1, 0, -1, 2, 0, 0, 1, 0};
  PipelineRequest words = SearchFor("w1"), near = SearchFor("");
  near.vector = {"look", query, 30};
  const PipelineResponse by_words = places.Run(words), by_vector = places.Run(near);
  std::set<std::string> both;
  for (const Place& place : places.all) {
    if (places.Holds(place, "w1")) both.insert(place.id);
  }
  REQUIRE(by_words.total == static_cast<int64_t>(both.size()));
  for (const std::string& id : IdsOf(by_vector)) both.insert(id);
  for (const auto fusion : {VectorAsked::Fusion::kRanks, VectorAsked::Fusion::kScores}) {
    PipelineRequest request = SearchFor("w1");
    request.vector = {"look", query, 30, fusion, 0.3};
    FacetAsked facet;
    facet.spec.field = "kind";
    request.facets = {facet};
    const PipelineResponse answer = places.Run(request);
    CHECK(answer.total == static_cast<int64_t>(both.size()));
    int64_t counted = 0;
    for (const auto& value : answer.facets[0].counts.values) counted += value.count;
    CHECK(counted == static_cast<int64_t>(both.size()));
    // The first 100 of the list, worked out from the two answers.
    const IdList word_ids = IdsOf(by_words), near_ids = IdsOf(by_vector);
    std::map<std::string, double> scores;
    const auto stretched = [](const PipelineResponse& from, size_t i) {
      const double last = from.items.back().scores.count("vector") ? from.items.back().scores.at("vector")
                                                                   : from.items.back().scores.at("keyword");
      const auto score = [](const RankedItem& item) {
        return item.scores.count("vector") ? item.scores.at("vector") : item.scores.at("keyword");
      };
      return (score(from.items[i]) - last) / (score(from.items[0]) - last);
    };
    const bool ranks = fusion == VectorAsked::Fusion::kRanks;
    for (size_t i = 0; i < word_ids.size(); ++i) {
      scores[word_ids[i]] += 0.7 * (ranks ? 1.0 / (61.0 + static_cast<double>(i)) : stretched(by_words, i));
    }
    for (size_t i = 0; i < near_ids.size(); ++i) {
      scores[near_ids[i]] += 0.3 * (ranks ? 1.0 / (61.0 + static_cast<double>(i)) : stretched(by_vector, i));
    }
    REQUIRE(by_words.next_page_token.empty());  // all of them were read
    for (size_t i = 0; i < answer.items.size(); ++i) {
      CHECK(std::abs(answer.items[i].score - scores.at(answer.items[i].record.id())) < 1e-5);
      if (i > 0) CHECK(answer.items[i - 1].score >= answer.items[i].score);
    }
  }
  // Sorted: both kinds of matches, in the order that is asked for.
  PipelineRequest sorted = SearchFor("w1");
  sorted.vector = {"look", query, 30};
  sorted.order_by = "kind";
  const PipelineResponse answer = places.Run(sorted);
  CHECK(answer.total == static_cast<int64_t>(both.size()));
  for (size_t i = 1; i < answer.items.size(); ++i) {
    CHECK(places.At(answer.items[i - 1].record.id()).kind <= places.At(answer.items[i].record.id()).kind);
  }
}

TEST_CASE("a written vector is in the next search that waits for it, also after a restart") {
  Places places(20);
  PutItem put{.id = "new"};
  for (int d = 0; d < 8; ++d) {
    (*put.fields.mutable_fields())["look"].mutable_list_value()->add_values()->set_number_value(d == 3 ? 5
                                                                                                       : 0);
  }
  const WriteReceipt receipt = MustWrite(places.collection, {put});
  PipelineRequest request = SearchFor("");
  request.vector = {"look", {0, 0, 0, 1, 0, 0, 0, 0}, 1};
  request.consistency_token = EncodeConsistencyToken(receipt.position);
  CHECK(IdsOf(places.Run(request)) == IdList{"new"});
  request.consistency_token.clear();
  places.engine.Reopen();
  places.collection = places.engine.In();
  CHECK(IdsOf(places.Run(request)) == IdList{"new"});
  MustWrite(places.collection, {DeleteItem{"new"}});
  REQUIRE(places.collection->CatchUp(Deadline::Never()).ok());
  CHECK(IdsOf(places.Run(request)) != IdList{"new"});
}

TEST_CASE("a vector that is asked wrongly is refused by name") {
  Places places(5);
  const auto refusal = [&](VectorAsked asked) {
    PipelineRequest request = SearchFor("");
    request.vector = std::move(asked);
    return std::string(places.collection->Run(request, Deadline::Never()).status().message());
  };
  CHECK(refusal({"look", {1}}) == "vector.values: has 1 numbers; field 'look' has dimension 8");
  CHECK(refusal({"title", {1}}) == "vector.field: 'title' is no VECTOR field of the schema; there are look");
  CHECK(refusal({"look", std::vector<float>(8, 1), 501}) ==
        "vector.limit: is 501; it takes 1 to 500, or 0 for 100");
  CHECK(refusal({"look", std::vector<float>(8, 1), 5, VectorAsked::Fusion::kRanks, 2}) ==
        "vector.weight: is 2; it takes 0 to 1");
}

TEST_CASE("a search that asks for it says how each score of its words came about") {
  Places places(100);
  PipelineRequest request = SearchFor("w1 w7 \"w2 w3\"");
  request.explain = true;
  const PipelineResponse answer = places.Run(request);
  REQUIRE(answer.items.size() > 5);
  for (const RankedItem& item : answer.items) {
    REQUIRE(item.keyword_explanation.has_value());
    double sum = 0;
    for (const TermExplanation& term : item.keyword_explanation->terms) sum += term.contribution;
    CHECK(std::abs(sum - item.scores.at("keyword")) < 1e-5);
  }
  request.explain = false;
  CHECK_FALSE(places.Run(request).items[0].keyword_explanation.has_value());
}

TEST_CASE("lists of words and vectors are fused by hand-worked numbers") {
  const std::vector<ScoredItem> words = {{1, 8}, {2, 4}, {3, 2}}, nearest = {{3, 0.9f}, {4, 0.5f}};
  const auto ranks = FuseWithNearest(words, nearest, {.weight = 0.5});
  REQUIRE(ranks.size() == 4);
  CHECK(ranks[0].item == 3);
  CHECK(std::abs(ranks[0].score - (0.5 / 63 + 0.5 / 61)) < 1e-12);
  CHECK(ranks[0].words_rank == 3);
  CHECK(ranks[0].vector_rank == 1);
  CHECK(ranks[1].item == 1);
  const auto scores =
      FuseWithNearest(words, nearest, {.fusion = VectorAsked::Fusion::kScores, .weight = 0.25});
  // 1: .75; 2: .75 / 3; 3: .25; 4: 0
  CHECK(scores[0].item == 1);
  CHECK(std::abs(scores[0].score - 0.75) < 1e-6);
  CHECK(scores[1].item == 2);
  CHECK(std::abs(scores[1].score - 0.25) < 1e-6);
  CHECK(scores[2].item == 3);
  CHECK(FuseWithNearest({}, nearest, {})[0].item == 3);
  CHECK(FuseWithNearest(words, {}, {.weight = 1})[2].item == 3);  // their own order stands
}

}  // namespace
}  // namespace waymark::tests
