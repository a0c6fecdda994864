// What fuzzers feed with any bytes: each function aborts where a rule of its part is broken, and answers
// whether the bytes were of use, or refused. libFuzzer drives them in scripts/fuzz; fuzz_test.cc replays the
// seeds, and mutations of them, in every test run.
#pragma once
#include <cstddef>
#include <cstdint>

namespace waymark::fuzz {

// The query language, then searches for what was parsed: the quick algorithms against counting every match.
// True: something was found.
bool Query(const uint8_t* data, size_t size);
// The filter grammar, then evaluation: by bitmaps against item by item.
bool Filter(const uint8_t* data, size_t size);
// The file of a compiled segment, its hash made to fit: refused, or read within its bounds.
bool CompiledFile(const uint8_t* data, size_t size);

}  // namespace waymark::fuzz
