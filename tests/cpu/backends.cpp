#include "backends.hpp"

#include <cstdlib>

namespace soffit::test {

std::vector<Arm> usable_arms() {
  const char* only = std::getenv("SOFFIT_TEST_ISA");
  std::vector<Arm> arms;
  for (const auto& entry : backends())
    if (entry.name == "cpu")
      for (const auto& set : entry.instruction_sets())
        if (set.unavailable.empty() && (!only || set.name == only))
          for (bool exact : {false, true}) arms.push_back({std::string(set.name), exact});
  return arms;
}

std::string arm_name(const testing::TestParamInfo<Arm>& param) {
  return param.param.isa + (param.param.exact ? "_exact" : "");
}

std::unique_ptr<Backend> make_backend(const Arm& arm, int threads) {
  BackendOptions options;
  options.threads = threads;
  options.isa = arm.isa;
  options.exact = arm.exact;
  auto backend = create_backend("cpu", options);
  if (!backend) {
    ADD_FAILURE() << backend.error().message;
    return nullptr;
  }
  EXPECT_EQ((*backend)->isa(), arm.isa);
  return *std::move(backend);
}

void EachArm::SetUp() {
  backend_ = make_backend(GetParam());
  ASSERT_TRUE(backend_);
}

std::vector<Format> all_kernel_formats() {
  std::vector<Format> formats;
  for (const auto& f : all_formats())
    if (f.supported) formats.push_back(Format(f.id));
  return formats;
}

}  // namespace soffit::test
