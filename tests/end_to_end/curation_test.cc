// What synonyms, pins, hides and boosts make of searches and feeds, on a real engine.
#include "tests/end_to_end/curated_shelf.h"

namespace waymark::tests {
namespace {

TEST_CASE("a synonym counts from the next request on, without reindexing, and after a restart") {
  Shelf shelf;
  CHECK(shelf.List("luminary").empty());
  Must(shelf.films, Synonyms("l", {"luminary", "nova"}));
  CHECK(shelf.List("luminary") == "x");
  const PipelineResponse answer = MustRun(shelf.films, SearchFor("luminary"));
  CHECK(answer.total == 1);
  CHECK(answer.synonyms == std::vector<SynonymUse>{{"l", "luminary", {"nova"}}});
  PipelineRequest off = SearchFor("luminary");
  off.curation = CurationMode::kOff;
  CHECK(shelf.List(off).empty());
  CHECK(MustRun(shelf.films, off).synonyms.empty());
  // Replaced: only what it says now counts.
  Must(shelf.films, Synonyms("l", {"luminary", "supernova remnant"}));
  CHECK(shelf.List("luminary") == "y");
  shelf.engine.Reopen();
  shelf.films = shelf.engine.In();
  REQUIRE(shelf.films->CatchUp(Deadline::Never()).ok());
  CHECK(shelf.List("luminary") == "y");
  Must(shelf.films, Gone(CurationKind::kSynonym, "l"));
  CHECK(shelf.List("luminary").empty());
  CHECK(absl::IsNotFound(Tell(shelf.films, Gone(CurationKind::kSynonym, "l"))));
}

TEST_CASE("another analysis of the schema holds for synonyms and rules too") {
  OpenEngine engine;
  Collection* c = engine.In();
  MustWrite(c, {Film("a", "automobiles", "Drama", 1), Film("b", "nova", "Drama", 1)});
  Must(c, Synonyms("s", {"car", "automobile"}));
  Must(c, Rule("r", {RuleRecord::EXACT, "cars", {{"b", 1}}}));
  REQUIRE(c->CatchUp(Deadline::Never()).ok());
  CHECK(absl::StrJoin(Ids(c, SearchFor("cars")), " ") == "b a");
  CHECK(absl::StrJoin(Ids(c, SearchFor("car")), " ") == "b a");
  storage::SchemaRecord schema = c->catalog().schema()->record();
  schema.set_language("none");
  schema.set_stemmer("none");
  REQUIRE(c->DeclareSchema(schema).ok());
  REQUIRE(c->CatchUp(Deadline::Never()).ok());
  CHECK(absl::StrJoin(Ids(c, SearchFor("car")), " ").empty());  // «automobile» is not «automobiles» any more
  CHECK(absl::StrJoin(Ids(c, SearchFor("cars")), " ") == "b");
}

TEST_CASE("pins stand at their places, on every page, and are counted") {
  Shelf shelf;
  CHECK(shelf.List("star") == "s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11");
  Must(shelf.films, Rule("p", {RuleRecord::EXACT, "Stars", {{"x", 2}, {"s7", 1}, {"y", 6}, {"nobody", 3}}}));
  const std::string expected = "s7 x s0 s1 s2 y s3 s4 s5 s6 s8 s9 s10 s11";
  CHECK(shelf.List("star") == expected);
  PipelineRequest request = SearchFor("star");
  const PipelineResponse whole = MustRun(shelf.films, request);
  CHECK(whole.total == 14);  // twelve that match, and two that are put beside them
  CHECK(whole.rules == Texts{"p"});
  std::string pinned;
  for (const RankedItem& item : whole.items)
    absl::StrAppend(&pinned, item.pinned ? item.record.id() + " " : "");
  CHECK(pinned == "s7 x y ");
  // Page by page the same list, with its marks.
  std::string paged, marks;
  request.page_size = 3;
  do {
    const PipelineResponse page = MustRun(shelf.films, request);
    CHECK(page.total == 14);
    for (const RankedItem& item : page.items) {
      absl::StrAppend(&paged, paged.empty() ? "" : " ", item.record.id());
      absl::StrAppend(&marks, item.pinned ? item.record.id() + " " : "");
    }
    request.page_token = page.next_page_token;
    // What is written between pages does not move the list.
    if (paged.size() < 10) Must(shelf.films, Rule("other", {RuleRecord::EXACT, "star", {{"s11", 1}}}));
  } while (!request.page_token.empty());
  CHECK(paged == expected);
  CHECK(marks == pinned);
  Must(shelf.films, Gone(CurationKind::kRule, "other"));
  // A pin passes the filter or is not shown; one that is deleted gives its place up.
  CHECK(shelf.List("star", "genres = \"Drama\"") == "s0 x s2 s4 s6 s8 s10");
  MustWrite(shelf.films, {DeleteItem{"x"}});
  CHECK(shelf.List("star") == "s7 s0 s1 s2 s3 y s4 s5 s6 s8 s9 s10 s11");
  // Where fields order the list, pins do not.
  request = SearchFor("star");
  request.order_by = "price desc";
  CHECK(shelf.List(request) == "s11 s10 s9 s8 s7 s6 s5 s4 s3 s2 s1 s0");
  // Of another query nothing is pinned.
  CHECK(shelf.List("remnant") == "y");
}

TEST_CASE("a list that is too short has its pins at the end, and an empty one too") {
  Shelf shelf;
  Must(shelf.films, Rule("a", {RuleRecord::EXACT, "nova", {{"s3", 9}, {"s2", 5}}}));
  Must(shelf.films, Rule("b", {RuleRecord::EXACT, "nothing at all", {{"s1", 4}}}));
  CHECK(shelf.List("nova") == "x s2 s3");
  const PipelineResponse answer = MustRun(shelf.films, SearchFor("nothing at all"));
  REQUIRE(answer.items.size() == 1);
  CHECK(answer.items[0].record.id() == "s1");
  CHECK(answer.total == 1);
}

TEST_CASE(
    "hidden items are neither shown nor counted, in lists and facets, and pages after the write lose them") {
  Shelf shelf;
  PipelineRequest request = SearchFor("star");
  FacetAsked& genres = request.facets.emplace_back();
  genres.spec.field = "genres";
  genres.disjunctive = true;
  request.page_size = 4;
  const PipelineResponse before = MustRun(shelf.films, request);
  CHECK(before.total == 12);
  Must(shelf.films, Rule("h", {RuleRecord::CONTAINS, "star", {}, {"s1", "s6", "nobody"}, "price >= 10"}));
  const PipelineResponse answer = MustRun(shelf.films, request);
  CHECK(answer.total == 8);
  REQUIRE(answer.facets.size() == 1);
  std::string counts;
  for (const auto& value : answer.facets[0].counts.values)
    absl::StrAppend(&counts, value.value, " ", value.count, " ");
  CHECK(counts == "Comedy 4 Drama 4 ");  // 1 3 5 7 9 without 1; 0 2 4 6 8 without 6
  CHECK(shelf.List("star") == "s0 s2 s3 s4 s5 s7 s8 s9");
  // A facet that leaves its own part of the filter out counts no hidden items either.
  request.filter = "genres = \"Drama\"";
  const PipelineResponse disjunctive = MustRun(shelf.films, request);
  CHECK(disjunctive.total == 4);
  counts.clear();
  for (const auto& value : disjunctive.facets[0].counts.values)
    absl::StrAppend(&counts, value.value, " ", value.count, " ");
  CHECK(counts == "Comedy 4 Drama 4 ");
  request.filter.clear();
  request.page_token = before.next_page_token;  // s0..s3 were shown
  const PipelineResponse next = MustRun(shelf.films, request);
  std::string shown;
  for (const RankedItem& item : next.items) absl::StrAppend(&shown, item.record.id(), " ");
  CHECK(shown == "s4 s5 s7 s8 ");
  // Browsing, under a rule for any query.
  Must(shelf.films, Rule("any", {RuleRecord::ANY, "", {}, {}, "genres = \"Western\""}));
  CHECK(MustRun(shelf.films, SearchFor("")).total == 13);
  PipelineRequest sorted = SearchFor("star");
  sorted.order_by = "price desc";
  CHECK(shelf.List(sorted) == "s9 s8 s7 s5 s4 s3 s2 s0");
}

TEST_CASE("boosts multiply scores, and with several rules their product counts") {
  Shelf shelf;
  PipelineRequest request = SearchFor("star");
  std::map<std::string, double> plain;
  double base = 0;  // lists with scores below 0 are counted from the least
  for (const RankedItem& item : MustRun(shelf.films, request).items) {
    plain[item.record.id()] = item.score;
    base = std::min(base, item.score);
  }
  Must(shelf.films,
       Rule("a", {RuleRecord::BEGINS, "star", {}, {}, "", {{"price = 5", 2.0}, {"genres:drama", 0.5}}}));
  Must(shelf.films, Rule("b", {RuleRecord::ANY, "", {}, {}, "", {{"price IN (5, 2)", 3.0}}}));
  request.explain = true;
  const PipelineResponse answer = MustRun(shelf.films, request);
  CHECK(answer.items[0].record.id() == "s5");
  double last = 1e9;
  for (const RankedItem& item : answer.items) {
    const std::string& id = item.record.id();
    const int number = std::stoi(id.substr(1));
    const double factor = (number == 5 ? 6.0 : number == 2 ? 3.0 : 1.0) * (number % 2 == 0 ? 0.5 : 1.0);
    INFO(id);
    CHECK(std::abs(item.score - (base + factor * (plain[id] - base))) < 1e-5);
    CHECK(item.score <= last);
    last = item.score;
    const bool told =
        std::any_of(item.explanation.begin(), item.explanation.end(), [&](const Contribution& c) {
          return c.feature == "curation.boost" && c.value == static_cast<float>(factor);
        });
    CHECK(told == (factor != 1));
  }
}

TEST_CASE("groups are made after pins have their places") {
  Shelf shelf;
  Must(shelf.films, Rule("p", {RuleRecord::EXACT, "star", {{"y", 1}, {"s3", 2}}}));
  PipelineRequest request = SearchFor("star");
  request.group_by = GroupAsked{"genres", 2};
  const PipelineResponse answer = MustRun(shelf.films, request);
  std::string shown;
  for (const RankedItem& item : answer.items)
    absl::StrAppend(&shown, item.record.id(), item.pinned ? "! " : " ");
  CHECK(shown == "y! s3! s1 s0 s2 ");
}

TEST_CASE("feeds take pins, hides and boosts of rules for any query on their surface") {
  Shelf shelf;
  MustWrite(shelf.films, {View("u1", "s0"), View("u2", "s4"), View("u2", "s5")});
  REQUIRE(shelf.films->CatchUp(Deadline::Never()).ok());
  PipelineRequest feed = FeedOf("u1");
  const auto before = Ids(shelf.films, feed);
  REQUIRE(before.size() == 13);  // all but what is seen
  Must(shelf.films, Rule("home", {RuleRecord::ANY,
                                  "",
                                  {{"y", 1}, {"s0", 2}},
                                  {"x"},
                                  "genres = \"Comedy\"",
                                  {{"price = 10", 1000.0}},
                                  0,
                                  "surface = \"home\""}));
  CHECK(Ids(shelf.films, feed) == before);
  feed.surface = "home";
  feed.page_size = 3;
  std::string shown;
  Texts all;
  do {
    const PipelineResponse page = MustRun(shelf.films, feed);
    CHECK(page.rules == Texts{"home"});
    for (const RankedItem& item : page.items) all.push_back(item.record.id());
    feed.page_token = page.next_page_token;
  } while (!feed.page_token.empty());
  REQUIRE(all.size() == 6);  // y, and the dramas s2 s4 s6 s8 s10; s0 is seen
  CHECK(all[0] == "y");
  CHECK(all[1] == "s10");
  CHECK_FALSE(Has(all, "x"));
  CHECK_FALSE(Has(all, "s0"));
  // What fills up a list beyond the filter is curated too.
  feed.page_token.clear();
  feed.page_size = 100;
  feed.filter = "price = 8";
  feed.strict_filter = false;
  const auto filled = Ids(shelf.films, feed);
  CHECK(filled[0] == "s8");
  CHECK_FALSE(Has(filled, "x"));
  CHECK_FALSE(Has(filled, "s3"));
}

TEST_CASE("two tenants never see each other's synonyms and rules") {
  OpenEngine engine;
  Collection* a = engine.In({"acme", "default"});
  Collection* b = engine.In({"bolt", "default"});
  for (Collection* c : {a, b}) {
    MustWrite(c, {Film("m", "nova", "Drama", 1), Film("n", "star", "Drama", 1)});
    REQUIRE(c->CatchUp(Deadline::Never()).ok());
  }
  Must(a, Synonyms("s", {"luminary", "nova"}));
  Must(a, Rule("r", {RuleRecord::EXACT, "star", {{"m", 1}}}));
  for (const bool reopened : {false, true}) {
    if (reopened) engine.Reopen();
    a = engine.In({"acme", "default"});
    b = engine.In({"bolt", "default"});
    CHECK(Ids(a, SearchFor("luminary")) == Texts{"m"});
    CHECK(Ids(b, SearchFor("luminary")).empty());
    CHECK(Ids(a, SearchFor("star")) == Texts{"m", "n"});
    CHECK(Ids(b, SearchFor("star")) == Texts{"n"});
    CHECK(absl::IsNotFound(engine->store().GetCuration(b->scope(), CurationKind::kRule, "r").status()));
  }
  CHECK(absl::IsNotFound(Tell(b, Gone(CurationKind::kSynonym, "s"))));
}

}  // namespace
}  // namespace waymark::tests
