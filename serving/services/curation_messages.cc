#include "serving/services/curation_messages.h"

#include "absl/strings/str_cat.h"
#include "serving/resource_name.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

using storage::RuleRecord;

// The two have the same numbers.
static_assert(static_cast<int>(v1::Rule::ANY) == static_cast<int>(RuleRecord::ANY));
static_assert(static_cast<int>(v1::Rule::EXACT) == static_cast<int>(RuleRecord::EXACT));

absl::StatusOr<int64_t> MicrosOf(const google::protobuf::Timestamp& timestamp, const char* field) {
  auto time = ReadTimestamp(timestamp, field);
  if (!time.ok()) return time.status();
  return absl::ToUnixMicros(*time);
}

}  // namespace

absl::StatusOr<storage::CurationRecord> RecordOf(const v1::Synonym& synonym) {
  storage::CurationRecord made;
  storage::SynonymRecord& record = *made.mutable_synonym();
  *record.mutable_words() = synonym.words();
  *record.mutable_from() = synonym.from();
  *record.mutable_to() = synonym.to();
  record.set_language(synonym.language());
  return made;
}

absl::StatusOr<storage::CurationRecord> RecordOf(const v1::Rule& rule) {
  storage::CurationRecord made;
  RuleRecord& record = *made.mutable_rule();
  record.set_description(rule.description());
  record.set_priority(rule.priority());
  const v1::Rule::Condition& condition = rule.condition();
  if (!v1::Rule::Match_IsValid(condition.match())) {
    return InvalidField("rule.condition.match", absl::StrCat("is ", static_cast<int>(condition.match()),
                                                             "; it takes EXACT, CONTAINS, BEGINS or ANY"));
  }
  record.set_match(static_cast<RuleRecord::Match>(condition.match()));
  record.set_query(condition.query());
  record.set_context_filter(condition.filter());
  if (condition.has_valid_from()) {
    auto from = MicrosOf(condition.valid_from(), "rule.condition.valid_from");
    if (!from.ok()) return from.status();
    record.set_valid_from_us(*from);
  }
  if (condition.has_valid_until()) {
    auto until = MicrosOf(condition.valid_until(), "rule.condition.valid_until");
    if (!until.ok()) return until.status();
    if (*until <= 0) return InvalidField("rule.condition.valid_until", "is before 1970");
    record.set_valid_until_us(*until);
  }
  for (const v1::Rule::Pin& pin : rule.pins()) {
    RuleRecord::Pin* to = record.add_pins();
    to->set_item_id(pin.item_id());
    to->set_position(pin.position());
  }
  *record.mutable_hidden_items() = rule.hidden_items();
  record.set_hidden_filter(rule.hidden_filter());
  for (const v1::Rule::Boost& boost : rule.boosts()) {
    RuleRecord::Boost* to = record.add_boosts();
    to->set_filter(boost.filter());
    *to->mutable_items() = boost.items();
    to->set_factor(boost.factor());
  }
  record.set_redirect_uri(rule.redirect_uri());
  record.set_replacement_query(rule.replacement_query());
  record.set_added_filter(rule.added_filter());
  return made;
}

void ToMessage(const CollectionName& collection, const storage::CurationRecord& record,
               v1::Synonym* synonym) {
  synonym->set_name(FormatResource(collection, "synonyms", record.id()));
  synonym->set_id(record.id());
  *synonym->mutable_words() = record.synonym().words();
  *synonym->mutable_from() = record.synonym().from();
  *synonym->mutable_to() = record.synonym().to();
  synonym->set_language(record.synonym().language());
  synonym->set_revision(record.revision());
  SetTimestamp(record.create_time_us(), synonym->mutable_create_time());
  SetTimestamp(record.update_time_us(), synonym->mutable_update_time());
}

void ToMessage(const CollectionName& collection, const storage::CurationRecord& record, v1::Rule* rule) {
  const RuleRecord& from = record.rule();
  rule->set_name(FormatResource(collection, "rules", record.id()));
  rule->set_id(record.id());
  rule->set_description(from.description());
  rule->set_priority(from.priority());
  v1::Rule::Condition* condition = rule->mutable_condition();
  condition->set_match(static_cast<v1::Rule::Match>(from.match()));
  condition->set_query(from.query());
  condition->set_filter(from.context_filter());
  if (from.valid_from_us() != 0) SetTimestamp(from.valid_from_us(), condition->mutable_valid_from());
  if (from.valid_until_us() != 0) SetTimestamp(from.valid_until_us(), condition->mutable_valid_until());
  for (const RuleRecord::Pin& pin : from.pins()) {
    v1::Rule::Pin* to = rule->add_pins();
    to->set_item_id(pin.item_id());
    to->set_position(pin.position());
  }
  *rule->mutable_hidden_items() = from.hidden_items();
  rule->set_hidden_filter(from.hidden_filter());
  for (const RuleRecord::Boost& boost : from.boosts()) {
    v1::Rule::Boost* to = rule->add_boosts();
    to->set_filter(boost.filter());
    *to->mutable_items() = boost.items();
    to->set_factor(boost.factor());
  }
  rule->set_redirect_uri(from.redirect_uri());
  rule->set_replacement_query(from.replacement_query());
  rule->set_added_filter(from.added_filter());
  rule->set_revision(record.revision());
  SetTimestamp(record.create_time_us(), rule->mutable_create_time());
  SetTimestamp(record.update_time_us(), rule->mutable_update_time());
}

}  // namespace waymark
