#include "index/highlighter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "index/bound_query.h"
#include "index/indexed_fields.h"
#include "index/letters.h"
#include "index/snippet.h"

namespace waymark {
namespace {

absl::Status Check(const IndexedFields& indexed, const HighlightOptions& options) {
  if (options.fields.size() > kMaxHighlightFields) {
    return absl::InvalidArgumentError(absl::StrCat("highlight.fields: ", options.fields.size(),
                                                   " names; at most ", kMaxHighlightFields, " are taken"));
  }
  for (const std::string& field : options.fields) {
    if (indexed.Find(field) != nullptr) continue;
    std::vector<std::string> known;
    for (const IndexedField& f : indexed.fields) known.push_back(f.name);
    return absl::InvalidArgumentError(absl::StrCat(
        "highlight.fields: '", field, "' is not a searched field; those are: ", absl::StrJoin(known, ", ")));
  }
  for (const auto& [name, tag] :
       {std::pair("pre_tag", &options.pre_tag), std::pair("post_tag", &options.post_tag)}) {
    if (tag->size() <= kMaxTagBytes) continue;
    return absl::InvalidArgumentError(absl::StrCat("highlight.", name, ": has ", tag->size(),
                                                   " bytes; at most ", kMaxTagBytes, " are taken"));
  }
  if (options.snippet_length < 0 || options.snippet_length > kMaxSnippetLength) {
    return absl::InvalidArgumentError(absl::StrCat("highlight.snippet_length: is ", options.snippet_length,
                                                   "; it takes 0 (", kDefaultSnippetLength, ") to ",
                                                   kMaxSnippetLength));
  }
  return absl::OkStatus();
}

// Code points of the text before each of its bytes that begins one; and the end of what is looked through.
struct LetterPlaces {
  std::vector<uint32_t> before;  // [byte]
  std::u32string letters;
  size_t bytes = 0;

  explicit LetterPlaces(std::string_view text) : before(text.size() + 1) {
    while (bytes < text.size() && letters.size() < kMaxHighlightedLetters) {
      const size_t begin = bytes;
      letters.push_back(ReadLetter(text, &bytes));
      for (size_t i = begin; i < bytes; ++i) before[i] = static_cast<uint32_t>(letters.size() - 1);
    }
    before[bytes] = static_cast<uint32_t>(letters.size());
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Highlighter>> Highlighter::Make(std::shared_ptr<const IndexSnapshot> snapshot,
                                                               const BoundQuery& query,
                                                               HighlightOptions options) {
  if (auto status = Check(snapshot->fields, options); !status.ok()) return status;
  std::unique_ptr<Highlighter> made(new Highlighter);
  made->fields_ = options.fields;
  if (made->fields_.empty()) {
    for (const IndexedField& field : snapshot->fields.fields) made->fields_.push_back(field.name);
  }
  made->snapshot_ = std::move(snapshot);
  made->options_ = std::move(options);
  const ParsedQuery& parsed = query.query;
  for (size_t t = 0; t < parsed.terms.size(); ++t) {
    made->typed_.push_back(parsed.readings[t].typed);
    if (!parsed.asked[t]) continue;
    if (parsed.readings[t].kind != TermReading::Kind::kPrefix) {
      made->of_term_.emplace(parsed.terms[t], static_cast<uint32_t>(t));
    }
    if (t >= query.variants.size()) continue;  // the deadline came before they were found
    for (const BoundVariant& variant : query.variants[t]) {
      made->of_term_.emplace(variant.term, static_cast<uint32_t>(t));
    }
  }
  for (size_t p = 0; p < query.synonyms.size(); ++p) {
    for (const BoundSynonym& other : query.synonyms[p].others) {
      for (const std::string& term : other.terms) made->of_term_.emplace(term, parsed.synonyms[p].typed[0]);
    }
  }
  return made;
}

void Highlighter::HighlightText(const std::string& field, int value, std::string_view text,
                                std::vector<TextHighlight>* found) const {
  const LetterPlaces places(text);
  std::vector<TextMatch> matches;
  const Analyzer& analyzer = snapshot_->analyzers.Of(field);
  analyzer.ForEachTerm(text.substr(0, places.bytes), [&](const AnalysedWord& word) {
    if (word.stop) return;
    auto query_word = of_term_.find(std::string(word.term));
    if (query_word == of_term_.end() && !word.form.empty())
      query_word = of_term_.find(std::string(word.form));
    if (query_word == of_term_.end()) return;
    const TextMatch match{places.before[word.begin], places.before[word.end], query_word->second};
    // Two words may be written in one letter.
    if (match.begin >= match.end) return;
    if (matches.empty() || matches.back().end <= match.begin) {
      matches.push_back(match);
    } else if (analyzer.standard()) {  // of a pair of CJK characters the next one; or a joined word
      matches.back().end = std::max(matches.back().end, match.end);
    }
  });
  if (matches.empty()) return;
  TextHighlight& highlight = found->emplace_back();
  highlight.field = field;
  highlight.value = value;
  for (size_t i = 0; i < std::min(matches.size(), kMaxMatchesShown); ++i) {
    highlight.matches.push_back({matches[i].begin, matches[i].end, typed_[matches[i].word]});
  }
  if (options_.offsets_only) return;
  const int length = options_.snippet_length > 0 ? options_.snippet_length : kDefaultSnippetLength;
  highlight.snippet = MakeSnippet(places.letters, matches,
                                  {options_.pre_tag, options_.post_tag, static_cast<uint32_t>(length)});
}

std::vector<TextHighlight> Highlighter::Highlight(const storage::ItemRecord& item) const {
  std::vector<TextHighlight> found;
  const auto& values = item.fields().fields();
  for (const std::string& field : fields_) {
    const auto value = values.find(field);
    if (value == values.end()) continue;
    int number = 0;
    ForEachText(value->second, [&](std::string_view text) { HighlightText(field, number++, text, &found); });
  }
  return found;
}

}  // namespace waymark
