#include "index/term_dictionary_writer.h"

#include <algorithm>

#include "index/skip_list_writer.h"

namespace waymark {
namespace {

constexpr int32_t kDictionaryFormat = -4;
constexpr uint64_t kSizeAt = 4;  // in the file

}  // namespace

TermDictionaryWriter::Stream::Stream(const std::filesystem::path& path) : file(path) {
  file.AppendBigEndian32(static_cast<uint32_t>(kDictionaryFormat));
  file.AppendBigEndian64(0);  // the number of terms, in the end
  file.AppendBigEndian32(kTermIndexInterval);
  file.AppendBigEndian32(kSkipInterval);
  file.AppendBigEndian32(kMostSkipLevels);
}

TermDictionaryWriter::TermDictionaryWriter(const std::filesystem::path& folder, const std::string& segment)
    : terms_(folder / (segment + ".tis")), index_(folder / (segment + ".tii")) {}

void TermDictionaryWriter::Add(uint32_t field, std::string_view term, const Place& place) {
  // The index has the term before, with where the next one begins.
  if (terms_.size % kTermIndexInterval == 0) {
    AddTo(&index_, terms_.last_field, terms_.last_term, terms_.last);
    index_.file.AppendVarint(terms_.file.size() - last_indexed_at_);
    last_indexed_at_ = terms_.file.size();
  }
  AddTo(&terms_, field, term, place);
}

void TermDictionaryWriter::AddTo(Stream* stream, uint32_t field, std::string_view term, const Place& place) {
  const std::string& last = stream->last_term;
  const size_t most = std::min(last.size(), term.size());
  const auto shared = static_cast<size_t>(
      std::mismatch(term.begin(), term.begin() + most, last.begin()).first - term.begin());
  AppendFile& file = stream->file;
  file.AppendVarint(shared);
  file.AppendVarint(term.size() - shared);
  file.Append(term.substr(shared));
  file.AppendVarint(field);
  file.AppendVarint(place.documents);
  file.AppendVarint(place.frequencies_at - stream->last.frequencies_at);
  file.AppendVarint(place.positions_at - stream->last.positions_at);
  if (place.documents >= kSkipInterval) file.AppendVarint(place.skips_at);
  stream->last_field = field;
  stream->last_term = term;
  stream->last = place;
  ++stream->size;
}

absl::Status TermDictionaryWriter::Close(Stream* stream) {
  stream->file.OverwriteBigEndian64(kSizeAt, stream->size);
  return stream->file.Close();
}

absl::Status TermDictionaryWriter::Close() {
  if (absl::Status status = Close(&terms_); !status.ok()) return status;
  return Close(&index_);
}

}  // namespace waymark
