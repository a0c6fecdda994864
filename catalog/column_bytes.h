// The bytes of a checkpointed column: little-endian numbers, counted arrays. Readers bound every count by the
// bytes that are left before they allocate, and answer false from then on.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace waymark {

class ByteWriter {
 public:
  explicit ByteWriter(std::string* out) : out_(out) {}
  template <typename T>
  void Put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out_->append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void PutText(std::string_view text) {
    Put<uint32_t>(static_cast<uint32_t>(text.size()));
    out_->append(text);
  }
  template <typename Range>
  void PutArray(const Range& values) {
    Put<uint64_t>(values.size());
    out_->append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(*values.data()));
  }

 private:
  std::string* out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  bool Get(T* value) {
    if (bytes_.size() < sizeof(T)) return Fail();
    std::memcpy(value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return true;
  }
  bool GetText(std::string* text) {
    uint32_t size = 0;
    if (!Get(&size) || bytes_.size() < size) return Fail();
    text->assign(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return true;
  }
  template <typename T>
  bool GetArray(std::vector<T>* values) {
    uint64_t count = 0;
    if (!Get(&count) || count > bytes_.size() / sizeof(T)) return Fail();
    values->resize(count);
    if (count > 0) std::memcpy(values->data(), bytes_.data(), count * sizeof(T));
    bytes_.remove_prefix(count * sizeof(T));
    return true;
  }
  bool AtEnd() const { return bytes_.empty(); }
  size_t left() const { return bytes_.size(); }

 private:
  bool Fail() {
    bytes_ = {};
    return false;
  }
  std::string_view bytes_;
};

}  // namespace waymark
