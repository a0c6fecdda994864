#include "index/skip_list_writer.h"

namespace waymark {
namespace {

void AppendSkip(std::vector<uint8_t>* bytes, uint64_t value) {
  const size_t size = bytes->size();
  bytes->resize(size + kLongestVarint);
  bytes->resize(static_cast<size_t>(WriteVarint(value, bytes->data() + size) - bytes->data()));
}

}  // namespace

void SkipListWriter::Start(uint64_t frequencies_at, uint64_t positions_at) {
  start_ = {0, frequencies_at, positions_at};
  used_ = 0;
}

void SkipListWriter::Add(uint32_t documents, DocNumber last_doc, uint64_t frequencies_at,
                         uint64_t positions_at) {
  uint64_t child_end = 0;  // of the entry on the level below
  for (uint32_t level = 0; documents % kSkipInterval == 0 && level < kMostSkipLevels; ++level) {
    Level& entries = levels_[level];
    if (level == used_) {
      entries.bytes.clear();
      entries.last = start_;
      ++used_;
    }
    AppendSkip(&entries.bytes, last_doc - entries.last.doc);
    AppendSkip(&entries.bytes, frequencies_at - entries.last.frequencies_at);
    AppendSkip(&entries.bytes, positions_at - entries.last.positions_at);
    entries.last = {last_doc, frequencies_at, positions_at};
    const uint64_t end = entries.bytes.size();
    if (level > 0) AppendSkip(&entries.bytes, child_end);
    child_end = end;
    documents /= kSkipInterval;
  }
}

void SkipListWriter::AppendTo(AppendFile* file) const {
  for (uint32_t level = used_; level-- > 0;) {
    if (level > 0) file->AppendVarint(levels_[level].bytes.size());
    file->Append(levels_[level].bytes);
  }
}

}  // namespace waymark
