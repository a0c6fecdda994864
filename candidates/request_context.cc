#include "candidates/request_context.h"

#include <algorithm>

namespace waymark {

bool RequestContext::MayShow(ItemOrdinal item) const {
  return (allowed == nullptr || allowed->Contains(item)) &&
         !std::binary_search(excluded.begin(), excluded.end(), item);
}

}  // namespace waymark
