// A backend: one device with its memory, its weights and the plans it runs. The model runner, the checker and the
// benchmarks know only this header and operation.hpp.
//
// Life of a computation: weights are uploaded once; a list of operations with static shapes is recorded into a Plan;
// the plan is run any number of times. What changes between runs (token ids, positions, expert ids) is read from
// buffers, never from arguments. Nothing allocates while a plan runs.
//
// Order. Every call is done when it returns: what run(), write(), read() and copy() have done is seen by whatever is
// called after them, on this backend and on any other, so nothing here needs events. Several devices work at once when
// each has a thread of the caller's that runs its plans; one waits for another where their threads do. AllReduce is
// where plans of several devices meet.
//
// Faults. What can be known when a plan is made is an error of plan(). What only the device finds, such as an id out of
// range, stays with the run it happened in: the operations after it go on with whatever is there, run() returns the
// first fault found, the results of that run are anything, and the plan can be run again.
//
// Objects made by a Backend must not outlive it.
//
// Thread-safety: a Backend may be used from several threads to create objects; one Plan runs in one thread at a time,
// and plans of one backend that share buffers must not overlap in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "soffit/buffer.hpp"
#include "soffit/format.hpp"
#include "soffit/matrix.hpp"
#include "soffit/state.hpp"
#include "soffit/status.hpp"

namespace soffit {

enum class Layout : uint8_t {
  automatic,  // what streams best here: usually a repacked one of the same size
  file,       // the bytes as they are in the file, in place where the memory allows
};

// Weights on a backend: one matrix, or several of one width that read the same activations (q|k|v, gate|up), stacked.
// They are written part by part; finish() makes them usable. In place and repacked are one type.
class Weights {
 public:
  virtual ~Weights() = default;
  virtual std::span<const MatrixDescription> parts() const = 0;
  // The next bytes of a part, at any cut; `offset` must be where the previous write of this part ended.
  virtual Status write(size_t part, uint64_t offset, std::span<const std::byte> bytes) = 0;
  // All bytes of a part at once, from wherever they lie. With a layout that equals the file's they are used in place
  // and `owner` keeps them alive, if they and the strides are aligned to the format's elements; else they are copied.
  virtual Status adopt(size_t part, const MatrixSource& source, std::shared_ptr<const void> owner) = 0;
  Status adopt(size_t part, std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    return adopt(part, MatrixSource{bytes}, std::move(owner));
  }
  // An error when a part lacks bytes.
  virtual Status finish() = 0;
  // The file's bytes again, from whatever layout they are in.
  virtual Status read(size_t part, uint64_t offset, std::span<std::byte> to) const = 0;
  // "q4_k" in place, "q4_k_x16" repacked; known before anything is written.
  virtual std::string_view layout_name(size_t part) const = 0;
  virtual uint64_t file_bytes() const = 0;
  virtual uint64_t layout_bytes() const = 0;

  int64_t cols() const { return parts().front().cols; }
  int64_t rows() const {  // of all parts together
    int64_t sum = 0;
    for (const auto& p : parts()) sum += p.rows;
    return sum;
  }
  int64_t experts() const { return parts().front().experts; }
};

// Activations in the form that the weights reading them want, such as int8 with block scales; written by Prepare,
// RmsNorm or GatedActivation, read by Linear and LinearId.
class Activations {
 public:
  virtual ~Activations() = default;
  virtual int64_t max_rows() const = 0;
  virtual int64_t cols() const = 0;
};

struct PlanStatistics {
  int64_t operations = 0, steps = 0, barriers = 0;
  uint64_t workspace_bytes = 0;
};
// Seconds of the last run by what was done, when the plan was made with `timed`.
struct StepTime {
  std::string_view operation;
  double seconds = 0;
};
class Plan {
 public:
  virtual ~Plan() = default;
  // Runs all operations in order and waits. See Faults.
  virtual Status run() = 0;
  virtual PlanStatistics statistics() const = 0;
  virtual std::span<const StepTime> times() const { return {}; }
};

struct Operation;  // operation.hpp

enum class OperationKind : uint8_t;

struct Shape {
  int64_t rows = 0, cols = 0, n = 1, experts = 1;
};
// Whether a kernel exists: its name, or why not. Dispatch, repacking, check, kernels and devices all ask this.
struct Support {
  std::string kernel;  // empty when unsupported
  std::string reason;
  // Columns of x that a product rounds to int8 under one scale, largest / 127; 0: x is read as it is. The error bound
  // follows from it.
  int activation_block = 0;
  // What a product adds to codes and takes off its sums again, at most, in steps of a code; 0: nothing. It enters the
  // error bound as activation_block does.
  double code_offset = 0;
  explicit operator bool() const { return !kernel.empty(); }
};

struct PlanOptions {
  bool timed = false;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // "cpu"
  virtual std::string_view isa() const = 0;   // the instruction set in use: "avx512"
  virtual int threads() const = 0;

  virtual Support supports(OperationKind operation, Format format, const Shape& shape) const = 0;

  virtual Result<std::unique_ptr<Buffer>> new_buffer(uint64_t size) = 0;  // zeroed
  // Uses memory that somebody else owns; `owner` is held as long as the buffer lives. Views of it must be aligned to
  // their elements.
  virtual Result<std::unique_ptr<Buffer>> wrap(void* memory, uint64_t size, std::shared_ptr<const void> owner) = 0;
  virtual Result<std::unique_ptr<Weights>> new_weights(std::span<const MatrixDescription> parts, Layout layout) = 0;
  virtual Result<std::unique_ptr<Activations>> new_activations(int64_t max_rows, int64_t cols,
                                                               std::span<const Weights* const> readers) = 0;
  virtual Result<std::unique_ptr<State>> new_state(const StateDescription& description) = 0;
  virtual Result<std::unique_ptr<Plan>> plan(std::span<const Operation> operations, const PlanOptions& options) = 0;
};

// Threads of the caller's that a CPU backend runs on instead of its own. run() calls call(context, member) once for
// every member in [0, threads()), all at the same time, for members wait for one another, and returns when all have
// returned.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual int threads() const = 0;
  virtual void run(void (*call)(void* context, int member), void* context) = 0;
};

struct BackendOptions {
  int threads = 0;  // 0: the cores this process may use, or the executor's
  std::shared_ptr<Executor> executor;
  std::string isa = "auto";  // "avx2", …; a set that is not there is an error that lists what is
  int device = 0;
  bool exact = false;  // activations are never rounded below fp16
};

struct InstructionSet {
  std::string_view name;
  std::string unavailable;  // why it cannot run here; empty: it can
};

// The backends built in, best first. `available` says why one cannot run here.
struct BackendEntry {
  std::string_view name;
  Status (*available)();
  std::vector<InstructionSet> (*instruction_sets)();  // that kernels exist for, worst first
  Result<std::unique_ptr<Backend>> (*create)(const BackendOptions& options);
};
std::span<const BackendEntry> backends();
// By name; "auto" takes the first available. An unknown name is an error that lists the known ones.
Result<std::unique_ptr<Backend>> create_backend(std::string_view name, const BackendOptions& options);

}  // namespace soffit
