#include "candidates/candidate.h"

namespace waymark {
namespace {

constexpr std::array<std::string_view, kSourceCount> kNames = {
    "keyword", "retriever", "covisitation", "transition", "popularity", "similar", "fresh", "ease",
};
static_assert(!kNames.back().empty(), "every source has a name");

}  // namespace

std::string_view SourceName(SourceId id) { return kNames[static_cast<size_t>(id)]; }

}  // namespace waymark
