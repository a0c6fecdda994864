// The backend 'mpi': c10d's collectives over OpenMPI, as a module of its own (backend_module.h). LibTorch's
// wheel has the header of such a backend, not the code.
//
// MPI is spoken by one thread for all groups. It begins work in the order in which it came, which is the same
// on all ranks of a group, and looks after deadlines itself, since MPI has none.
#include <mpi.h>
#include <torch/torch.h>

#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "training/distributed/backend_module.h"

namespace waymark {
namespace {

MPI_Datatype TypeOf(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return MPI_FLOAT;
    case at::kDouble:
      return MPI_DOUBLE;
    case at::kLong:
      return MPI_INT64_T;
    case at::kByte:
      return MPI_UINT8_T;
    default:
      throw std::runtime_error("the backend 'mpi' exchanges float, double, int64 and uint8");
  }
}

void Check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, length));
}

class MpiWork : public c10d::Work {
 public:
  explicit MpiWork(c10d::OpType type) : Work(-1, type) {}
  void Finish(std::exception_ptr failure) { finish(std::move(failure)); }
};

// The thread that speaks MPI. It lives as long as the process, as MPI does.
class MpiThread {
 public:
  static MpiThread& Get() {
    static auto* thread = new MpiThread;
    return *thread;
  }
  c10::intrusive_ptr<c10d::Work> Queue(c10d::OpType type, std::chrono::milliseconds timeout,
                                       std::function<void(MPI_Request*)> start) {
    auto work = c10::make_intrusive<MpiWork>(type);
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back({work, std::move(start), timeout, {}, MPI_REQUEST_NULL});
    }
    wake_.notify_all();
    return work;
  }

 private:
  struct Job {
    c10::intrusive_ptr<MpiWork> work;
    std::function<void(MPI_Request*)> start;  // keeps the tensors
    std::chrono::milliseconds timeout;
    std::chrono::steady_clock::time_point until;
    MPI_Request request;
  };

  MpiThread() : thread_([this] { Serve(); }) { thread_.detach(); }

  // false: it is under way still.
  static bool Ended(Job* job) {
    try {
      int done = 0;
      Check(MPI_Test(&job->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0) {
        if (std::chrono::steady_clock::now() <= job->until) return false;
        throw std::runtime_error("an exchange over MPI timed out");
      }
      job->work->Finish(nullptr);
    } catch (...) {
      job->work->Finish(std::current_exception());
    }
    return true;
  }

  void Serve() {
    std::list<Job> begun;
    for (int spins = 0;; ++spins) {
      std::list<Job> next;
      {
        std::unique_lock lock(mutex_);
        if (begun.empty()) wake_.wait(lock, [&] { return !jobs_.empty(); });
        next.swap(jobs_);
      }
      for (Job& job : next) {
        job.until = std::chrono::steady_clock::now() + job.timeout;
        try {
          job.start(&job.request);
        } catch (...) {
          job.work->Finish(std::current_exception());
          continue;
        }
        begun.push_back(std::move(job));
        spins = 0;
      }
      if (std::erase_if(begun, [](Job& job) { return Ended(&job); }) > 0) spins = 0;
      if (spins > 2000) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Job> jobs_;
  std::thread thread_;
};

class MpiBackend : public c10d::Backend {
 public:
  MpiBackend(int rank, int size, MPI_Comm comm, std::chrono::milliseconds timeout)
      : Backend(rank, size), comm_(comm), timeout_(timeout) {}
  const std::string getBackendName() const override { return "mpi"; }

  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override {
    if (options.reduceOp != c10d::ReduceOp::SUM) throw std::runtime_error("the backend 'mpi' only adds up");
    at::Tensor t = tensors.at(0);
    return Queue(c10d::OpType::ALLREDUCE, [t, comm = comm_](MPI_Request* request) {
      Check(MPI_Iallreduce(MPI_IN_PLACE, t.data_ptr(), Count(t), TypeOf(t), MPI_SUM, comm, request),
            "MPI_Iallreduce");
    });
  }
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& out, at::Tensor& in,
                                                 const c10d::AllgatherOptions&) override {
    at::Tensor to = out, from = in;
    return Queue(c10d::OpType::_ALLGATHER_BASE, [to, from, comm = comm_](MPI_Request* request) {
      Check(MPI_Iallgather(from.data_ptr(), Count(from), TypeOf(from), to.data_ptr(), Count(from), TypeOf(to),
                           comm, request),
            "MPI_Iallgather");
    });
  }
  c10::intrusive_ptr<c10d::Work> alltoall_base(at::Tensor& out, at::Tensor& in,
                                               std::vector<int64_t>& out_splits,
                                               std::vector<int64_t>& in_splits,
                                               const c10d::AllToAllOptions&) override {
    at::Tensor to = out, from = in;
    auto splits = std::make_shared<Splits>(in, in_splits, out, out_splits);
    return Queue(c10d::OpType::ALLTOALL_BASE, [to, from, splits, comm = comm_](MPI_Request* request) {
      Check(MPI_Ialltoallv(from.data_ptr(), splits->send.data(), splits->send_at.data(), TypeOf(from),
                           to.data_ptr(), splits->receive.data(), splits->receive_at.data(), TypeOf(to), comm,
                           request),
            "MPI_Ialltoallv");
    });
  }

  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int to, int tag) override {
    at::Tensor t = tensors.at(0);
    return Queue(c10d::OpType::SEND, [t, to, tag, comm = comm_](MPI_Request* request) {
      Check(MPI_Isend(t.data_ptr(), Count(t), TypeOf(t), to, tag, comm, request), "MPI_Isend");
    });
  }
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int from, int tag) override {
    at::Tensor t = tensors.at(0);
    return Queue(c10d::OpType::RECV, [t, from, tag, comm = comm_](MPI_Request* request) {
      Check(MPI_Irecv(t.data_ptr(), Count(t), TypeOf(t), from, tag, comm, request), "MPI_Irecv");
    });
  }

 private:
  struct Splits {
    std::vector<int> send, send_at, receive, receive_at;
    Splits(const at::Tensor& in, const std::vector<int64_t>& in_splits, const at::Tensor& out,
           const std::vector<int64_t>& out_splits) {
      Place(in, in_splits, &send, &send_at);
      Place(out, out_splits, &receive, &receive_at);
    }
    static void Place(const at::Tensor& tensor, const std::vector<int64_t>& splits, std::vector<int>* counts,
                      std::vector<int>* at) {
      const int64_t rows = tensor.size(0), columns = rows > 0 ? tensor.numel() / rows : 0;
      int next = 0;
      for (int64_t n : splits) {
        at->push_back(next);
        counts->push_back(static_cast<int>(n * columns));
        next += counts->back();
      }
    }
  };

  static int Count(const at::Tensor& tensor) {
    if (tensor.numel() > INT_MAX)
      throw std::runtime_error("the backend 'mpi' exchanges at most 2^31 numbers at once");
    return static_cast<int>(tensor.numel());
  }

  c10::intrusive_ptr<c10d::Work> Queue(c10d::OpType type, std::function<void(MPI_Request*)> start) {
    return MpiThread::Get().Queue(type, timeout_, std::move(start));
  }

  MPI_Comm comm_;
  std::chrono::milliseconds timeout_;
};

// Of the ranks that `members` names; called by those alone.
MPI_Comm CommOf(const std::vector<int>& members) {
  MPI_Group all, some;
  MPI_Comm comm;
  Check(MPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
  Check(MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some), "MPI_Group_incl");
  Check(MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &comm), "MPI_Comm_create_group");
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return comm;
}

}  // namespace
}  // namespace waymark

extern "C" const char* WaymarkBackendVersion() { return waymark::kBackendVersion; }

extern "C" bool WaymarkMakeBackend(const waymark::BackendRequest& request,
                                   c10::intrusive_ptr<c10d::Backend>* backend, std::string* why_not) {
  if (!request.members.empty()) {  // MPI is at work already
    try {
      *backend = c10::make_intrusive<waymark::MpiBackend>(request.rank, request.size,
                                                          waymark::CommOf(request.members), request.timeout);
      return true;
    } catch (const std::exception& e) {
      *why_not = e.what();
      return false;
    }
  }
  int given = 0, rank = 0, size = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given) != MPI_SUCCESS ||
      given < MPI_THREAD_SERIALIZED) {
    *why_not = "MPI was built without MPI_THREAD_SERIALIZED";
    return false;
  }
  std::atexit([] { MPI_Finalize(); });
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank != request.rank || size != request.size) {
    *why_not = "MPI says rank " + std::to_string(rank) + " of " + std::to_string(size) +
               ", the launcher rank " + std::to_string(request.rank) + " of " + std::to_string(request.size) +
               "; start it by mpirun or srun --mpi";
    return false;
  }
  *backend = c10::make_intrusive<waymark::MpiBackend>(rank, size, MPI_COMM_WORLD, request.timeout);
  return true;
}
