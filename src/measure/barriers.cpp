#include "measure/barriers.hpp"

#include <vector>

#include "core/threads.hpp"
#include "measure/statistics.hpp"
#include "measure/timer.hpp"

namespace soffit::measure {

Result<double> barrier_seconds(int threads) {
  constexpr int kSamples = 25, kBarriers = 200;
  SOFFIT_TRY(const auto executor, own_threads(threads));
  Team team(executor);
  if (team.size() == 1) return 0.0;
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i)
    team.run([&](int member) {
      team.barrier();  // all are awake
      const double seconds = seconds_of([&] {
        for (int j = 0; j < kBarriers; ++j) team.barrier();
      });
      if (member == 0) samples.push_back(seconds / kBarriers);
    });
  return median(samples);
}

}  // namespace soffit::measure
