#include "serving/services/experiment_messages.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "serving/services/time_messages.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;
using storage::GuardrailRecord;
using storage::MetricRecord;

// The API's enumerations begin at 1, behind «unspecified», which is the record's first.
int FromApi(int value) { return value == 0 ? 0 : value - 1; }
int ToApi(int value) { return value + 1; }

absl::Status Unknown(const std::string& field, int value, const std::string& takes) {
  return InvalidField(field, absl::StrCat("is ", value, "; it takes ", takes));
}

absl::StatusOr<int64_t> Microseconds(const google::protobuf::Duration& duration, const std::string& field) {
  auto read = ReadDuration(duration, field);
  if (!read.ok()) return read.status();
  return absl::ToInt64Microseconds(*read);
}

void SetDuration(int64_t microseconds, google::protobuf::Duration* duration) {
  duration->set_seconds(microseconds / 1000000);
  duration->set_nanos(static_cast<int32_t>(microseconds % 1000000) * 1000);
}

// ---- from the API

absl::Status FillEvents(const v1::Experiment::Metric::Events& from, const std::string& field,
                        MetricRecord::Events* to) {
  if (!v1::Experiment::Metric::Events::Value_IsValid(from.value())) {
    return Unknown(field + ".value", from.value(), "COUNT, VALUE or REVENUE");
  }
  to->set_type(from.type());
  to->set_value(static_cast<MetricRecord::Events::Value>(FromApi(from.value())));
  to->set_surface(from.surface());
  return absl::OkStatus();
}

absl::Status FillMetric(const v1::Experiment::Metric& from, const std::string& field, MetricRecord* to) {
  if (!v1::Experiment::Metric::Kind_IsValid(from.kind())) {
    return Unknown(field + ".kind", from.kind(), "MEAN, PROPORTION, RATIO or QUANTILE");
  }
  to->set_name(from.name());
  to->set_kind(static_cast<MetricRecord::Kind>(from.kind()));
  if (from.has_events()) {
    if (auto status = FillEvents(from.events(), field + ".events", to->mutable_events()); !status.ok())
      return status;
  }
  if (from.has_denominator()) {
    auto status = FillEvents(from.denominator(), field + ".denominator", to->mutable_denominator());
    if (!status.ok()) return status;
  }
  to->set_quantile(from.quantile());
  to->set_cap(from.cap());
  to->set_cap_quantile(from.cap_quantile());
  auto window = Microseconds(from.window(), field + ".window");
  if (!window.ok()) return window.status();
  to->set_window_us(*window);
  to->set_lower_is_better(from.lower_is_better());
  return absl::OkStatus();
}

absl::Status FillAttributes(const v1::Experiment& from, ExperimentRecord* record) {
  for (int i = 0; i < from.targeting_attributes_size(); ++i) {
    const v1::Experiment::Attribute& attribute = from.targeting_attributes(i);
    storage::FieldRecord& field = *record->add_targeting_fields();
    field.set_name(attribute.name());
    storage::FieldRecord::Type type = storage::FieldRecord::TYPE_UNSPECIFIED;
    const bool known = storage::FieldRecord::Type_Parse(attribute.type(), &type);
    if (!known || type < storage::FieldRecord::KEYWORD || type > storage::FieldRecord::TIME) {
      return InvalidField(
          absl::StrCat("targeting_attributes[", i, "].type"),
          absl::StrCat("is '", attribute.type(), "'; it takes KEYWORD, INTEGER, FLOATING, BOOLEAN or TIME"));
    }
    field.set_type(type);
  }
  return absl::OkStatus();
}

absl::Status FillMeasures(const v1::Experiment& from, ExperimentRecord* record) {
  for (int i = 0; i < from.metrics_size(); ++i) {
    auto status = FillMetric(from.metrics(i), absl::StrCat("metrics[", i, "]"), record->add_metrics());
    if (!status.ok()) return status;
  }
  for (int i = 0; i < from.guardrails_size(); ++i) {
    const v1::Experiment::Guardrail& guardrail = from.guardrails(i);
    if (!v1::Experiment::Guardrail::Measure_IsValid(guardrail.measure())) {
      return Unknown(absl::StrCat("guardrails[", i, "].measure"), guardrail.measure(),
                     "LATENCY, ERROR_RATE, EMPTY_RATE or DIVERSITY");
    }
    GuardrailRecord& to = *record->add_guardrails();
    to.set_measure(static_cast<GuardrailRecord::Measure>(guardrail.measure()));
    to.set_tolerance(guardrail.tolerance());
  }
  return absl::OkStatus();
}

absl::Status CheckEnumerations(const v1::Experiment& from) {
  if (!v1::Experiment::HashVersion_IsValid(from.hash_version())) {
    return Unknown("hash_version", from.hash_version(), "GROWTHBOOK_V2, GROWTHBOOK_V1 or PLANOUT");
  }
  if (!v1::Experiment::Unit_IsValid(from.unit())) {
    return Unknown("unit", from.unit(), "USER, VISITOR, SESSION or REQUEST");
  }
  if (!v1::Experiment::Mode_IsValid(from.mode())) {
    return Unknown("mode", from.mode(), "SPLIT, INTERLEAVED or BANDIT");
  }
  if (!v1::Experiment::PlannedLooks::Spending_IsValid(from.planned_looks().spending())) {
    return Unknown("planned_looks.spending", from.planned_looks().spending(), "OBRIEN_FLEMING or POCOCK");
  }
  return absl::OkStatus();
}

// ---- to the API

void Fill(const MetricRecord::Events& from, v1::Experiment::Metric::Events* to) {
  to->set_type(from.type());
  to->set_value(static_cast<v1::Experiment::Metric::Events::Value>(ToApi(from.value())));
  to->set_surface(from.surface());
}

void Fill(const MetricRecord& from, v1::Experiment::Metric* to) {
  to->set_name(from.name());
  to->set_kind(static_cast<v1::Experiment::Metric::Kind>(from.kind()));
  if (from.has_events()) Fill(from.events(), to->mutable_events());
  if (from.has_denominator()) Fill(from.denominator(), to->mutable_denominator());
  to->set_quantile(from.quantile());
  to->set_cap(from.cap());
  to->set_cap_quantile(from.cap_quantile());
  SetDuration(from.window_us(), to->mutable_window());
  to->set_lower_is_better(from.lower_is_better());
}

}  // namespace

v1::Experiment::State StateOf(ExperimentRecord::State state) {
  return static_cast<v1::Experiment::State>(ToApi(state));
}

v1::Experiment::Mode ModeOf(ExperimentRecord::Mode mode) {
  return static_cast<v1::Experiment::Mode>(ToApi(mode));
}

absl::StatusOr<ExperimentRecord> RecordOf(const v1::Experiment& from) {
  ExperimentRecord record;
  if (auto status = CheckEnumerations(from); !status.ok()) return status;
  record.set_id(from.id());
  record.set_description(from.description());
  record.set_hypothesis(from.hypothesis());
  for (const v1::Experiment::Arm& arm : from.arms()) {
    storage::ArmRecord& to = *record.add_arms();
    to.set_name(arm.name());
    to.set_release_id(arm.release());
    to.set_slot_variant(arm.slot_variant());
    to.set_weight(arm.weight());
  }
  record.set_hash_version(static_cast<ExperimentRecord::HashVersion>(FromApi(from.hash_version())));
  record.set_salt(from.salt());
  record.set_unit(static_cast<ExperimentRecord::Unit>(FromApi(from.unit())));
  record.set_layer(from.layer());
  record.set_slot_begin(from.slot_begin());
  record.set_slot_end(from.slot_end());
  record.set_targeting(from.targeting());
  if (auto status = FillAttributes(from, &record); !status.ok()) return status;
  *record.mutable_forced() = from.forced();
  if (auto status = FillMeasures(from, &record); !status.ok()) return status;
  record.set_primary_metric(from.primary_metric());
  *record.mutable_ramp() = from.ramp();
  auto run_time = Microseconds(from.min_run_time(), "min_run_time");
  if (!run_time.ok()) return run_time.status();
  record.set_min_run_us(*run_time);
  record.set_alpha(from.alpha());
  record.set_sequential_tuning(from.sequential_tuning());
  record.set_min_exposures(from.min_exposures());
  record.set_automatic_ramp(from.automatic_ramp());
  record.set_segment_by(from.segment_by());
  auto lookback = Microseconds(from.lookback(), "lookback");
  if (!lookback.ok()) return lookback.status();
  record.set_lookback_us(*lookback);
  record.set_mode(static_cast<ExperimentRecord::Mode>(FromApi(from.mode())));
  record.set_bandit_floor(from.bandit_floor());
  auto update = Microseconds(from.bandit_update(), "bandit_update");
  if (!update.ok()) return update.status();
  record.set_bandit_update_us(*update);
  if (from.has_planned_looks()) {
    ExperimentRecord::PlannedLooks& plan = *record.mutable_planned_looks();
    plan.set_looks(from.planned_looks().looks());
    plan.set_units(from.planned_looks().units());
    plan.set_spending(
        static_cast<ExperimentRecord::PlannedLooks::Spending>(FromApi(from.planned_looks().spending())));
  }
  return record;
}

void ToMessage(const ExperimentRecord& record, v1::Experiment* to) {
  to->set_id(record.id());
  to->set_description(record.description());
  to->set_hypothesis(record.hypothesis());
  for (const storage::ArmRecord& arm : record.arms()) {
    v1::Experiment::Arm* made = to->add_arms();
    made->set_name(arm.name());
    made->set_release(arm.release_id());
    made->set_slot_variant(arm.slot_variant());
    made->set_weight(arm.weight());
  }
  to->set_hash_version(static_cast<v1::Experiment::HashVersion>(ToApi(record.hash_version())));
  to->set_salt(record.salt());
  to->set_unit(static_cast<v1::Experiment::Unit>(ToApi(record.unit())));
  to->set_layer(record.layer());
  to->set_slot_begin(record.slot_begin());
  to->set_slot_end(record.slot_end());
  to->set_targeting(record.targeting());
  for (const storage::FieldRecord& field : record.targeting_fields()) {
    v1::Experiment::Attribute* attribute = to->add_targeting_attributes();
    attribute->set_name(field.name());
    attribute->set_type(storage::FieldRecord::Type_Name(field.type()));
  }
  *to->mutable_forced() = record.forced();
  for (const MetricRecord& metric : record.metrics()) Fill(metric, to->add_metrics());
  to->set_primary_metric(record.primary_metric());
  for (const GuardrailRecord& guardrail : record.guardrails()) {
    v1::Experiment::Guardrail* made = to->add_guardrails();
    made->set_measure(static_cast<v1::Experiment::Guardrail::Measure>(guardrail.measure()));
    made->set_tolerance(guardrail.tolerance());
  }
  *to->mutable_ramp() = record.ramp();
  SetDuration(record.min_run_us(), to->mutable_min_run_time());
  to->set_alpha(record.alpha());
  to->set_sequential_tuning(record.sequential_tuning());
  to->set_min_exposures(record.min_exposures());
  to->set_automatic_ramp(record.automatic_ramp());
  to->set_segment_by(record.segment_by());
  SetDuration(record.lookback_us(), to->mutable_lookback());
  to->set_mode(ModeOf(record.mode()));
  if (record.mode() == ExperimentRecord::BANDIT) {
    to->set_bandit_floor(record.bandit_floor());
    SetDuration(record.bandit_update_us(), to->mutable_bandit_update());
  }
  if (record.has_planned_looks()) {
    v1::Experiment::PlannedLooks& plan = *to->mutable_planned_looks();
    plan.set_looks(record.planned_looks().looks());
    plan.set_units(record.planned_looks().units());
    plan.set_spending(
        static_cast<v1::Experiment::PlannedLooks::Spending>(ToApi(record.planned_looks().spending())));
  }
  to->set_state(StateOf(record.state()));
  to->set_coverage(record.coverage());
  to->set_winner(record.winner());
  to->set_revision(record.revision());
  SetTimestamp(record.create_time_us(), to->mutable_create_time());
  if (record.start_time_us() != 0) SetTimestamp(record.start_time_us(), to->mutable_start_time());
  SetTimestamp(record.state_time_us(), to->mutable_state_time());
}

void ToMessage(const storage::DecisionRecord& record, v1::Decision* decision) {
  decision->set_sequence(record.sequence());
  SetTimestamp(record.time_us(), decision->mutable_time());
  decision->set_by(record.by());
  decision->set_action(record.action());
  decision->set_reason(record.reason());
  decision->set_override_reason(record.override_reason());
  decision->set_state_before(StateOf(record.state_before()));
  decision->set_state_after(StateOf(record.state_after()));
  decision->set_coverage_before(record.coverage_before());
  decision->set_coverage_after(record.coverage_after());
  *decision->mutable_seen() = record.seen();
}

}  // namespace waymark
