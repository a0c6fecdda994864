#include "index/items_leaf.h"

namespace waymark {

size_t ItemsLeaf::Collect(Window* window, WindowBits* bits) {
  for (DocNumber doc = window->begin; doc < window->end; ++doc) {
    if (!items_.Contains(segment_.postings->ordinal(doc))) continue;
    const DocNumber at = doc - window->begin;
    (*bits)[at / 64] |= uint64_t{1} << (at % 64);
  }
  return window->end - window->begin;
}

}  // namespace waymark
