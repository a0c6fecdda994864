#include "curation/live_curation.h"

#include <spdlog/spdlog.h>

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "curation/curation_check.h"
#include "curation/curation_limits.h"
#include "store/slot_name.h"

namespace waymark {
namespace {

using storage::CurationRecord;

AnalysisSettings SettingsOf(const Schema& schema) {
  auto settings = AnalysisOf(schema.record());
  return settings.ok() ? *settings : AnalysisSettings{};  // a schema that no index takes either
}

std::shared_ptr<const SynonymGroup> CompileSynonym(const CurationRecord& record, const Analyzer& analyzer) {
  const storage::SynonymRecord& synonym = record.synonym();
  const std::vector<std::string> words(synonym.words().begin(), synonym.words().end()),
      from(synonym.from().begin(), synonym.from().end()), to(synonym.to().begin(), synonym.to().end());
  return MakeSynonymGroup(record.id(), synonym.language(), {words, from, to}, analyzer);
}

int64_t BytesOf(const CurationRecord& record) { return static_cast<int64_t>(record.ByteSizeLong()); }

// What a snapshot loses and gains.
struct Changes {
  std::vector<std::shared_ptr<const SynonymGroup>> synonyms_removed, synonyms_added;
  RuleSet::Rules rules_removed, rules_added;

  std::set<std::string> slots;  // that have changed

  void Take(const CurationRecord& record, const Analyzer& analyzer, bool added) {
    if (record.has_slot()) slots.insert(record.id());
    if (record.has_slot_variant()) {
      const auto id = ParseSlotVariantKey(record.id());
      if (id) slots.insert(id->slot);
    }
    if (record.has_slot() || record.has_slot_variant()) return;
    if (record.has_synonym()) {
      (added ? synonyms_added : synonyms_removed).push_back(CompileSynonym(record, analyzer));
      return;
    }
    auto rule = CompileRule(record, analyzer);
    if (rule.ok()) {
      (added ? rules_added : rules_removed).push_back(*std::move(rule));
    } else {
      spdlog::error("rule_left_out id=\"{}\" reason=\"{}\"", record.id(),
                    std::string(rule.status().message()));
    }
  }
};

std::shared_ptr<const CurationSnapshot> Apply(const CurationSnapshot& before, const Changes& changes) {
  auto next = std::make_shared<CurationSnapshot>(before);
  if (!changes.synonyms_removed.empty() || !changes.synonyms_added.empty()) {
    next->synonyms = before.synonyms.With(changes.synonyms_removed, changes.synonyms_added);
  }
  if (!changes.rules_removed.empty() || !changes.rules_added.empty()) {
    next->rules = before.rules.With(changes.rules_removed, changes.rules_added);
  }
  return next;
}

CurationSnapshot::Size& SizeOf(CurationKind kind, CurationSnapshot* snapshot) {
  switch (kind) {
    case CurationKind::kSynonym:
      return snapshot->synonym_size;
    case CurationKind::kRule:
      return snapshot->rule_size;
    case CurationKind::kSlotVariant:
      return snapshot->variant_size;
    case CurationKind::kSlot:
      break;
  }
  return snapshot->slot_size;
}

struct KindLimit {
  const char* name;
  size_t most;
};
KindLimit LimitOf(CurationKind kind) {
  constexpr KindLimit kLimits[] = {{"synonyms", kMostSynonyms},
                                   {"rules", kMostRules},
                                   {"slot variants", kMostSlotVariants},
                                   {"slots", kMostSlots}};
  return kLimits[static_cast<int>(kind)];
}

}  // namespace

absl::StatusOr<std::unique_ptr<LiveCuration>> LiveCuration::Open(Store* store, Scope scope,
                                                                 const Catalog* catalog) {
  std::unique_ptr<LiveCuration> curation(new LiveCuration(store, scope, catalog));
  curation->compiled_for_ = catalog->schema();
  auto read = curation->ReadAll(SettingsOf(*curation->compiled_for_));
  if (!read.ok()) return read.status();
  curation->snapshot_ = *std::move(read);
  return curation;
}

absl::StatusOr<std::shared_ptr<const CurationSnapshot>> LiveCuration::ReadAll(
    const AnalysisSettings& settings) const {
  CurationSnapshot empty;
  empty.analyzer = Analyzer(settings);
  Changes changes;
  for (const CurationKind kind :
       {CurationKind::kSynonym, CurationKind::kRule, CurationKind::kSlotVariant, CurationKind::kSlot}) {
    CurationSnapshot::Size& size = SizeOf(kind, &empty);
    auto status = store_->ForEachCuration(scope_, kind, "", [&](const CurationRecord& record) {
      changes.Take(record, empty.analyzer, /*added=*/true);
      ++size.entries;
      size.bytes += BytesOf(record);
      return true;
    });
    if (!status.ok()) return status;
  }
  std::vector<std::shared_ptr<const CompiledSlot>> slots;
  for (const std::string& slot : changes.slots) {
    auto read = ReadSlot(slot);
    if (!read.ok()) return read.status();
    slots.push_back(*std::move(read));
  }
  if (!slots.empty()) empty.slots = empty.slots.With(slots);
  return Apply(empty, changes);
}

void LiveCuration::Publish(std::shared_ptr<const CurationSnapshot> next) {
  std::lock_guard<std::mutex> lock(snapshot_mutex_);
  snapshot_ = std::move(next);
}

std::shared_ptr<const CurationSnapshot> LiveCuration::SnapshotFor(
    const std::shared_ptr<const Schema>& schema) {
  std::lock_guard<std::mutex> lock(snapshot_mutex_);
  if (compiled_for_ != schema) {
    if (!(SettingsOf(*schema) == snapshot_->analyzer.settings())) return nullptr;
    compiled_for_ = schema;
  }
  return snapshot_;
}

std::shared_ptr<const CurationSnapshot> LiveCuration::snapshot() {
  const std::shared_ptr<const Schema> schema = catalog_->schema();
  if (auto fits = SnapshotFor(schema)) return fits;
  std::lock_guard<std::mutex> writing(writing_);
  if (auto fits = SnapshotFor(schema)) return fits;  // another request was first
  auto read = ReadAll(SettingsOf(*schema));
  std::lock_guard<std::mutex> lock(snapshot_mutex_);
  if (read.ok()) {
    snapshot_ = *std::move(read);
    compiled_for_ = schema;
  } else {
    spdlog::error("curation_not_compiled reason=\"{}\" effect=\"the analysis of before serves\"",
                  std::string(read.status().message()));
  }
  return snapshot_;
}

absl::Status LiveCuration::CheckWrite(const CurationWrite& write, const CurationSnapshot& now,
                                      SameWords* batch) const {
  if (!write.record) return absl::OkStatus();
  if (write.kind == CurationKind::kSynonym) return CheckSynonym(write.record->synonym(), now.analyzer);
  if (write.kind == CurationKind::kSlotVariant) return CheckVariant(write, now);
  if (write.kind == CurationKind::kSlot) return absl::OkStatus();  // made by ChangeSlot
  const storage::RuleRecord& rule = write.record->rule();
  if (auto status = CheckRule(rule, now.analyzer, *catalog_); !status.ok()) return status;
  auto compiled = CompileRule(*write.record, now.analyzer);
  if (!compiled.ok()) return compiled.status();
  size_t& in_batch = (*batch)[(*compiled)->terms];
  if (now.rules.CountOfSameWords(**compiled) + in_batch < kMostRulesOfOneQuery) {
    ++in_batch;
    return absl::OkStatus();
  }
  // One of them may be this rule, which then takes no more room.
  auto before = store_->GetCuration(scope_, write.kind, write.id);
  if (before.ok()) {
    auto was = CompileRule(*before, now.analyzer);
    if (was.ok() && (*was)->terms == (*compiled)->terms) return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("rule.condition.query: ", kMostRulesOfOneQuery,
                   " rules have these words, or are for any query, already; that is the most that one query "
                   "may call on"));
}

absl::Status LiveCuration::CheckRoom(const CurationWrite& write, CurationSnapshot::Size* size) const {
  auto before = store_->GetCuration(scope_, write.kind, write.id);
  CurationSnapshot::Size next = *size;
  if (before.ok()) {
    --next.entries;
    next.bytes -= BytesOf(*before);
  }
  if (write.record) {
    ++next.entries;
    next.bytes += BytesOf(*write.record);
    const KindLimit limit = LimitOf(write.kind);
    if (next.entries > static_cast<int64_t>(limit.most) ||
        (next.bytes > size->bytes && next.bytes > static_cast<int64_t>(kMostCurationBytes))) {
      return absl::ResourceExhaustedError(absl::StrCat(limit.name, ": the collection holds ", size->entries,
                                                       " of ", size->bytes, " bytes; it takes at most ",
                                                       limit.most, " and ", kMostCurationBytes,
                                                       " bytes. Delete some first."));
    }
  }
  *size = next;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<CurationWritten>> LiveCuration::Write(std::vector<CurationWrite> writes) {
  (void)snapshot();  // of the analysis that there is now
  std::lock_guard<std::mutex> writing(writing_);
  std::shared_ptr<const CurationSnapshot> now;
  {
    std::lock_guard<std::mutex> lock(snapshot_mutex_);
    now = snapshot_;
  }
  std::vector<CurationWritten> answers(writes.size());
  std::vector<CurationWrite> good;
  std::vector<size_t> places;
  SameWords same_words;
  CurationSnapshot sizes =
      *now;  // with what is about to be written; an id that is written twice counts twice
  for (size_t i = 0; i < writes.size(); ++i) {
    answers[i].status = CheckWrite(writes[i], *now, &same_words);
    if (answers[i].status.ok()) answers[i].status = CheckRoom(writes[i], &SizeOf(writes[i].kind, &sizes));
    if (!answers[i].status.ok()) continue;
    good.push_back(std::move(writes[i]));
    places.push_back(i);
  }
  if (good.empty()) return answers;
  std::vector<CurationKind> kinds;
  for (const CurationWrite& write : good) kinds.push_back(write.kind);
  auto written = store_->WriteCuration(scope_, std::move(good));
  if (!written.ok()) return written.status();
  // Of an id that is written twice: as it was before the first, as it is after the last.
  std::map<std::pair<CurationKind, std::string>,
           std::pair<std::optional<CurationRecord>, std::optional<CurationRecord>>>
      changed;
  for (size_t k = 0; k < places.size(); ++k) {
    CurationWritten& one = (*written)[k];
    if (one.status.ok()) {
      const std::string& id = one.after ? one.after->id() : one.before->id();
      const auto [place, first] = changed.try_emplace({kinds[k], id});
      if (first) place->second.first = one.before;
      place->second.second = one.after;
    }
    answers[places[k]] = std::move(one);
  }
  Changes changes;
  CurationSnapshot base = *now;
  for (const auto& [key, records] : changed) {
    CurationSnapshot::Size& size = SizeOf(key.first, &base);
    for (const bool added : {false, true}) {
      const auto& record = added ? records.second : records.first;
      if (!record) continue;
      changes.Take(*record, now->analyzer, added);
      size.entries += added ? 1 : -1;
      size.bytes += (added ? 1 : -1) * BytesOf(*record);
    }
  }
  std::vector<std::shared_ptr<const CompiledSlot>> slots;
  for (const std::string& slot : changes.slots) {
    auto read = ReadSlot(slot);
    if (!read.ok()) return read.status();
    slots.push_back(*std::move(read));
  }
  if (!slots.empty()) base.slots = base.slots.With(slots);
  Publish(Apply(base, changes));
  return answers;
}

}  // namespace waymark
