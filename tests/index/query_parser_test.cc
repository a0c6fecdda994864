#include "index/query_parser.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

const Analyzer kPlain({StemmerKind::kNone, false});
const Analyzer kEnglish({StemmerKind::kPorter, true});

// The query as text: +must should -must_not in parentheses, "phrases" with _ for gaps.
std::string Show(const ParsedQuery& query, const QueryNode& node) {
  if (node.kind == QueryNode::Kind::kTerm) return query.terms[node.index];
  std::string text;
  if (node.kind == QueryNode::Kind::kPhrase) {
    uint32_t place = 0;
    for (const QueryPhrase::Word& word : query.phrases[node.index].words) {
      for (; place < word.offset; ++place) text += text.empty() || text.back() == ' ' ? "_ " : " ";
      if (!text.empty() && text.back() != ' ') text += ' ';
      text += query.terms[word.term];
    }
    return "\"" + text + "\"";
  }
  const auto add = [&](const char* sign, const std::vector<QueryNode>& children) {
    for (const QueryNode& child : children) {
      if (!text.empty()) text += ' ';
      text += sign;
      text += Show(query, child);
    }
  };
  add("+", node.must);
  add("", node.should);
  add("-", node.must_not);
  return "(" + text + ")";
}

std::string Parse(std::string_view text, bool match_all = false, const Analyzer& analyzer = kPlain) {
  const ParsedQuery query = ParseQuery(text, analyzer, match_all);
  return query.root ? Show(query, *query.root) : "nothing";
}

TEST_CASE("words are wishes, or all wanted with match_all") {
  CHECK(Parse("Star wars") == "(star wars)");
  CHECK(Parse("Star wars", true) == "(+star +wars)");
}

TEST_CASE("plus wants and minus excludes") {
  CHECK(Parse("star +wars -trek") == "(+wars star -trek)");
  CHECK(Parse("star -\"death star\"") == "(star -\"death star\")");
  CHECK(Parse("+(a b) -(c d)") == "(+(a b) -(c d))");
  CHECK(Parse("a - b + c") == "(a b c)");  // signs by themselves mean nothing
  CHECK(Parse("x-ray 1+1") == "((x ray) (1 1))");
}

TEST_CASE("AND binds tighter than OR, and OR tighter than standing side by side") {
  CHECK(Parse("a AND b OR c") == "((+a +b) c)");
  CHECK(Parse("a OR b AND c") == "(a (+b +c))");
  CHECK(Parse("a b OR c", true) == "(+a +(b c))");
  CHECK(Parse("a b AND c") == "(a (+b +c))");
  CHECK(Parse("a AND NOT b") == "(+a -b)");
  CHECK(Parse("a AND (b OR c) AND NOT \"d e\"") == "(+a +(b c) -\"d e\")");
}

TEST_CASE("NOT and minus exclude from the group that they stand in") {
  CHECK(Parse("a OR NOT b") == "(a -b)");
  CHECK(Parse("a (-b)") == "(a -b)");
  CHECK(Parse("a NOT NOT b") == "(a b)");
  CHECK(Parse("-a") == "nothing");
  CHECK(Parse("NOT a") == "nothing");
}

TEST_CASE("operators are upper-case words") {
  CHECK(Parse("a and b or not c") == "(a and b or not c)");
  CHECK(Parse("+AND") == "and");
  CHECK(Parse("\"AND\"") == "and");
}

TEST_CASE("what is not closed ends with the query, what has no operand is passed over") {
  CHECK(Parse("\"star wars") == "\"star wars\"");
  CHECK(Parse("(a (b c") == "(a (b c))");
  CHECK(Parse("a ) b ) )") == "(a b)");
  CHECK(Parse("AND a OR") == "a");
  CHECK(Parse("a AND AND b") == "(+a +b)");
  CHECK(Parse("AND OR NOT + - \" ( )") == "nothing");
  CHECK(Parse("") == "nothing");
  CHECK(Parse("()") == "nothing");
}

TEST_CASE("curly quotation marks make phrases") { CHECK(Parse("“star wars”") == "\"star wars\""); }

TEST_CASE("a word of several terms is a phrase where it is wanted or excluded by name") {
  CHECK(Parse("spider-man") == "(spider man)");
  CHECK(Parse("spider-man", true) == "(+spider +man)");
  CHECK(Parse("+spider-man") == "\"spider man\"");
  CHECK(Parse("film -spider-man") == "(film -\"spider man\")");
  CHECK(Parse("spider-man AND film") == "(+(+spider +man) +film)");
}

TEST_CASE("stop words fall out, and keep their place in phrases") {
  CHECK(Parse("the star", false, kEnglish) == "star");
  CHECK(Parse("the AND star", false, kEnglish) == "star");
  CHECK(Parse("star -the", true, kEnglish) == "star");
  CHECK(Parse("to be or not to be", false, kEnglish) == "nothing");
  const ParsedQuery query = ParseQuery("\"lord of the rings\"", kEnglish, false);
  REQUIRE(query.phrases.size() == 1);
  REQUIRE(query.phrases[0].words.size() == 2);
  CHECK(query.phrases[0].words[1].offset == 3);
}

TEST_CASE("words are counted as often as they are asked for, and not where they are excluded") {
  const ParsedQuery query = ParseQuery("star wars star -trek \"star trek\"", kPlain, false);
  CHECK(query.terms == std::vector<std::string>{"star", "wars", "trek"});
  CHECK(query.term_times == std::vector<int>{2, 1, 0});
  CHECK(query.phrase_times == std::vector<int>{1});
  CHECK(query.asked == std::vector<bool>{true, true, true});
}

TEST_CASE("words are read as they are marked; marks of other words are none") {
  using Kind = TermReading::Kind;
  const auto read = [](std::string_view text, const Analyzer& analyzer = kPlain) {
    std::vector<std::tuple<std::string, Kind, int>> readings;
    const ParsedQuery query = ParseQuery(text, analyzer, false);
    for (size_t t = 0; t < query.terms.size(); ++t) {
      readings.emplace_back(query.terms[t], query.readings[t].kind, query.readings[t].edits);
    }
    return readings;
  };
  using Readings = std::vector<std::tuple<std::string, Kind, int>>;
  CHECK(read("star wars~ trek~1 gen~2 far~7 no~0 the*") == Readings{{"star", Kind::kWord, 0},
                                                                    {"wars", Kind::kTypos, 0},
                                                                    {"trek", Kind::kTypos, 1},
                                                                    {"gen", Kind::kTypos, 2},
                                                                    {"far", Kind::kTypos, 2},
                                                                    {"no", Kind::kExact, 0},
                                                                    {"the", Kind::kPrefix, 0}});
  CHECK(read("\"star\" star -trek") == Readings{{"star", Kind::kExact, 0}, {"trek", Kind::kExact, 0}});
  CHECK(
      read("a~b ~ * st*r") ==
      Readings{{"a", Kind::kWord, 0}, {"b", Kind::kWord, 0}, {"st", Kind::kWord, 0}, {"r", Kind::kWord, 0}});
  CHECK(read("relational* relational~", kEnglish) ==
        Readings{{"relational", Kind::kPrefix, 0}, {"relat", Kind::kTypos, 0}});
  CHECK(Parse("+spider-ma*") == "(+spider +ma)");
  CHECK(Parse("film -spider-ma~") == "(film -(+spider +ma))");
  CHECK(Parse("+spider-man~0") == "\"spider man\"");
}

TEST_CASE("only the first 1,000 distinct terms are considered") {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += absl::StrCat("w", i, " ");
  CHECK(ParseQuery(text, kPlain, false).terms.size() == 1000);
}

int Depth(const QueryNode& node) {
  int deepest = 0;
  for (const auto* children : {&node.must, &node.should, &node.must_not}) {
    for (const QueryNode& child : *children) deepest = std::max(deepest, Depth(child));
  }
  return deepest + 1;
}

TEST_CASE("parentheses of any depth are taken") {
  const ParsedQuery query =
      ParseQuery(std::string(5000, '(') + "a" + std::string(5000, ')') + " b", kPlain, false);
  CHECK(query.terms == std::vector<std::string>{"a", "b"});
  CHECK(Depth(*query.root) < 110);
}

TEST_CASE("any bytes up to 10 kB are a query") {
  std::mt19937 random(5);
  const std::vector<std::string> pieces = {"star", "(",   ")",    "\"", "AND", "OR", "NOT", "+",  "-",
                                           " ",    "the", "\xFF", "é",  "“",   "-a", "+(",  "x-y"};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const size_t length = random() % 200;
    for (size_t i = 0; i < length; ++i) {
      text += round % 3 == 0 ? std::string(1, static_cast<char>(random())) : pieces[random() % pieces.size()];
      if (random() % 3 == 0) text += ' ';
    }
    const ParsedQuery query = ParseQuery(text, round % 2 ? kPlain : kEnglish, random() % 2);
    for (const QueryPhrase& phrase : query.phrases) REQUIRE(phrase.words.size() >= 2);
    REQUIRE(query.term_times.size() == query.terms.size());
    if (query.root && query.root->kind == QueryNode::Kind::kGroup) {
      REQUIRE((!query.root->must.empty() || !query.root->should.empty()));
    }
  }
}

}  // namespace
}  // namespace waymark
