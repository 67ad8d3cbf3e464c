// Plans: run again with other values in the same buffers, barriers where they are needed, memory of somebody else.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "backends.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

class Plans : public EachArm {};
SOFFIT_FOR_EACH_ARM(Plans);

TEST_P(Plans, RunAgainWithWhatTheBuffersHoldNow) {
  const auto weights = Matrix::random(Format::q4_k, 40, 256, 1).upload(*backend_);
  const auto x = make_activations(*backend_, 3, *weights);
  const Array from = make_array(*backend_, 3, 256), y = make_array(*backend_, 3, 40);
  const auto plan = make_plan(*backend_, {Prepare{from.view, x.get()}, Linear{weights.get(), x.get(), y.view, {}}});
  for (uint64_t seed : {2, 3, 4}) {
    const auto values = random_x(3 * 256, seed);
    write_array(from, values);
    ASSERT_TRUE(plan->run());
    EXPECT_EQ(read_floats(y), multiply(*backend_, *weights, values));
    ASSERT_TRUE(plan->run());
    EXPECT_EQ(read_floats(y), multiply(*backend_, *weights, values)) << "a second run of the same";
  }
}

TEST_P(Plans, IdsArePartOfTheValues) {
  constexpr int64_t kExperts = 4;
  const Matrix experts = Matrix::random(Format::q8_0, 20, 64, 1, kExperts);
  const auto weights = experts.upload(*backend_);
  const auto values = random_x(2 * 64, 2);
  const Array from = make_array(*backend_, 2, 64, values), y = make_array(*backend_, 4, 20);
  const Array ids = make_array(*backend_, 2, 2, std::vector<int32_t>(4));
  const auto x = make_activations(*backend_, 2, *weights);
  const auto plan = make_plan(
      *backend_, {Prepare{from.view, x.get()}, LinearId{weights.get(), x.get(), ids.view, false, y.view, {}}});
  for (const auto& list : {std::vector<int32_t>{0, 1, 2, 3}, {3, 3, 0, 0}, {2, 1, 2, 1}}) {
    write_array(ids, list);
    ASSERT_TRUE(plan->run());
    const auto results = read_floats(y);
    for (size_t slot = 0; slot < 4; ++slot) {
      Matrix one{{Format::q8_0, 20, 64, 1}, {}};
      const size_t size = experts.bytes.size() / kExperts;
      one.bytes.assign(experts.bytes.begin() + ptrdiff_t(size_t(list[slot]) * size),
                       experts.bytes.begin() + ptrdiff_t(size_t(list[slot] + 1) * size));
      const auto row = values.begin() + ptrdiff_t(slot / 2 * 64);
      EXPECT_EQ(std::vector<float>(results.begin() + ptrdiff_t(slot * 20), results.begin() + ptrdiff_t(slot * 20 + 20)),
                multiply(*backend_, *one.upload(*backend_), {row, row + 64}));
    }
  }
}

// What a norm or a gated activation writes as prepared activations is what Prepare makes of their results.
TEST_P(Plans, PreparedByANormOrAGate) {
  for (Format format : {Format::q4_0, Format::q4_k, Format::f16}) {
    const auto weights = Matrix::random(format, 24, 768, 1).upload(*backend_);
    const Array a = make_array(*backend_, 5, 768, random_x(5 * 768, 2)),
                b = make_array(*backend_, 5, 768, random_x(5 * 768, 3));
    const Array weight = make_array(*backend_, 1, 768, random_x(768, 4)), y = make_array(*backend_, 5, 768);
    const Array direct = make_array(*backend_, 5, 24), without = make_array(*backend_, 5, 24),
                twice = make_array(*backend_, 5, 24);
    const auto first = make_activations(*backend_, 5, *weights), second = make_activations(*backend_, 5, *weights),
               third = make_activations(*backend_, 5, *weights);
    const auto product = [&](const auto& x, const Array& to) { return Linear{weights.get(), x.get(), to.view, {}}; };
    run_plan(*backend_, {RmsNorm{a.view, weight.view, 1e-5f, b.view, y.view, first.get()}, product(first, direct),
                         RmsNorm{a.view, weight.view, 1e-5f, b.view, {}, second.get()}, product(second, without),
                         Prepare{y.view, third.get()}, product(third, twice)});
    EXPECT_EQ(read_floats(direct), read_floats(twice)) << info(format).name;
    EXPECT_EQ(read_floats(without), read_floats(twice)) << info(format).name;
    run_plan(*backend_, {GatedActivation{a.view, b.view, Activation::silu, y.view, first.get()}, product(first, direct),
                         GatedActivation{a.view, b.view, Activation::silu, {}, second.get()}, product(second, without),
                         Prepare{y.view, third.get()}, product(third, twice)});
    EXPECT_EQ(read_floats(direct), read_floats(twice)) << info(format).name;
    EXPECT_EQ(read_floats(without), read_floats(twice)) << info(format).name;
  }
}

TEST_P(Plans, BarriersStandOnlyBetweenWhatDependsOnEachOther) {
  const Array a = make_array(*backend_, 4, 64), b = make_array(*backend_, 4, 64), c = make_array(*backend_, 4, 64),
              d = make_array(*backend_, 4, 64);
  const auto barriers = [&](const std::vector<Operation>& operations) {
    const auto statistics = make_plan(*backend_, operations)->statistics();
    EXPECT_EQ(statistics.operations, int64_t(operations.size()));
    EXPECT_GE(statistics.steps, 1);
    return statistics.barriers;
  };
  EXPECT_EQ(barriers({Add{a.view, b.view, c.view}}), 0);
  EXPECT_EQ(barriers({Add{a.view, b.view, c.view}, Add{a.view, b.view, d.view}}), 0) << "both only read";
  EXPECT_EQ(barriers({Add{a.view, b.view, c.view}, Scale{c.view, 2, d.view}}), 1) << "read after write";
  EXPECT_EQ(barriers({Scale{c.view, 2, d.view}, Add{a.view, b.view, c.view}}), 1) << "write after read";
  EXPECT_EQ(barriers({Scale{a.view, 2, c.view}, Scale{b.view, 2, c.view}}), 1) << "write after write";
  EXPECT_EQ(barriers({Scale{a.view.columns(0, 32), 2, c.view.columns(0, 32)},
                      Scale{b.view.columns(32, 32), 2, c.view.columns(32, 32)}}),
            0)
      << "columns that do not overlap";
  EXPECT_EQ(barriers({Scale{a.view.columns(0, 33), 2, c.view.columns(0, 33)},
                      Scale{b.view.columns(32, 32), 2, c.view.columns(32, 32)}}),
            1)
      << "one column overlaps";
  EXPECT_EQ(barriers({Scale{a.view.first_rows(2), 2, c.view.first_rows(2)}, Scale{b.view, 2, d.view},
                      Scale{c.view, 2, c.view}}),
            1);
}

// The same with overlapping views of different strides: what is computed must not depend on the barriers' cleverness.
TEST_P(Plans, ChainsOfDependentStepsAreRight) {
  const auto five = make_backend(GetParam(), 5);
  const Array a = make_array(*five, 64, 97, random_x(64 * 97, 1)), b = make_array(*five, 64, 97);
  std::vector<Operation> operations = {Scale{a.view, 1, b.view}};
  for (int i = 0; i < 40; ++i) operations.push_back(Add{b.view, a.view, b.view});
  for (int round = 0; round < 20; ++round) {
    run_plan(*five, operations);
    auto expected = read_floats(a);
    const auto once = expected;
    for (int i = 0; i < 40; ++i)
      for (size_t k = 0; k < once.size(); ++k) expected[k] += once[k];
    ASSERT_EQ(read_floats(b), expected);
  }
}

TEST_P(Plans, TimesAreTakenOnRequest) {
  const Array a = make_array(*backend_, 4, 64), b = make_array(*backend_, 4, 64);
  const auto plain = make_plan(*backend_, {Scale{a.view, 2, b.view}});
  ASSERT_TRUE(plain->run());
  EXPECT_TRUE(plain->times().empty());
  const auto timed = make_plan(*backend_, {Scale{a.view, 2, b.view}, Add{a.view, a.view, b.view}}, {.timed = true});
  ASSERT_TRUE(timed->run());
  ASSERT_EQ(timed->times().size(), 2u);
  EXPECT_EQ(timed->times()[0].operation, "scale");
  EXPECT_EQ(timed->times()[1].operation, "add");
  for (const auto& t : timed->times()) EXPECT_GE(t.seconds, 0);
}

TEST_P(Plans, MemoryOfSomebodyElse) {
  auto memory = std::make_shared<std::vector<float>>(64, 3.0f);
  std::weak_ptr<std::vector<float>> watch = memory;
  auto buffer = *backend_->wrap(memory->data(), 256, memory);
  const ArrayView v = view(*buffer, DataType::f32, 1, 64);
  run_plan(*backend_, {Scale{v, 2, v}});
  EXPECT_EQ(*memory, std::vector<float>(64, 6.0f));
  memory.reset();
  EXPECT_FALSE(watch.expired());
  buffer.reset();
  EXPECT_TRUE(watch.expired());
}

TEST_P(Plans, AnEmptyBatchDoesNothing) {
  const auto weights = Matrix::random(Format::q4_0, 17, 64, 1).upload(*backend_);
  const auto x = make_activations(*backend_, 4, *weights);
  const Array from = make_array(*backend_, 4, 64), y = make_array(*backend_, 4, 17, std::vector<float>(4 * 17, 5.0f));
  run_plan(*backend_,
           {Prepare{from.view.first_rows(0), x.get()}, Linear{weights.get(), x.get(), y.view.first_rows(0), {}}});
  EXPECT_EQ(read_floats(y), std::vector<float>(4 * 17, 5.0f));
}

TEST_P(Plans, NoOperationsAtAll) {
  const auto plan = make_plan(*backend_, {});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->run());
  EXPECT_EQ(plan->statistics().barriers, 0);
}

// A backend may be used from several threads to create objects.
TEST_P(Plans, ObjectsAreMadeFromSeveralThreads) {
  const Matrix matrix = Matrix::random(Format::tq1_0, 33, 256, 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto buffer = backend_->new_buffer(1000);
      const MatrixDescription parts[] = {matrix.description};
      const auto weights = backend_->new_weights(parts, Layout::automatic);
      EXPECT_TRUE(buffer && weights && (*weights)->write(0, 0, matrix.bytes) && (*weights)->finish());
    });
  for (auto& t : threads) t.join();
}

// Two plans that share no buffers, run from two threads while a third packs weights: the team serves one at a time.
TEST_P(Plans, RunFromSeveralThreads) {
  const Matrix matrix = Matrix::random(Format::q4_k, 64, 512, 1);
  const auto backend = make_backend(GetParam(), 3);
  const auto weights = matrix.upload(*backend);
  std::vector<std::thread> threads;
  for (uint64_t seed : {2, 3}) {
    const auto values = random_x(5 * 512, seed);
    threads.emplace_back([&, values, expected = multiply(*backend, *weights, values)] {
      const auto x = make_activations(*backend, 5, *weights);
      const Array from = make_array(*backend, 5, 512, values), y = make_array(*backend, 5, 64);
      const auto plan = make_plan(*backend, {Prepare{from.view, x.get()}, Linear{weights.get(), x.get(), y.view, {}}});
      for (int run = 0; run < 30; ++run) {
        write_array(y, std::vector<float>(5 * 64));
        EXPECT_TRUE(plan->run());
        EXPECT_EQ(read_floats(y), expected);
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 10; ++i) {
      const MatrixDescription parts[] = {matrix.description};
      const auto other = *backend->new_weights(parts, Layout::automatic);
      EXPECT_TRUE(other->adopt(0, matrix.bytes, nullptr) && other->finish());
    }
  });
  for (auto& t : threads) t.join();
}

TEST_P(Plans, ActivationsAreReadForTheRowsTheyWerePreparedFor) {
  const auto weights = Matrix::random(Format::q8_0, 24, 512, 1).upload(*backend_);
  const auto x = make_activations(*backend_, 5, *weights);
  const Array from = make_array(*backend_, 5, 512, random_x(5 * 512, 2)), y = make_array(*backend_, 5, 24);
  run_plan(*backend_, {Prepare{from.view, x.get()}});
  const auto plan = make_plan(*backend_, {Linear{weights.get(), x.get(), y.view.first_rows(3), {}}});
  const Status status = plan->run();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "activations prepared for 5 rows are read as 3");
  run_plan(*backend_, {Prepare{from.view.first_rows(3), x.get()}});
  EXPECT_TRUE(plan->run());
}

}  // namespace
}  // namespace soffit::test
