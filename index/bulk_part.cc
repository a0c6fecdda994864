#include "index/bulk_part.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "index/lucene_names_impl.h"
#include "index/lucene_segment_writer.h"
#include "index/run_merge.h"

namespace waymark {
namespace {

// With its slot of the table and the unused end of its slice.
constexpr size_t kMostBytesOfPlace = 64;

}  // namespace

BulkPart::BulkPart(std::filesystem::path folder, int first_segment, const BulkPartLimits& limits)
    : folder_(std::move(folder)), first_segment_(first_segment), limits_(limits) {}

absl::Status BulkPart::Put(ItemOrdinal item, absl::Span<const FieldTerms> fields) {
  size_t bytes = 0;
  for (const FieldTerms& field : fields) {
    bytes += field.terms.bytes() + kMostBytesOfPlace * field.terms.size();
  }
  if (bytes > TermPostingsTable::kMostOfDocument) {
    return absl::InvalidArgumentError(
        absl::StrCat("item number ", item, ": its words take ", bytes, " bytes, more than the ",
                     TermPostingsTable::kMostOfDocument, " that fit the index"));
  }
  const auto doc = static_cast<DocNumber>(ordinals_.size());
  ordinals_.push_back(item);
  for (size_t i = 0; i < fields.size(); ++i) {
    table_.Add(FieldNumber(fields[i].field, i), doc, fields[i].terms);
  }
  return BytesOfRun() < limits_.table_bytes ? absl::OkStatus() : WriteRun();
}

void BulkPart::Delete(ItemOrdinal item) {
  deletions_.push_back({item, static_cast<DocNumber>(ordinals_.size())});
}

// Documents have mostly the same fields in the same order.
uint32_t BulkPart::FieldNumber(const std::string& name, size_t likely) {
  if (likely < fields_.size() && fields_[likely] == name) return static_cast<uint32_t>(likely);
  const auto [entry, fresh] = field_numbers_.emplace(name, static_cast<uint32_t>(fields_.size()));
  if (fresh) fields_.push_back(name);
  return entry->second;
}

absl::Status BulkPart::WriteRun() {
  const auto end = static_cast<DocNumber>(ordinals_.size());
  auto run = PostingRun::Write(table_, folder_ / absl::StrCat("run-", runs_.size()), first_of_run_, end);
  if (!run.ok()) return run.status();
  runs_.push_back(*std::move(run));
  table_.Clear();
  first_of_run_ = end;
  return absl::OkStatus();
}

// Of an item only the last document lives, if the item was not deleted later.
std::vector<bool> BulkPart::FindDead() const {
  std::vector<bool> dead(ordinals_.size());
  const bool ascend =
      std::adjacent_find(ordinals_.begin(), ordinals_.end(), std::greater_equal<>()) == ordinals_.end();
  if (ascend && deletions_.empty()) return dead;
  absl::flat_hash_map<ItemOrdinal, DocNumber> deleted_before;
  for (const Deletion& deletion : deletions_) deleted_before[deletion.item] = deletion.end;
  std::vector<DocNumber> documents(ordinals_.size());
  std::iota(documents.begin(), documents.end(), DocNumber{0});
  std::stable_sort(documents.begin(), documents.end(),
                   [&](DocNumber a, DocNumber b) { return ordinals_[a] < ordinals_[b]; });
  for (size_t i = 0; i < documents.size(); ++i) {
    const DocNumber doc = documents[i];
    const bool replaced = i + 1 < documents.size() && ordinals_[documents[i + 1]] == ordinals_[doc];
    const auto deleted = deleted_before.find(ordinals_[doc]);
    dead[doc] = replaced || (deleted != deleted_before.end() && doc < deleted->second);
  }
  return dead;
}

absl::StatusOr<std::vector<BulkSegment>> BulkPart::Finish() {
  if (first_of_run_ < ordinals_.size()) {
    if (absl::Status status = WriteRun(); !status.ok()) return status;
  }
  table_ = TermPostingsTable();  // its memory
  const std::vector<bool> dead = FindDead();
  std::vector<BulkSegment> segments;
  for (size_t begin = 0, end; begin < runs_.size(); begin = end) {
    uint64_t bytes = 0;
    for (end = begin; end < runs_.size(); ++end) {
      bytes += runs_[end]->bytes() + kBytesOfBulkDocument * (runs_[end]->end_doc() - runs_[end]->first_doc());
      if (end > begin && bytes > limits_.segment_bytes) break;
    }
    if (segments.size() == kSegmentNamesOfPart) {
      return absl::ResourceExhaustedError(
          absl::StrCat(folder_.string(), ": more than ", kSegmentNamesOfPart, " segments in a bulk load"));
    }
    const int number = first_segment_ + static_cast<int>(segments.size());
    auto segment = WriteSegment(number, absl::MakeConstSpan(runs_).subspan(begin, end - begin), dead);
    if (!segment.ok()) return segment.status();
    for (size_t i = begin; i < end; ++i) runs_[i].reset();
    if (segment->documents > 0) segments.push_back(*std::move(segment));
  }
  return segments;
}

absl::StatusOr<BulkSegment> BulkPart::WriteSegment(int number, Runs runs,
                                                   const std::vector<bool>& dead) const {
  SegmentRuns merge{runs, {}, runs.front()->first_doc(), {}};
  std::vector<ItemOrdinal> ordinals;
  bool all = true;
  for (DocNumber doc = merge.first_doc; doc < runs.back()->end_doc(); ++doc) {
    merge.new_numbers.push_back(dead[doc] ? kNoDoc : static_cast<DocNumber>(ordinals.size()));
    if (!dead[doc]) ordinals.push_back(ordinals_[doc]);
    all = all && !dead[doc];
  }
  if (all) merge.new_numbers.clear();
  BulkSegment segment{number, lucene_impl::SegmentName(number), folder_};
  segment.documents = static_cast<DocNumber>(ordinals.size());
  if (ordinals.empty()) return segment;

  // Lucene's numbers go by the order in which documents had the fields, the rest by the fields' names.
  std::vector<std::string> lucene_names;
  std::vector<std::pair<std::string, uint32_t>> by_name;  // with the number of lucene_names
  for (uint32_t field = 0; field < fields_.size(); ++field) {
    const bool used =
        std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return run->HasField(field); });
    if (!used) continue;
    by_name.emplace_back(fields_[field], static_cast<uint32_t>(lucene_names.size()));
    lucene_names.push_back(fields_[field]);
  }
  std::sort(by_name.begin(), by_name.end());
  std::vector<std::string> names;
  std::vector<uint32_t> lucene_fields;
  for (const auto& [field, number] : by_name) {
    names.push_back(field);
    lucene_fields.push_back(number);
    merge.fields.push_back(field_numbers_.at(field));
  }

  segment.has_positions = !names.empty();
  for (const auto& run : runs) {
    if (absl::Status status = run->Open(); !status.ok()) return status;
  }
  LuceneSegmentWriter writer(folder_, segment.name, std::move(lucene_names));
  if (absl::Status status = WriteLuceneTerms(merge, lucene_fields, &writer); !status.ok()) return status;
  auto files = writer.Finish(ordinals);
  if (!files.ok()) return files.status();
  segment.files = *std::move(files);
  auto compiled = CompileRuns(merge, segment.name, std::move(names), std::move(ordinals));
  if (!compiled.ok()) return compiled.status();
  segment.compiled = *std::move(compiled);
  return segment;
}

}  // namespace waymark
