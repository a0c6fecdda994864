#include "index/analyzer.h"
#include "index/indexed_fields.h"
#include "index/stop_words.h"
#include "index/word_segmenter.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using Words = std::vector<std::string>;

Words Segment(std::string_view text) {
  Words words;
  SegmentWords(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

Words Stem(StemmerKind stemmer, std::string_view text) {
  TermList terms;
  Analyzer({stemmer, false}).Analyze(text, 0, &terms);
  Words stems;
  for (size_t i = 0; i < terms.size(); ++i) stems.emplace_back(terms.term(i));
  return stems;
}

TEST_CASE("words are runs of letters and digits, folded") {
  CHECK(Segment("Star Wars: Episode IV - A New_Hope (1977)") ==
        Words{"star", "wars", "episode", "iv", "a", "new", "hope", "1977"});
  CHECK(Segment("don't  x-2\tR2D2\n") == Words{"don", "t", "x", "2", "r2d2"});
  CHECK(Segment("").empty());
  CHECK(Segment(" .,;!? ").empty());
}

TEST_CASE("words come with the bytes that they were written in") {
  const auto spans = [](std::string_view text) {
    Words written;
    SegmentWordSpans(text, [&](std::string_view, size_t begin, size_t end) {
      written.emplace_back(text.substr(begin, end - begin));
    });
    return written;
  };
  CHECK(spans("Star Wars: x-2") == Words{"Star", "Wars", "x", "2"});
  CHECK(spans("d'AMÉLIE—“Straße” \U0001F600ok") == Words{"d", "AMÉLIE", "Straße", "ok"});
  CHECK(spans("ﬁlm ＦＵＬＬ") == Words{"ﬁlm", "ＦＵＬＬ"});
  CHECK(spans("Ame\xCC\x81lie") == Words{"Ame\xCC\x81lie"});
  CHECK(spans("a\xFF b") == Words{"a\xFF", "b"});  // no UTF-8: what stands between spaces
  for (std::string_view text :
       {"東京物語を見る and ภาษาไทย", "naïve—“quoted”… don't", "㎏ of ½ İstanbul", "\xFF\xC3"}) {
    Words words;
    SegmentWordSpans(text, [&](std::string_view word, size_t, size_t) { words.emplace_back(word); });
    CHECK(words == Segment(text));
  }
}

TEST_CASE("letters beyond ASCII are folded and keep their accents") {
  CHECK(Segment("Le Fabuleux Destin d'AMÉLIE") == Words{"le", "fabuleux", "destin", "d", "amélie"});
  CHECK(Segment("ΟΔΥΣΣΕΙΑ ОСТРОВ") == Words{"οδυσσεια", "остров"});
  CHECK(Segment("Straße") == Words{"strasse"});
  CHECK(Segment("ﬁlm ＦＵＬＬ") == Words{"film", "full"});       // a ligature, full-width letters
  CHECK(Segment("Ame\xCC\x81lie") == Segment("Am\xC3\xA9lie"));  // e and a combining accent
  CHECK(Segment("naïve—“quoted”…") == Words{"naïve", "quoted"});
}

TEST_CASE("scripts without spaces are cut into words by dictionary") {
  const Words japanese = Segment("東京物語を見る");
  CHECK(japanese.size() > 1);
  CHECK(Segment("ภาษาไทย").size() > 1);
  std::string joined;
  for (const std::string& word : japanese) joined += word;
  CHECK(joined == "東京物語を見る");
}

TEST_CASE("bytes that are no UTF-8 separate words") {
  CHECK(Segment("star\xFF\xFEwars \xC3") == Words{"star", "wars"});
  CHECK(Segment(std::string("nul\0byte", 8)) == Words{"nul", "byte"});
}

TEST_CASE("a word of any length keeps its first 255 code points") {
  CHECK(Segment(std::string(100'000, 'x')) == Words{std::string(255, 'x')});
  std::string accents, kept;
  for (int i = 0; i < 1000; ++i) accents += "é";
  for (int i = 0; i < 255; ++i) kept += "é";
  CHECK(Segment(accents) == Words{kept});
}

TEST_CASE("stop words are the 33 of Lucene and leave gaps in positions") {
  CHECK(IsStopWord("the"));
  CHECK(IsStopWord("with"));
  CHECK_FALSE(IsStopWord("from"));
  CHECK_FALSE(IsStopWord("he"));
  TermList terms;
  const uint32_t end = Analyzer(AnalysisSettings{}).Analyze("The lord of the rings", 10, &terms);
  REQUIRE(terms.size() == 2);
  CHECK(terms.term(0) == "lord");
  CHECK(terms.position(0) == 11);
  CHECK(terms.term(1) == "ring");
  CHECK(terms.position(1) == 14);
  CHECK(end == 15);
}

TEST_CASE("the original Porter stemmer gives the examples of Porter's paper") {
  CHECK(Stem(StemmerKind::kPorter, "caresses ponies relational conditional vietnamization hopefulness") ==
        Words{"caress", "poni", "relat", "condit", "vietnam", "hope"});
  CHECK(Stem(StemmerKind::kPorter, "generalizations oscillators") == Words{"gener", "oscil"});
}

TEST_CASE("Snowball English differs where its authors say so") {
  // snowballstem.org, "The English (Porter2) stemming algorithm": generate, general; dying; skis.
  CHECK(Stem(StemmerKind::kPorter, "general generically dying skis") == Words{"gener", "gener", "dy", "ski"});
  CHECK(Stem(StemmerKind::kEnglish, "general generically dying skis") ==
        Words{"general", "generic", "die", "ski"});
  CHECK(Stem(StemmerKind::kNone, "Dying skis") == Words{"dying", "skis"});
}

TEST_CASE("a schema that says nothing is English with Porter's stemmer, without stop words") {
  CHECK(*AnalysisOf({}) == AnalysisSettings{StemmerKind::kPorter, true});
}

TEST_CASE("every analysis option of a schema is honoured") {
  storage::SchemaRecord schema;
  schema.set_language("english");
  CHECK(*AnalysisOf(schema) == AnalysisSettings{StemmerKind::kPorter, false});
  schema.set_remove_stop_words(true);
  schema.set_stemmer("snowball");
  CHECK(*AnalysisOf(schema) == AnalysisSettings{StemmerKind::kEnglish, true});
  schema.set_language("none");
  CHECK(*AnalysisOf(schema) == AnalysisSettings{StemmerKind::kEnglish, false});
  schema.clear_stemmer();
  CHECK(*AnalysisOf(schema) == AnalysisSettings{StemmerKind::kNone, false});
}

TEST_CASE("an unknown language or stemmer is refused by name") {
  storage::SchemaRecord schema;
  schema.set_language("klingon");
  CHECK(std::string(AnalysisOf(schema).status().message())
            .starts_with("schema: language is 'klingon'; it takes none, arabic"));
  schema.set_language("english");
  schema.set_stemmer("lovins");
  CHECK(AnalysisOf(schema).status() ==
        absl::InvalidArgumentError("schema: stemmer is 'lovins'; it takes snowball, porter or none"));
}

TEST_CASE("the name of an analysis says all of it, and those of old indexes stay") {
  CHECK(AnalysisName({}) == "words-1 stemmer=porter stop-words=lucene-33");
  CHECK(AnalysisName({StemmerKind::kEnglish, false}) == "words-1 stemmer=snowball stop-words=kept");
  const AnalysisSettings german{StemmerKind::kOfLanguage, true, AnalyzerKind::kStandard, "german"};
  CHECK(AnalysisName(german) == "standard-1 language=german stemmer=snowball stop-words=snowball");
  for (const AnalysisSettings& settings :
       {AnalysisSettings{}, german, AnalysisSettings{StemmerKind::kNone, false},
        AnalysisSettings{StemmerKind::kEnglish, true, AnalyzerKind::kStandard, "english"},
        AnalysisSettings{StemmerKind::kOfLanguage, false, AnalyzerKind::kWords, "greek"}}) {
    CHECK(AnalysisNamed(AnalysisName(settings)) == settings);
  }
  CHECK_FALSE(AnalysisNamed("words-0 stemmer=porter stop-words=lucene-33"));
}

TEST_CASE("a field may have a language of its own, with that language's stemmer and analyzer") {
  storage::SchemaRecord schema;
  storage::FieldRecord field;
  field.set_name("titel");
  CHECK(*AnalysisOf(schema, field) == AnalysisSettings{StemmerKind::kPorter, true});
  field.set_language("german");
  CHECK(*AnalysisOf(schema, field) ==
        AnalysisSettings{StemmerKind::kOfLanguage, true, AnalyzerKind::kStandard, "german"});
  field.set_remove_stop_words(false);
  field.set_stemmer("none");
  field.set_analyzer("words");
  CHECK(*AnalysisOf(schema, field) ==
        AnalysisSettings{StemmerKind::kNone, false, AnalyzerKind::kWords, "german"});
  field.set_language("greek");  // there is no list of its stop words
  field.clear_remove_stop_words();
  CHECK_FALSE(AnalysisOf(schema, field)->remove_stop_words);
}

TEST_CASE("texts of a value are its strings and numbers, in order") {
  google::protobuf::Value list;
  auto* values = list.mutable_list_value();
  values->add_values()->set_string_value("Drama");
  values->add_values()->set_number_value(1995);
  values->add_values()->set_number_value(2.5);
  values->add_values()->set_bool_value(true);
  (*values->add_values()->mutable_struct_value()->mutable_fields())["x"].set_string_value("hidden");
  Words texts;
  ForEachText(list, [&](std::string_view text) { texts.emplace_back(text); });
  CHECK(texts == Words{"Drama", "1995", "2.5"});
}

IndexedFields FieldsOf(std::vector<std::string> searched, std::vector<std::string> known, bool declared) {
  IndexedFields fields;
  for (std::string& name : searched) fields.fields.push_back({name});
  fields.known = std::move(known);
  fields.declared = declared;
  return fields;
}

TEST_CASE("an index goes on under a schema that only found new fields") {
  const IndexedFields before = FieldsOf({"title"}, {"title", "price"}, false);
  CHECK(CanExtend(before, before));
  CHECK(CanExtend(before, FieldsOf({"title", "text"}, {"title", "price", "text"}, false)));
  // Items may hold the field already: it was known but not searched, or a declared schema did not name it.
  CHECK_FALSE(CanExtend(before, FieldsOf({"title", "price"}, {"title", "price"}, false)));
  CHECK_FALSE(CanExtend(before, FieldsOf({"title", "text"}, {"title", "price", "text"}, true)));
  CHECK_FALSE(CanExtend(before, FieldsOf({}, {"title"}, false)));
  // Items held what lies in an object of which nothing was found; where anything was, everything was.
  CHECK_FALSE(CanExtend(before, FieldsOf({"title", "price.name"}, {"title", "price", "price.name"}, false)));
  const IndexedFields inside = FieldsOf({"title"}, {"title", "price", "price.low"}, false);
  CHECK(CanExtend(inside,
                  FieldsOf({"title", "price.name"}, {"title", "price", "price.low", "price.name"}, false)));
  CHECK(CanExtend(
      inside, FieldsOf({"title", "size.name"}, {"title", "price", "price.low", "size", "size.name"}, false)));
}

}  // namespace
}  // namespace waymark
