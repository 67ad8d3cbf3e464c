// The speed of one operation against the roof of the same moment.
//
// A sample is read – kernel – read, close together: a leg of the rotation is read, the next one goes through the
// kernel, the one after is read again; then the arithmetic peak is taken. Reads and kernel see the same memory, equally
// cold (or, without a rotation, equally warm) and with the same threads. The sample's ratio is the mean time of its two
// reads divided by the kernel's: on a shared machine, whose bandwidth changes from second to second, only what was
// measured together can be compared.
#pragma once

#include <string>

#include "measure/progress.hpp"
#include "measure/statistics.hpp"
#include "measure/workload.hpp"

namespace soffit::measure {

struct KernelFigures {
  std::string kernel, layout;
  // Of one operation, with the preparation of its activations. Median, 10th and 90th percentile.
  double seconds = 0, seconds_low = 0, seconds_high = 0;
  uint64_t file_bytes = 0, layout_bytes = 0;
  double gb_per_second = 0, roof_gb_per_second = 0;  // of the file's bytes
  double ratio_median = 0;
  Interval ratio;  // 95 %
  int samples = 0;
  bool noisy = false;  // the two reads of a sample differ by more than 10 %, in the median
  bool memory_bound = false;
  double roof_fraction = 0;
  double gflops = 0, roof_gflops = 0;
  double intensity = 0;  // operations a byte
  double error_over_bound = 0;
  bool checked = false;  // right before and after timing
  std::string reader, instruction;
  uint64_t rotated_bytes = 0;
  int64_t operations = 0;  // timed together
};

struct KernelOptions {
  int samples = 20;
  uint64_t seed = 1;
  Progress progress;
};

Result<KernelFigures> measure_kernel(Backend& backend, Roof& roof, const RotatingWeights& weights,
                                     const KernelCase& kernel_case, Arithmetic arithmetic,
                                     const KernelOptions& options);

}  // namespace soffit::measure
