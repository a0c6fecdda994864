// What synonyms and rules make of searches and feeds, on a real engine.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "curation/curation_limits.h"
#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {
namespace {

using storage::CurationRecord;
using storage::RuleRecord;
using Texts = std::vector<std::string>;

CurationWrite Synonyms(const std::string& id, const Texts& words) {
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
CurationWrite Rule(const std::string& id, const RuleText& text) {
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

absl::Status Tell(Collection* c, CurationWrite write) {
  std::vector<CurationWrite> writes;
  writes.push_back(std::move(write));
  auto written = c->curation().Write(std::move(writes));
  return written.ok() ? written->front().status : written.status();
}

void Must(Collection* c, CurationWrite write) {
  const absl::Status status = Tell(c, std::move(write));
  INFO(status);
  REQUIRE(status.ok());
}

CurationWrite Gone(CurationKind kind, const std::string& id) { return {kind, id, {}, {}}; }

PipelineResponse MustRun(Collection* c, const PipelineRequest& request) {
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

TEST_CASE("rules count by priority, then by id; the first of them decides") {
  Shelf shelf;
  Must(shelf.films,
       Rule("b", {RuleRecord::CONTAINS, "star", {{"x", 1}}, {"s0"}, "", {}, 0, "", "/b", "", ""}));
  Must(
      shelf.films,
      Rule("c", {RuleRecord::CONTAINS, "star", {{"s0", 1}, {"s5", 1 + 1}}, {}, "", {}, 0, "", "/c", "", ""}));
  Must(shelf.films,
       Rule("a", {RuleRecord::CONTAINS, "star", {{"y", 1}}, {"s5", "s1"}, "", {}, -1, "", "/a", "", ""}));
  PipelineResponse answer = MustRun(shelf.films, SearchFor("star"));
  CHECK(answer.rules == Texts{"b", "c", "a"});
  CHECK(answer.redirect_uri == "/b");
  // b pins x first and hides s0, whose pin by c comes too late; c has pinned s5 at 2, which a does not hide;
  // y takes the first place that is free.
  CHECK(shelf.List("star") == "x s5 y s2 s3 s4 s6 s7 s8 s9 s10 s11");
  Must(shelf.films,
       Rule("a", {RuleRecord::CONTAINS, "star", {{"y", 1}}, {"s5", "s1"}, "", {}, 7, "", "/a", "", ""}));
  answer = MustRun(shelf.films, SearchFor("star"));
  CHECK(answer.rules == Texts{"a", "b", "c"});
  CHECK(answer.redirect_uri == "/a");
  CHECK(shelf.List("star") == "y x s2 s3 s4 s6 s7 s8 s9 s10 s11");
}

TEST_CASE("conditions are on words, context and time") {
  FixedClock clock(absl::FromUnixSeconds(1'700'000'000));
  EngineOptions options;
  options.clock = &clock;
  OpenEngine engine(options);
  Collection* c = engine.In();
  MustWrite(c, {Film("a", "anything", "Drama", 1)});
  const auto rule = [&](const std::string& id, RuleRecord::Match match, const std::string& query) {
    Must(c, Rule(id, {match, query, {}, {}, "", {}, 0, "", "/" + id, "", ""}));
  };
  rule("exact", RuleRecord::EXACT, "Running Shoes");
  rule("contains", RuleRecord::CONTAINS, "running shoe");
  rule("begins", RuleRecord::BEGINS, "running");
  rule("other", RuleRecord::CONTAINS, "shoes running");
  rule("long", RuleRecord::CONTAINS, "running shoes for winter");
  const auto rules = [&](PipelineRequest request) { return absl::StrJoin(MustRun(c, request).rules, " "); };
  CHECK(rules(SearchFor("run shoes")) == "begins contains exact");
  CHECK(rules(SearchFor("the RUNNING shoes")) == "begins contains exact");  // a stop word is none
  CHECK(rules(SearchFor("red running shoes")) == "contains");
  CHECK(rules(SearchFor("running red shoes")) == "begins");
  CHECK(rules(SearchFor("running shoes winter")) == "begins contains long");
  CHECK(rules(SearchFor("\"running shoes\"")) == "begins contains exact");
  CHECK(rules(SearchFor("running -red shoes")) == "begins");
  CHECK(rules(SearchFor("boots -(running shoes)")).empty());
  CHECK(rules(SearchFor("boots NOT running")).empty());
  CHECK(rules(SearchFor("")).empty());

  CurationWrite timed =
      Rule("timed", {RuleRecord::ANY, "", {}, {}, "", {}, 0, "platform = \"web\"", "/t", "", ""});
  timed.record->mutable_rule()->set_valid_from_us(1'700'000'010'000'000);
  timed.record->mutable_rule()->set_valid_until_us(1'700'000'020'000'000);
  Must(c, timed);
  Must(c, Rule("home", {RuleRecord::ANY,
                        "",
                        {},
                        {},
                        "",
                        {},
                        0,
                        "surface = \"home\" AND country IN (\"DE\", \"AT\")",
                        "/h",
                        "",
                        ""}));
  PipelineRequest request = SearchFor("anything");
  (*request.context.mutable_fields())["platform"].set_string_value("web");
  (*request.context.mutable_fields())["country"].set_string_value("AT");
  CHECK(rules(request).empty());
  clock.Set(absl::FromUnixSeconds(1'700'000'010));
  CHECK(rules(request) == "timed");
  clock.Set(absl::FromUnixSeconds(1'700'000'020));
  CHECK(rules(request).empty());
  request.surface = "home";
  CHECK(rules(request) == "home");
  request.curation = CurationMode::kOff;
  CHECK(rules(request).empty());
}

TEST_CASE("a rule searches for something else, and adds a filter") {
  Shelf shelf;
  Must(shelf.films, Synonyms("s", {"luminary", "star"}));
  Must(shelf.films,
       Rule("r", {RuleRecord::EXACT, "sun", {}, {}, "", {}, 0, "", "", "luminary", "price < 3"}));
  const PipelineResponse answer = MustRun(shelf.films, SearchFor("sun"));
  CHECK(answer.replacement_query == "luminary");
  CHECK(answer.total == 3);
  CHECK(answer.synonyms.size() == 1);
  CHECK(shelf.List("sun") == "s0 s1 s2");
  CHECK(shelf.List("sun", "genres = \"Drama\"") == "s0 s2");
  // Rules are not looked up for what is searched for instead.
  Must(shelf.films, Rule("q", {RuleRecord::EXACT, "luminary", {{"x", 1}}}));
  CHECK(shelf.List("sun") == "s0 s1 s2");
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

TEST_CASE("wrong synonyms and rules are refused by field") {
  Shelf shelf;
  const auto refused = [&](CurationWrite write, const std::string& part) {
    const absl::Status status = Tell(shelf.films, std::move(write));
    INFO(status << " should say " << part);
    CHECK(absl::IsInvalidArgument(status));
    CHECK(std::string(status.message()).find(part) != std::string::npos);
  };
  refused(Synonyms("", {"nova", "sun"}), "synonym.id");
  refused(Synonyms("s", {}), "synonym.words: is empty");
  refused(Synonyms("s", {"one"}), "synonym.words: has one entry");
  refused(Synonyms("s", {"star", "stars"}), "are all the same word");
  refused(Synonyms("s", {"star", "the"}), "synonym.words[1]: is 'the'");
  refused(Synonyms("s", {"star", "a b c d e f g h i j"}),
          "synonym.words[1]: has 9 words");  // «a» is a stop word
  refused(Synonyms("s", {"star", std::string(300, 'x')}), "synonym.words[1]");
  refused(Synonyms("s", Texts(51, "x")), "at most 50");
  CurationWrite both = Synonyms("s", {"a1", "b1"});
  both.record->mutable_synonym()->add_to("c");
  refused(both, "either `words`");
  CurationWrite one_way = Synonyms("s", {});
  one_way.record->mutable_synonym()->add_from("phone");
  refused(one_way, "synonym.to: is empty");
  CurationWrite tongue = Synonyms("s", {"a1", "b1"});
  tongue.record->mutable_synonym()->set_language("so what?");
  refused(tongue, "synonym.language");

  const auto rule = [](RuleText text) { return Rule("r", text); };
  refused(rule({RuleRecord::EXACT, "star"}), "rule: does nothing");
  refused(rule({RuleRecord::MATCH_UNSPECIFIED, "star", {{"x", 1}}}), "rule.condition.match");
  refused(rule({RuleRecord::EXACT, "of the", {{"x", 1}}}), "rule.condition.query: is 'of the'");
  refused(rule({RuleRecord::ANY, "star", {{"x", 1}}}), "rule.condition.query: stands beside ANY");
  refused(rule({RuleRecord::EXACT, "b c d e f g h i1 j k l m", {{"x", 1}}}), "at most 10");
  refused(rule({RuleRecord::EXACT, "star", {{"x", 0}}}), "rule.pins[0].position: is 0");
  refused(rule({RuleRecord::EXACT, "star", {{"x", 501}}}), "it takes 1 to 500");
  refused(rule({RuleRecord::EXACT, "star", {{"", 1}}}), "rule.pins[0].item_id");
  refused(rule({RuleRecord::EXACT, "star", {{"x", 1}, {"x", 2}}}), "rule.pins[1].item_id");
  refused(rule({RuleRecord::EXACT, "star", {{"x", 1}, {"y", 1}}}), "rule.pins[1].position");
  refused(rule({RuleRecord::EXACT, "star", {{"x", 1}}, {"x"}}), "or hides as well");
  refused(rule({RuleRecord::EXACT, "star", {}, {}, "colour = 3"}), "rule.hidden_filter: filter, column 1");
  refused(rule({RuleRecord::EXACT, "star", {}, {}, "", {{"price > 1", 0.0}}}), "rule.boosts[0].factor: is 0");
  refused(rule({RuleRecord::EXACT, "star", {}, {}, "", {{"price > 1", 1001.0}}}), "up to 1000");
  refused(rule({RuleRecord::EXACT, "star", {}, {}, "", {{"", 2.0}}}), "rule.boosts[0]: names nothing");
  refused(rule({RuleRecord::EXACT, "star", {}, {}, "", {}, 0, "contry = \"DE\"", "/x", "", ""}),
          "rule.condition.filter");
  refused(rule({RuleRecord::EXACT, "star", {}, {}, "", {}, 0, "", "javascript:alert(1)", "", ""}),
          "rule.redirect_uri");
  refused(rule({RuleRecord::EXACT, "star", {}, {}, "", {}, 0, "", "not a uri", "", ""}), "rule.redirect_uri");
  refused(rule({RuleRecord::EXACT, "star", {}, {}, "", {}, 0, "", "", "", "price >"}), "rule.added_filter");
  CurationWrite past = rule({RuleRecord::EXACT, "star", {{"x", 1}}});
  past.record->mutable_rule()->set_valid_from_us(20);
  past.record->mutable_rule()->set_valid_until_us(10);
  refused(past, "rule.condition.valid_until");
  CHECK(shelf.films->curation().snapshot()->rule_size.entries == 0);
}

TEST_CASE("as many rules as one query may call on are taken, and one more is refused by its limit") {
  Shelf shelf;
  std::vector<CurationWrite> writes;
  for (size_t i = 0; i <= kMostRulesOfOneQuery; ++i) {
    writes.push_back(Rule(absl::StrCat("r", i), {RuleRecord::ANY, "", {{"x", 1}}}));
  }
  auto written = shelf.films->curation().Write(std::move(writes));
  REQUIRE(written.ok());
  for (size_t i = 0; i < kMostRulesOfOneQuery; ++i) REQUIRE((*written)[i].status.ok());
  CHECK(absl::IsResourceExhausted(written->back().status));
  // One of them may still be changed, and another kind of condition be added.
  CHECK(Tell(shelf.films, Rule("r7", {RuleRecord::ANY, "", {{"y", 1}}})).ok());
  CHECK(Tell(shelf.films, Rule("words", {RuleRecord::EXACT, "star", {{"y", 1}}})).ok());
}

TEST_CASE("a rule whose filter the schema does not take any more counts without it, and the answer says so") {
  Shelf shelf;
  Must(shelf.films, Rule("r", {RuleRecord::EXACT, "star", {{"x", 1}}, {}, "price > 3"}));
  storage::SchemaRecord schema = shelf.films->catalog().schema()->record();
  for (Field& field : *schema.mutable_fields()) {
    if (field.name() == "price") field.set_filterable(false);
  }
  REQUIRE(shelf.films->DeclareSchema(schema).ok());
  REQUIRE(shelf.films->CatchUp(Deadline::Never()).ok());
  const PipelineResponse answer = MustRun(shelf.films, SearchFor("star"));
  CHECK(answer.items[0].record.id() == "x");
  CHECK(answer.total == 13);
  REQUIRE(answer.degraded.size() == 1);
  CHECK(answer.degraded[0].reason.find("rule 'r'") != std::string::npos);
}

}  // namespace
}  // namespace waymark::tests
