#include "training/distributed/mesh/mesh_peers.h"

#include <utility>

#include "training/lap.h"

namespace waymark {

double MeshPeers::SumOfAll(double own) {
  at::Tensor sum = at::full({1}, own, at::kDouble);
  Sum(sum);
  return sum.item<double>();
}

void MeshPeers::Sum(const at::Tensor& tensor) {
  Lap lap;
  copy_->Sum(tensor);
  waited_s_ += lap();
}

void MeshPeers::Send(const at::Tensor& tensor, int to) {
  if (tensor.numel() == 0) return;
  at::Tensor copy = tensor.clone();
  auto pending = copy_->BeginSend(copy, to);
  sent_.push_back({std::move(copy), std::move(pending)});
}

void MeshPeers::Receive(at::Tensor* into, int from) {
  if (into->numel() == 0) return;
  Lap lap;
  copy_->Receive(*into, from);
  waited_s_ += lap();
}

void MeshPeers::FinishSends() {
  for (const Sent& sent : sent_) sent.pending->Wait();
  sent_.clear();
}

double MeshPeers::TakeWaited() { return std::exchange(waited_s_, 0); }

}  // namespace waymark
