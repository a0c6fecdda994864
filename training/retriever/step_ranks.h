// What a step of training asks of the other ranks of a distributed run. Without one the step is that of a
// single process.
//
// Every rank works on parts of the same batch, and the parts are divided by the tokens of the whole, so that
// the sum over ranks is the batch's gradient, however unevenly the tokens lie.
#pragma once
#include <cstdint>

#include "training/retriever/step_table.h"

namespace waymark {

class StepRanks {
 public:
  virtual ~StepRanks() = default;
  // The gradient's floats [first, first + count) are final here: adding them up over ranks may begin. Called
  // in the same order on every rank, perhaps from another thread.
  virtual void BeginSum(float* gradient, int64_t first, int64_t count) = 0;
  // What this rank knows of the step: its part of the loss, and how many rows of each table are its own.
  // Called when all of them are known, before Collect. Returns the loss of the whole batch.
  virtual double AgreeOn(double loss, int64_t own_ids, int64_t own_buckets) = 0;
  // Waits until every sum that was begun is there.
  virtual void FinishSums() = 0;
  virtual StepTable* ids() = 0;
  virtual StepTable* buckets() = 0;
};

}  // namespace waymark
