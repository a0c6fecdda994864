// Which rules hold, in which order, and which are refused.
#include "curation/curation_limits.h"
#include "tests/end_to_end/curated_shelf.h"

namespace waymark::tests {
namespace {

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
