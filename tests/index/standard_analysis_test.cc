// The standard analysis: what becomes a term, in which language.
#include <map>

#include "catalog/text_analysis.h"
#include "index/analyzer.h"
#include "index/language_rules.h"
#include "index/stop_words.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using Words = std::vector<std::string>;
using Kind = AnalysedWord::Kind;

Analyzer Standard(const std::string& language, bool stop_words = false) {
  storage::SchemaRecord schema;
  schema.set_language(language);
  schema.set_analyzer("standard");
  if (language == "none") schema.set_stemmer("none");
  schema.set_remove_stop_words(stop_words);
  return Analyzer(*AnalysisOf(schema));
}

// The terms of the words; joined ones in parentheses.
Words Terms(const std::string& text, const Analyzer& analyzer) {
  Words terms;
  analyzer.ForEachTerm(text, [&](const AnalysedWord& word) {
    if (word.kind == Kind::kBeside || word.stop) return;
    terms.push_back(word.kind == Kind::kJoined ? "(" + std::string(word.term) + ")" : std::string(word.term));
  });
  return terms;
}
Words Plain(const std::string& text) { return Terms(text, Standard("none")); }

// All terms of a document with their places; exact forms with "=".
std::multimap<uint32_t, std::string> Document(const std::string& text, const Analyzer& analyzer) {
  TermList terms;
  analyzer.AnalyzeDocument(text, 0, &terms);
  std::multimap<uint32_t, std::string> placed;
  uint32_t last = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    CHECK(terms.position(i) >= last);
    last = terms.position(i);
    const std::string_view term = terms.term(i);
    placed.emplace(last, IsForm(term) ? "=" + std::string(term.substr(1)) : std::string(term));
  }
  return placed;
}

TEST_CASE("parts of a compound are words, and one word together") {
  CHECK(Plain("Wi-Fi router") == Words{"wi", "(wifi)", "fi", "router"});
  CHECK(Plain("wi\u2011fi") == Words{"wi", "(wifi)", "fi"});
  CHECK(Plain("AT&T") == Words{"at", "(att)", "t"});
  CHECK(Plain("don't") == Words{"don", "(dont)", "t"});
  CHECK(Plain("O\u2019Neill") == Words{"o", "(oneill)", "neill"});
  CHECK(Plain("U.S.A.") == Words{"u", "(usa)", "s", "a"});
  CHECK(Plain("and/or under_score end.Next") == Words{"and", "or", "under", "score", "end", "next"});
  CHECK(Plain("a--b - c") == Words{"a", "b", "c"});
  // Seven parts are no word.
  CHECK(Plain("a-b-c-d-e-f-g") == Words{"a", "b", "c", "d", "e", "f", "g"});
}

TEST_CASE("numbers, and what is written onto them") {
  CHECK(Plain("iPhone15") == Words{"iphone", "(iphone15)", "15"});
  CHECK(Plain("3.5mm jack") == Words{"3.5", "(3.5mm)", "mm", "jack"});
  CHECK(Plain("3.5 mm, 35mm") == Words{"3.5", "mm", "35", "(35mm)", "mm"});
  CHECK(Plain("1,000 or 12,345.5 or 3,5 or 1,2,3") ==
        Words{"1000", "or", "12345.5", "or", "3.5", "or", "1", "2", "3"});
  CHECK(Plain("AB-1234/7") == Words{"ab", "(ab12347)", "1234", "7"});
  CHECK(Plain("AB1234-7") == Words{"ab", "(ab12347)", "1234", "7"});
  CHECK(Plain("v1.2.3") == Words{"v", "(v1.2.3)", "1.2.3"});
  CHECK(Plain("In 1999.") == Words{"in", "1999"});
  CHECK(Plain("\u00BD \u2460") == Plain("1\u20442 1"));  // NFKC
  // A part of a number is no stop word, whatever it is elsewhere.
  CHECK(Terms("A-1 a film", Standard("english", true)) == Words{"a", "(a1)", "1", "film"});
}

TEST_CASE("C++ and C# are words of their own") {
  CHECK(Plain("C++ and C#, F#.") == Words{"c++", "and", "c#", "f#"});
  CHECK(Plain("C++11") == Words{"c++", "(c++11)", "11"});
  CHECK(Plain("a+b c+ #1 no# x++y") == Words{"a", "b", "c", "1", "no", "x", "y"});
  CHECK(Terms("notepad++", Standard("english")) == Words{"notepad++"});
}

TEST_CASE("Chinese, Japanese and Korean are pairs of characters, also within other text") {
  CHECK(Plain("東京物語") == Words{"東京", "京物", "物語"});
  CHECK(Plain("映画 Tokyo物語2") == Words{"映画", "tokyo", "物語", "2"});
  CHECK(Plain("スター・ウォーズ") == Words{"スタ", "ター", "ウォ", "ォー", "ーズ"});
  CHECK(Plain("대한민국") == Words{"대한", "한민", "민국"});
  CHECK(Plain("木 の木") == Words{"木", "の木"});
  // Documents are found by single characters, too.
  using Placed = std::multimap<uint32_t, std::string>;
  CHECK(Document("東京都 x", Standard("none")) ==
        Placed{{0, "東京"}, {0, "東"}, {1, "京都"}, {1, "京"}, {1, "都"}, {2, "x"}});
}

TEST_CASE("Thai is cut by dictionary") { CHECK(Plain("ภาษาไทย").size() == 2); }

TEST_CASE("elided articles go, where the language has them") {
  CHECK(Terms("l'amour d\u2019un qu'elle aujourd'hui", Standard("french")) ==
        Words{"amour", "un", "elle", "aujourd", "(aujourdhui)", "hui"});
  CHECK(Terms("l'opera dell'arte", Standard("italian")) == Words{"oper", "arte"});
  CHECK(Terms("l'home", Standard("catalan")) == Words{"hom"});
  CHECK(Terms("the dog's l'amour", Standard("english")) == Words{"the", "dog", "l", "(lamour)", "amour"});
}

TEST_CASE("marks go where they are no letters of their own, and what is typed for those finds them") {
  CHECK(Plain("Amélie Žižek Łódź Øresund façade Ελλάδα ёлка") ==
        Words{"amelie", "zizek", "lodz", "oresund", "facade", "ελλαδα", "елка"});
  CHECK(Plain("Ame\u0301lie \uFB01lm \uFF26\uFF35") == Words{"amelie", "film", "fu"});
  CHECK(FoldMarks("й ї हिन्दी", LanguageRules::Of("russian")) == "й ї हिन्दी");
  CHECK(FoldMarks("smörgåsbord café", LanguageRules::Of("swedish")) == "smörgåsbord cafe");
  CHECK(FoldMarks("mañana canción", LanguageRules::Of("spanish")) == "mañana cancion");
  CHECK(FoldMarks("çığ", LanguageRules::Of("turkish")) == "çığ");
  CHECK(FoldMarks("מַלְכוּת كِتَاب", LanguageRules::Of("none")) == "מלכות كتاب");
  CHECK(ExpandMarks("müller", LanguageRules::Of("german")) == "mueller");
  // Each of the ways in which a German or Dane may type it is a term of the document.
  const Analyzer german = Standard("german");
  const auto document = Document("Müller", german);
  for (const char* typed : {"Müller", "Muller", "Mueller"}) {
    const Words terms = Terms(typed, german);
    REQUIRE(terms.size() == 1);
    const bool found = std::any_of(document.begin(), document.end(),
                                   [&](const auto& placed) { return placed.second == terms[0]; });
    INFO(typed);
    CHECK(found);
  }
  CHECK(Terms("Straße", german) == Terms("STRASSE", german));
}

TEST_CASE("Turkish has a dotless i") {
  CHECK(Terms("IŞIK İstanbul", Standard("turkish"))[0] == "ışık");
  CHECK(Terms("ISTANBUL", Standard("english"))[0] == "istanbul");
  CHECK(Terms("İSTANBUL'DA", Standard("turkish"))[0] == Terms("istanbul'da", Standard("turkish"))[0]);
}

TEST_CASE("an exact form stands beside its stem, and not beside itself") {
  using Placed = std::multimap<uint32_t, std::string>;
  storage::SchemaRecord schema;
  schema.set_analyzer("standard");
  const Analyzer english(*AnalysisOf(schema));
  CHECK(Document("the running dog", english) == Placed{{1, "run"}, {1, "=running"}, {2, "dog"}});
}

// Of snowballstem.org's pages on each stemmer (the vocabularies with their stems), or of the rules that they
// state.
TEST_CASE("words of one stem in each of the languages") {
  const std::map<std::string, std::vector<std::pair<std::string, std::string>>> kSame = {
      {"danish", {{"undersøgelse", "undersøgelsen"}}},
      {"dutch", {{"lichaam", "lichamen"}, {"opgave", "opgaven"}}},
      {"english", {{"consistency", "consistent"}, {"relational", "relate"}}},
      {"finnish", {{"edeltäjä", "edeltäjän"}}},
      {"french", {{"continuellement", "continuelle"}, {"majestueux", "majestueuse"}}},
      {"german", {{"aufeinander", "aufeinandern"}, {"Häuser", "Hauses"}}},
      {"greek", {{"παιδιά", "παιδιών"}}},
      {"hungarian", {{"babakocsi", "babakocsik"}}},
      {"italian", {{"abbandonata", "abbandonate"}, {"pronunciare", "pronunciato"}}},
      {"norwegian", {{"opning", "opningen"}, {"havnedistrikt", "havnedistriktene"}}},
      {"portuguese", {{"quilométricas", "quilométricos"}}},
      {"romanian", {{"copiilor", "copii"}}},
      {"russian", {{"важная", "важного"}, {"вавиловка", "вавиловки"}}},
      {"spanish", {{"cheque", "cheques"}, {"torneos", "torneo"}}},
      {"swedish", {{"klokhet", "klokheten"}}},
      {"turkish", {{"kitaplar", "kitap"}}},
      {"catalan", {{"gats", "gat"}}},
      {"irish", {{"bhád", "bád"}}},
      {"arabic", {{"الكتاب", "كتاب"}}},
  };
  for (const auto& [language, pairs] : kSame) {
    const Analyzer analyzer = Standard(language);
    for (const auto& [a, b] : pairs) {
      INFO(language << ": " << a << ", " << b);
      CHECK(Terms(a, analyzer) == Terms(b, analyzer));
    }
  }
}

TEST_CASE("every language that is named has a stemmer, and a list where the table says so") {
  for (const TextLanguage& language : TextLanguages()) {
    INFO(std::string(language.name));
    CHECK((StopWords::Of(language.name) != nullptr) == language.has_stop_words);
    CHECK(Terms("x", Standard(std::string(language.name))).size() == 1);
  }
  CHECK(StopWords::Of("german")->Contains("dass"));  // the list has «daß», as words are folded
  CHECK(StopWords::Of("french")->Contains("les"));
  CHECK_FALSE(StopWords::Of("french")->Contains("amour"));
  CHECK(Terms("Der Herr der Ringe", Standard("german", true)) == Words{"herr", "ring"});
}

TEST_CASE("any bytes are analysed, and words come in order with the bytes that they were written in") {
  for (const std::string& text :
       {std::string("\xFF\xC3 a\xE2\x82"), std::string("nul\0byte", 8), std::string(100'000, 'x'),
        std::string(3000, '7'), std::string("1.") + std::string(2000, '.'),
        std::string("\u0301\u0301 \u200D"), std::string("👩‍👩‍👧 مرحبا שלום"),
        std::string("----''''....&&&&")}) {
    for (const char* language : {"english", "turkish", "french", "none"}) {
      uint32_t position = 0;
      Standard(language).ForEachTerm(text, [&](const AnalysedWord& word) {
        CHECK(word.position >= position);
        position = word.position;
        CHECK(word.begin < word.end);
        CHECK(word.end <= text.size());
        CHECK(word.word.size() <= 255 * 4);
      });
    }
  }
  CHECK(Plain(std::string(100'000, 'x')) == Words{std::string(255, 'x')});
}

}  // namespace
}  // namespace waymark
