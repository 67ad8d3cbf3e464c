// What the backend does not choose by itself: every variant of a matrix product at every tuning, with fp32 and fp16,
// and the ways to unpack TQ1_0. All have the lanes' bits, and are right.
#include "../kernels.hpp"
#include "check/random.hpp"
#include "compared.hpp"
#include "metal/arguments.h"
#include "metal/lane_dequantize.hpp"

namespace soffit::metal {
namespace {

class Variants : public Compared {
 protected:
  void multiply(const Variant& variant, const Tuning& tuning, const LinearShape& shape, DataType type) {
    SCOPED_TRACE(testing::Message() << variant.kernel << " " << tuning.simdgroups << " x " << tuning.rows << " n "
                                    << shape.n);
    const LinearProblem problem = random_problem(variant.format, shape, type, shape.rows + shape.n);
    const LinearGrid grid = linear_grid(variant.division, tuning, shape.rows, shape.n);
    const LinearArguments arguments = {uint64_t(*row_bytes(variant.format, int64_t(shape.cols))),
                                       shape.cols,
                                       shape.rows,
                                       uint32_t(shape.rows),
                                       uint32_t(shape.cols),
                                       uint32_t(shape.n),
                                       0};
    const auto pipeline = device_->pipeline(std::string(variant.kernel) + (type == DataType::f16 ? "_f16" : "_f32"),
                                            {{0, tuning.simdgroups}, {1, tuning.rows}, {2, grid.batch}});
    ASSERT_TRUE(pipeline) << pipeline.error().message;
    Dispatch dispatch;
    dispatch.pipeline = *pipeline;
    bind(dispatch, arguments, {&problem.buffers().weights, &problem.buffers().x, &problem.buffers().y});
    dispatch.grid = {grid.x, grid.y, 1};
    dispatch.threads = grid.threads;
    run(dispatch);
    expect_right(problem, variant.terms);
  }

  template <class A>
  void bind(Dispatch& dispatch, const A& arguments, std::initializer_list<const lanes::DeviceMemory*> buffers) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&arguments);
    dispatch.arguments.assign(bytes, bytes + sizeof arguments);
    for (const lanes::DeviceMemory* memory : buffers) {
      auto wrapped = device_->wrap(memory->span());
      ASSERT_TRUE(wrapped) << wrapped.error().message;
      dispatch.buffers.push_back({wrapped->get(), 0, memory->bytes()});
      buffers_.push_back(std::move(*wrapped));
    }
  }
  void run(const Dispatch& dispatch) {
    const Status ran = device_->run({&dispatch, 1});
    ASSERT_TRUE(ran) << ran.error().message;
    buffers_.clear();
  }

  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
};

TEST_F(Variants, MultiplyAtEveryTuning) {
  for (const Variant& variant : variants()) {
    if (variant.operation != OperationKind::linear) continue;
    const uint64_t block = info(variant.format).block_elements, cols = block == 1 ? 288 : 3 * block;
    for (const Tuning& tuning : variant.tunings) {
      for (const DataType type : {DataType::f32, DataType::f16}) {
        for (const uint64_t n : {1, 3, 8, 37}) {
          if (variant.division == Division::columns && (n == 1 || n > 8)) continue;
          for (const uint64_t rows : {1, 37, 64}) multiply(variant, tuning, {.rows = rows, .cols = cols, .n = n}, type);
        }
      }
    }
  }
  report(*device_, [](std::string_view) { return true; });
}

TEST_F(Variants, UnpackTq1_0) {
  const FormatInfo& format = info(Format::tq1_0);
  constexpr uint64_t kBlocks = 304;
  for (const DequantizeVariant& variant : dequantize_variants()) {
    auto from = lanes::DeviceMemory::create(kBlocks * format.block_bytes);
    auto to = lanes::DeviceMemory::create(kBlocks * format.block_elements * sizeof(float));
    ASSERT_TRUE(from && to);
    checker::Random random(7);
    checker::fill_blocks(Format::tq1_0, checker::Blocks::any_bytes, random, from->span());
    const auto threads = uint32_t(kBlocks * variant.threads_per_block);
    const auto pipeline = device_->pipeline(std::string(variant.kernel), {});
    ASSERT_TRUE(pipeline) << pipeline.error().message;
    Dispatch dispatch;
    dispatch.pipeline = *pipeline;
    bind(dispatch, threads, {&*from, &*to});
    dispatch.threads = 64;
    dispatch.grid = {(threads + 63) / 64, 1, 1};
    run(dispatch);
  }
  report(*device_, [](std::string_view) { return true; });
}

}  // namespace
}  // namespace soffit::metal
