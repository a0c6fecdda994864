// Where a unit falls in [0, 1): the same in every process, for ever, and in the operator's other systems.
//
//   HashUnit(HashVersion::kGrowthBookV2, "seed", "a")   // .0505
//   PlanOutChoice("test_salt.foo", "4", 2)              // 1
//
// Pure functions; thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace waymark {

enum class HashVersion {
  kGrowthBookV2,
  // Sends 47% instead of 50% of units to the same arm of two experiments (it hashes once, and the seed comes
  // last): for agreement with an existing system only, and refused in layers.
  kGrowthBookV1,
  kPlanOut,
};

// FNV-1a, 32 bits (draft-eastlake-fnv).
uint32_t Fnv1a32(std::string_view text);
// GrowthBook v2: fnv(decimal(fnv(seed + unit))) mod 10,000 / 10,000; v1: fnv(unit + seed) mod 1,000 / 1,000.
// PlanOut: the number of PlanOutHash over 2^60 - 1.
double HashUnit(HashVersion version, std::string_view seed, std::string_view unit);

// The first 60 bits of SHA-1(salt + "." + unit), salt being «experiment.parameter» (Bakshy, Eckles,
// Bernstein: Designing and Deploying Online Field Experiments, WWW 2014).
uint64_t PlanOutHash(std::string_view salt, std::string_view unit);
// Its UniformChoice: one of `choices`.
size_t PlanOutChoice(std::string_view salt, std::string_view unit, size_t choices);

}  // namespace waymark
