// A broken rule ends the program, so that a fuzzer keeps the input.
#pragma once
#include <cstdio>
#include <cstdlib>

namespace waymark::fuzz {

inline void Require(bool holds, const char* rule) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", rule);
  std::abort();
}

}  // namespace waymark::fuzz
