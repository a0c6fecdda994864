#include "app/result_table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "app/text_table.h"
#include "catalog/field_path.h"
#include "store/rows/json_struct.h"

namespace waymark {

namespace {

constexpr size_t kMostFields = 3;
constexpr size_t kMostContributions = 8;
constexpr int kMostTerms = 20;

std::string SourcesText(const v1::Result& result) {
  return absl::StrJoin(result.sources(), " ", [](std::string* out, const v1::Result::Source& source) {
    absl::StrAppend(out, source.name(), "#", source.rank());
  });
}

std::string TextOf(const v1::Item& item, const std::string& field) {
  std::string text;
  ForEachAt(item.fields(), field, [&text](const google::protobuf::Value& value) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", FieldText(value));
  });
  return text;
}

std::string DistanceText(const v1::Result& result) {
  if (!result.has_distance_meters()) return "";
  const double meters = result.distance_meters();
  return meters < 1000 ? absl::StrFormat("%.0f m", meters) : absl::StrFormat("%.1f km", meters / 1000);
}

void AddExplanation(const v1::Result& result, TextTable* table) {
  std::vector<v1::Result::Contribution> parts(result.explanation().begin(), result.explanation().end());
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::abs(a.contribution()) > std::abs(b.contribution());
  });
  if (parts.size() > kMostContributions) parts.resize(kMostContributions);
  for (const auto& part : parts) {
    table->AddNote(
        absl::StrFormat("        %+9.4f  %s = %g", part.contribution(), part.feature(), part.value()));
  }
}

std::string FrequenciesText(const v1::KeywordExplanation::Term& term) {
  return absl::StrJoin(term.fields(), ", ", [](std::string* out, const v1::KeywordExplanation::Field& field) {
    absl::StrAppendFormat(out, "%s %g", field.field(), field.frequency());
    if (field.weight() != 1) absl::StrAppendFormat(out, " * %g", field.weight());
  });
}

// The words' score, term by term: what each adds, and what it is made of.
void AddKeywordExplanation(const v1::KeywordExplanation& explained, TextTable* table) {
  table->AddNote(absl::StrFormat("        keyword %.4f: length %g of %g on average, norm %.4f",
                                 explained.score(), explained.length(), explained.average_length(),
                                 explained.length_norm()));
  int shown = 0;
  for (const v1::KeywordExplanation::Term& term : explained.terms()) {
    if (++shown > kMostTerms) {
      table->AddNote(absl::StrFormat("        (%d more)", explained.terms_size() - kMostTerms));
      return;
    }
    std::string line = absl::StrFormat("        %+9.4f  %s", term.contribution(), term.term());
    if (!term.typed().empty()) absl::StrAppend(&line, " for '", term.typed(), "'");
    if (!term.left_out().empty()) {
      absl::StrAppend(&line, ": ", term.left_out());
    } else {
      absl::StrAppendFormat(&line, " = idf %.4f", term.idf());
      if (term.documents_with() > 0) {
        absl::StrAppendFormat(&line, " (%d of %d items)", term.documents_with(), explained.documents());
      }
      if (term.times() != 1) absl::StrAppendFormat(&line, " * %g times", term.times());
      absl::StrAppendFormat(&line, " * tf %g / (tf + norm); %s", term.tf(), FrequenciesText(term));
    }
    table->AddNote(line);
  }
}

// Once for each group; items that lack the field stand alone.
std::string GroupText(const v1::Result* before, const v1::Result& result) {
  if (!result.group().has_value()) return "-";
  const bool same =
      before != nullptr && before->group().has_value() && before->group().value() == result.group().value();
  return same ? "" : result.group().value();
}

}  // namespace

ShownFields ChooseFields(const v1::Schema& schema) {
  ShownFields shown;
  for (const v1::Schema::Field& field : schema.fields()) {
    if (field.title()) shown.title = field.name();
  }
  auto take = [&](const auto& wanted) {
    for (const v1::Schema::Field& field : schema.fields()) {
      if (shown.others.size() >= kMostFields) return;
      if (field.name() == shown.title || !wanted(field)) continue;
      if (std::find(shown.others.begin(), shown.others.end(), field.name()) == shown.others.end()) {
        shown.others.push_back(field.name());
      }
    }
  };
  take([](const auto& field) { return field.category(); });
  take([](const auto& field) {
    return field.type() == v1::Schema::INTEGER || field.type() == v1::Schema::FLOATING ||
           field.type() == v1::Schema::BOOLEAN;
  });
  take([](const auto& field) {
    return field.type() == v1::Schema::KEYWORD || field.type() == v1::Schema::TIME;
  });
  return shown;
}

std::string FieldText(const google::protobuf::Value& value) {
  if (value.has_string_value()) return value.string_value();
  if (value.has_list_value()) {
    return absl::StrJoin(value.list_value().values(), ", ",
                         [](std::string* out, const auto& element) { out->append(FieldText(element)); });
  }
  std::string text;
  AppendJson(value, &text);
  return text;
}

std::string ResultTable(const google::protobuf::RepeatedPtrField<v1::Result>& results,
                        const ShownFields& fields, int width) {
  std::vector<TextTable::Column> columns;
  const bool grouped = !results.empty() && results[0].has_group();
  if (grouped) columns.push_back({"group", TextTable::kText});
  for (const char* number : {"rank", "score"}) columns.push_back({number, TextTable::kRight});
  columns.push_back({"id", TextTable::kText});
  if (!fields.title.empty()) columns.push_back({fields.title, TextTable::kText});
  for (const std::string& field : fields.others) columns.push_back({field, TextTable::kText});
  const bool distances = std::any_of(results.begin(), results.end(),
                                     [](const v1::Result& result) { return result.has_distance_meters(); });
  if (distances) columns.push_back({"distance", TextTable::kRight});
  columns.push_back({"sources", TextTable::kText});
  TextTable table(columns);
  int rank = 0;
  const v1::Result* before = nullptr;
  for (const v1::Result& result : results) {
    std::vector<std::string> cells;
    if (grouped) cells.push_back(GroupText(before, result));
    before = &result;
    cells.insert(cells.end(),
                 {absl::StrCat(++rank), absl::StrFormat("%.3f", result.score()), result.item().id()});
    if (!fields.title.empty()) cells.push_back(TextOf(result.item(), fields.title));
    for (const std::string& field : fields.others) cells.push_back(TextOf(result.item(), field));
    if (distances) cells.push_back(DistanceText(result));
    cells.push_back(SourcesText(result));
    table.Add(std::move(cells));
    AddExplanation(result, &table);
    if (result.has_keyword_explanation()) AddKeywordExplanation(result.keyword_explanation(), &table);
  }
  return table.Render(width);
}

std::string ServedByLine(const v1::ServedBy& served_by,
                         const google::protobuf::RepeatedPtrField<v1::StageTiming>& timings) {
  std::string line = absl::StrCat("release ", served_by.release());
  if (!served_by.retriever().empty()) absl::StrAppend(&line, ", retriever ", served_by.retriever());
  if (!served_by.ranker().empty()) absl::StrAppend(&line, ", ranker ", served_by.ranker());
  double total = 0;
  std::vector<std::string> stages;
  for (const v1::StageTiming& timing : timings) {
    if (timing.stage() == "total") {
      total = timing.milliseconds();
    } else {
      stages.push_back(absl::StrFormat("%s %.2f", timing.stage(), timing.milliseconds()));
    }
  }
  if (!stages.empty()) absl::StrAppendFormat(&line, "; %.1f ms: %s", total, absl::StrJoin(stages, ", "));
  return line;
}

std::string DegradedLines(const google::protobuf::RepeatedPtrField<v1::Degradation>& degraded) {
  std::string lines;
  for (const v1::Degradation& part : degraded) {
    absl::StrAppend(&lines, "cut short: ", part.stage(), ": ", part.reason(), "\n");
  }
  return lines;
}

}  // namespace waymark
