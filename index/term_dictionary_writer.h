// The term dictionary of a Lucene segment: .tis, all terms by field and text, each written against the one
// before; and .tii, every kTermIndexInterval-th of them, which a reader keeps in memory. ("Index File
// Formats" of Apache Lucene 2.9, section Term Dictionary; format -4.)
//
// Not thread-safe.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "index/append_file.h"

namespace waymark {

inline constexpr uint32_t kTermIndexInterval = 128;

class TermDictionaryWriter {
 public:
  TermDictionaryWriter(const std::filesystem::path& folder, const std::string& segment);

  // Where a term's postings lie.
  struct Place {
    uint32_t documents = 0;  // that hold it
    uint64_t frequencies_at = 0, positions_at = 0;
    uint32_t skips_at = 0;  // from frequencies_at; of terms with skips
  };
  // In the order of the fields' names, then of the terms' bytes.
  void Add(uint32_t field, std::string_view term, const Place& place);
  const absl::Status& status() const {
    return terms_.file.status().ok() ? index_.file.status() : terms_.file.status();
  }
  absl::Status Close();

 private:
  struct Stream {
    AppendFile file;
    uint64_t size = 0;  // terms
    uint32_t last_field = ~0u;
    std::string last_term;
    Place last;
    explicit Stream(const std::filesystem::path& path);
  };
  static void AddTo(Stream* stream, uint32_t field, std::string_view term, const Place& place);
  static absl::Status Close(Stream* stream);

  Stream terms_, index_;
  uint64_t last_indexed_at_ = 0;
};

}  // namespace waymark
