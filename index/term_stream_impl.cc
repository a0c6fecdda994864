#include "index/term_stream_impl.h"

namespace waymark::lucene_impl {
namespace {

// `utf8` comes from the analyzer: it is valid.
void Widen(std::string_view utf8, std::vector<wchar_t>* wide) {
  wide->clear();
  for (size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<uint8_t>(utf8[i]);
    const int more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    uint32_t point = more == 0 ? lead : lead & (0x3F >> more);
    for (int k = 1; k <= more && i + k < utf8.size(); ++k) {
      point = point << 6 | (static_cast<uint8_t>(utf8[i + k]) & 0x3F);
    }
    wide->push_back(static_cast<wchar_t>(point));
    i += more + 1;
  }
}

}  // namespace

TermStream::TermStream()
    : term_(addAttribute<Lucene::TermAttribute>()),
      increment_(addAttribute<Lucene::PositionIncrementAttribute>()) {}

void TermStream::Set(const TermList* terms) {
  terms_ = terms;
  reset();
}

void TermStream::reset() {
  next_ = 0;
  last_position_ = -1;
}

bool TermStream::incrementToken() {
  if (terms_ == nullptr || next_ == terms_->size()) return false;
  Widen(terms_->term(next_), &wide_);
  term_->setTermBuffer(wide_.data(), 0, static_cast<int32_t>(wide_.size()));
  const int64_t position = terms_->position(next_);
  increment_->setPositionIncrement(static_cast<int32_t>(position - last_position_));
  last_position_ = position;
  ++next_;
  return true;
}

}  // namespace waymark::lucene_impl
