// `--processes N`: starts N ranks of this program on this machine, and ends with them.
#pragma once
#include <functional>

namespace waymark {

// Each rank is a fork of this process, which must not have threads yet; `run` is what it does, told where it
// stands by the environment of a launcher (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT). Signals
// go on to the ranks. When one fails, the others have `grace_s` to end by themselves, and are asked to by
// SIGTERM before. Answers the first exit code that is not 0.
int RunLocalRanks(int ranks, double grace_s, const std::function<int()>& run);

}  // namespace waymark
