// ModelPeers over the ranks of a copy of the model. Includes LibTorch: for training/ only.
#pragma once
#include <memory>
#include <vector>

#include "training/distributed/mesh/rank_mesh.h"
#include "training/retriever/step_ranks.h"

namespace waymark {

class MeshPeers : public ModelPeers, public EncoderPeers {
 public:
  // Of a mesh whose copies are more than one rank.
  explicit MeshPeers(const RankMesh& mesh) : copy_(mesh.copy()), shape_(mesh.shape()), slice_(mesh.slice()) {}

  EncoderPeers* parts() override { return shape_.tensor > 1 ? this : nullptr; }
  int stage() const override { return shape_.pipeline > 1 ? slice_ : 0; }
  int stages() const override { return shape_.pipeline; }
  double SumOfAll(double own) override;
  void SendForward(const at::Tensor& states) override { Send(states, slice_ + 1); }
  void ReceiveForward(at::Tensor* states) override { Receive(states, slice_ - 1); }
  void SendBack(const at::Tensor& gradient) override { Send(gradient, slice_ - 1); }
  void ReceiveBack(at::Tensor* gradient) override { Receive(gradient, slice_ + 1); }
  void SendItems(const at::Tensor& vectors) override { Send(vectors, OtherEnd()); }
  void ReceiveItems(at::Tensor* vectors) override { Receive(vectors, OtherEnd()); }
  void FinishSends() override;
  double TakeWaited() override;
  // Over the parts of a block.
  void Sum(const at::Tensor& tensor) override;

 private:
  struct Sent {
    at::Tensor copy;
    std::unique_ptr<PendingExchange> pending;
  };
  int OtherEnd() const { return slice_ == 0 ? copy_->size() - 1 : 0; }
  void Send(const at::Tensor& tensor, int to);
  void Receive(at::Tensor* into, int from);

  RankGroup* copy_;
  MeshShape shape_;
  int slice_;
  std::vector<Sent> sent_;
  double waited_s_ = 0;
};

}  // namespace waymark
