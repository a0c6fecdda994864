// Where the time of training steps goes, in seconds by the wall clock, and what of it was work.
#pragma once

namespace waymark {

struct StepTimes {
  double wait = 0;  // for the reader
  double data = 0;  // items and sequences of the batch
  double forward = 0;
  double backward = 0;
  double communication = 0;  // that the step waited for; what ran beside the backward pass is not in it
  double optimizer = 0;
  // CPU seconds, all threads added up, which do not grow when ranks share cores: of the passes over the parts
  // of a batch, which ranks divide among them, and of what each rank does for itself. Communication is in
  // neither.
  double divided_cpu = 0, own_cpu = 0;

  void Add(const StepTimes& other) {
    wait += other.wait;
    data += other.data;
    forward += other.forward;
    backward += other.backward;
    communication += other.communication;
    optimizer += other.optimizer;
    divided_cpu += other.divided_cpu;
    own_cpu += other.own_cpu;
  }
  double All() const { return wait + data + forward + backward + communication + optimizer; }
};

}  // namespace waymark
