#include "candidates/candidate.h"

namespace waymark {
namespace {

constexpr std::array<std::string_view, kSourceCount> kSourceNames = {
    "keyword", "retriever", "covisitation", "transition", "popularity", "similar", "fresh", "ease",
};
static_assert(!kSourceNames.back().empty(), "every source has a name");

}  // namespace

std::string_view SourceName(SourceId id) { return kSourceNames[static_cast<size_t>(id)]; }

}  // namespace waymark
