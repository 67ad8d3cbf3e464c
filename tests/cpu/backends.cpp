#include "backends.hpp"

#include <algorithm>

namespace soffit::test {
namespace {

const BackendEntry& cpu() {
  const auto list = backends();
  return *std::ranges::find(list, "cpu", &BackendEntry::name);
}

std::vector<Arm> arms(bool all) {
  std::vector<Arm> list;
  for (const auto& set : cpu().instruction_sets())
    if (all || set.unavailable.empty())
      for (bool exact : {false, true}) list.push_back({std::string(set.name), exact});
  return list;
}

}  // namespace

std::vector<Arm> all_arms() { return arms(true); }
std::vector<Arm> usable_arms() { return arms(false); }

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
  for (const auto& set : cpu().instruction_sets())
    if (set.name == GetParam().isa && !set.unavailable.empty()) GTEST_SKIP() << set.name << ": " << set.unavailable;
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
