// What a collection's curation takes. Errors name the limit.
#pragma once
#include <cstddef>

namespace waymark {

inline constexpr size_t kMostSynonyms = 100'000, kMostRules = 10'000;  // of a collection
inline constexpr size_t kMostCurationBytes = size_t{64} << 20;         // of all synonyms, and of all rules
// Rules with the same words; and rules for any query, which have none. Each is looked at when a query has the
// words.
inline constexpr size_t kMostRulesOfOneQuery = 200;

inline constexpr size_t kMostPhrases = 50, kMostPhraseBytes = 256, kMostPhraseWords = 8;  // of a synonym
inline constexpr size_t kMostLanguageBytes = 35;

inline constexpr size_t kMostConditionWords = 10, kMostDescriptionBytes = 1024, kMostUriBytes = 2048;
inline constexpr size_t kMostPins = 50, kMostHiddenItems = 1000, kMostBoosts = 20, kMostBoostedItems = 1000;
inline constexpr int kLastPinPosition = 500;
inline constexpr double kGreatestFactor = 1000;

inline constexpr size_t kMostSlotVariants = 10'000, kMostSlots = 1'000;  // of a collection
inline constexpr size_t kMostVariantsOfSlot = 100, kMostPayloadBytes = size_t{64} << 10;
inline constexpr int kMostActivations = 1'000;  // of a slot; older ones are forgotten

}  // namespace waymark
