// What a step of training asks of the other ranks of a distributed run. Without one the step is that of a
// single process.
//
// Every rank works on parts of the same batch, and the parts are divided by the tokens of the whole, so that
// the sum over ranks is the batch's gradient, however unevenly the tokens lie.
#pragma once
#include <cstdint>

#include "recommend/network/encoder.h"
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
  // Adam on the encoder's weights, of whose moments this rank may have a share only.
  virtual void UpdateDense(const AdamStep& step, const at::Tensor& gradient) = 0;
};

// The processes that hold one model together, each a slice of its encoder
// (recommend/network/encoder_slice.h). All of them see the same parts of the batch.
class ModelPeers {
 public:
  virtual ~ModelPeers() = default;
  // The other parts of the blocks; null: each block is on one process.
  virtual EncoderPeers* parts() = 0;
  virtual int stage() const = 0;
  virtual int stages() const = 0;
  // Over all of them.
  virtual double SumOfAll(double own) = 0;
  // Between neighbouring stages: what a stage passes on (T tokens of part s), and gradients back. Sending
  // does not wait for the other; the tensor is copied.
  virtual void SendForward(const at::Tensor& states) = 0;
  virtual void ReceiveForward(at::Tensor* states) = 0;
  virtual void SendBack(const at::Tensor& gradient) = 0;
  virtual void ReceiveBack(at::Tensor* gradient) = 0;
  // Vectors of the step's items from the first stage to the last, and their gradients back.
  virtual void SendItems(const at::Tensor& vectors) = 0;
  virtual void ReceiveItems(at::Tensor* vectors) = 0;
  // Waits until all that was sent has gone.
  virtual void FinishSends() = 0;
  // Seconds that this process waited for the others, since it was last asked.
  virtual double TakeWaited() = 0;
};

}  // namespace waymark
