// Hands terms that are already analysed to Lucene++: one stream used for every field of every document, so
// that indexing allocates nothing a token (1.7 times as fast as its own analyzers). Private to index/.
#pragma once
#include <lucene++/LuceneHeaders.h>
#include <lucene++/PositionIncrementAttribute.h>
#include <lucene++/TermAttribute.h>

#include <vector>

#include "index/analyzer.h"

namespace waymark::lucene_impl {

class TermStream : public Lucene::TokenStream {
 public:
  TermStream();
  // `terms` outlives the document's indexing.
  void Set(const TermList* terms);
  bool incrementToken() override;
  void reset() override;

 private:
  const TermList* terms_ = nullptr;
  size_t next_ = 0;
  int64_t last_position_ = -1;
  std::vector<wchar_t> wide_;
  Lucene::TermAttributePtr term_;
  Lucene::PositionIncrementAttributePtr increment_;
};

}  // namespace waymark::lucene_impl
