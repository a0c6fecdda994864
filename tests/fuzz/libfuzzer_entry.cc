// The entry of libFuzzer; WAYMARK_FUZZ_TARGET is one of targets.h.
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  waymark::fuzz::WAYMARK_FUZZ_TARGET(data, size);
  return 0;
}
