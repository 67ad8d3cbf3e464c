// Attention of queries that share one key-value head: softmax(scale q K) V over each query's visible keys, in blocks of
// 64 keys with a running maximum, so that the scores of a long context never need to be kept. Source: arXiv 2205.14135
// (online softmax).
//
// Keys lie transposed inside their block, (block, head_dim, 64), so that 64 scores grow side by side without sums
// across lanes; values lie as rows, (context, head_dim), so that a result grows side by side too.
#pragma once

#include "cpu/elementwise-inl.hpp"

namespace soffit::cpu {

template <class V, class T>
[[gnu::always_inline]] inline typename V::Floats load_cached(const T* p) {
  if constexpr (sizeof(T) == 2)
    return V::halves(p);
  else
    return V::load_floats(p);
}
// Weights of values are rounded to the significand of an F16 cache, as in llama.cpp; their sum is not.
template <class V, class T>
[[gnu::always_inline]] inline typename V::Floats as_cached(typename V::Floats x) {
  if constexpr (sizeof(T) != 2) return x;
  alignas(64) float lanes[16];
  V::store(lanes, x);
  for (float& lane : lanes) lane = eleven_bits(lane);
  return V::load_floats(lanes);
}
// Zeros from lane `count` on.
template <class V>
typename V::Floats first_lanes(typename V::Floats x, int64_t count) {
  alignas(64) float lanes[16] = {};
  store_some<V>(lanes, x, count);
  return V::load_floats(lanes);
}
[[gnu::always_inline]] inline float cached(uint16_t x) { return half_to_float(x); }
[[gnu::always_inline]] inline float cached(float x) { return x; }

// score[q][j] = scale * q . key j for the 64 keys of a block.
template <class V, class T, int kQueries>
[[gnu::always_inline]] inline void score_block(const AttendJob& job, const AttendJob::Query* query, const T* keys,
                                               float* score) {
  constexpr int kVectors = kKeyBlock / 16;
  typename V::Floats sum[kQueries][kVectors];
  for (int q = 0; q < kQueries; ++q)
    for (int i = 0; i < kVectors; ++i) sum[q][i] = V::set(0.0f);
  for (int64_t d = 0; d < job.head_dim; ++d, keys += kKeyBlock) {
    typename V::Floats k[kVectors];
    for (int i = 0; i < kVectors; ++i) k[i] = load_cached<V>(keys + 16 * i);
    for (int q = 0; q < kQueries; ++q) {
      const auto x = V::set(query[q].q[d]);
      for (int i = 0; i < kVectors; ++i) sum[q][i] = V::fma(k[i], x, sum[q][i]);
    }
  }
  for (int q = 0; q < kQueries; ++q)
    for (int i = 0; i < kVectors; ++i) V::store(score + q * kKeyBlock + 16 * i, V::mul(sum[q][i], V::set(job.scale)));
}

// y[q] += score[q][j] * value j for from <= j < to of a block, kVectors x 16 columns from `column` on.
template <class V, class T, int kQueries, int kVectors>
[[gnu::always_inline]] inline void add_values(const AttendJob& job, const AttendJob::Query* query, const T* values,
                                              const float* score, int64_t from, int64_t to, int64_t column) {
  typename V::Floats y[kQueries][kVectors];
  for (int q = 0; q < kQueries; ++q)
    for (int i = 0; i < kVectors; ++i) y[q][i] = V::load_floats(query[q].y + column + 16 * i);
  for (int64_t j = from; j < to; ++j) {
    const T* row = values + j * job.head_dim + column;
    typename V::Floats v[kVectors];
    for (int i = 0; i < kVectors; ++i) v[i] = load_cached<V>(row + 16 * i);
    for (int q = 0; q < kQueries; ++q) {
      const auto weight = V::set(score[q * kKeyBlock + j]);
      for (int i = 0; i < kVectors; ++i) y[q][i] = V::fma(v[i], weight, y[q][i]);
    }
  }
  for (int q = 0; q < kQueries; ++q)
    for (int i = 0; i < kVectors; ++i) V::store(query[q].y + column + 16 * i, y[q][i]);
}

template <class V, class T, int kQueries>
[[gnu::always_inline]] inline void add_range(const AttendJob& job, const AttendJob::Query* query, const T* values,
                                             const float* score, int64_t from, int64_t to) {
  if (from >= to) return;
  const int64_t dim = job.head_dim;
  int64_t column = 0;
  for (; column + 64 <= dim; column += 64) add_values<V, T, kQueries, 4>(job, query, values, score, from, to, column);
  for (; column + 16 <= dim; column += 16) add_values<V, T, kQueries, 1>(job, query, values, score, from, to, column);
  for (; column < dim; ++column)
    for (int64_t j = from; j < to; ++j)
      for (int q = 0; q < kQueries; ++q)
        query[q].y[column] += cached(values[j * dim + column]) * score[q * kKeyBlock + j];
}

// The values of a block: together where all queries see them, else one query at a time, for a value that a query does
// not see must not touch it, not even with a weight of zero: it may be infinite, or left over from anything.
template <class V, class T, int kQueries>
[[gnu::always_inline]] inline void add_block_values(const AttendJob& job, const AttendJob::Query* query,
                                                    const T* values, const float* score, const int64_t* first,
                                                    const int64_t* last) {
  const int64_t from = *std::max_element(first, first + kQueries),
                to = std::max(from, *std::min_element(last, last + kQueries));
  for (int q = 0; q < kQueries; ++q)
    add_range<V, T, 1>(job, query + q, values, score + q * kKeyBlock, first[q], std::min(last[q], from));
  add_range<V, T, kQueries>(job, query, values, score, from, to);
  for (int q = 0; q < kQueries; ++q)
    add_range<V, T, 1>(job, query + q, values, score + q * kKeyBlock, std::max(first[q], to), last[q]);
}

template <class V, class T, int kQueries>
[[gnu::flatten]] void attend_group(const AttendJob& job, const AttendJob::Query* query) {
  const int64_t dim = job.head_dim;
  float largest[kQueries], total[kQueries];
  int64_t begin = query[0].first, end = query[0].last;
  for (int q = 0; q < kQueries; ++q) {
    largest[q] = -INFINITY;
    total[q] = 0;
    std::memset(query[q].y, 0, size_t(dim) * sizeof(float));
    begin = std::min(begin, query[q].first);
    end = std::max(end, query[q].last);
  }
  int64_t block = begin / kKeyBlock * kKeyBlock, place = block % job.held;
  for (; block < end; block += kKeyBlock, place = place + kKeyBlock == job.held ? 0 : place + kKeyBlock) {
    float* score = job.scratch;
    score_block<V, T, kQueries>(job, query, static_cast<const T*>(job.keys) + place * dim, score);
    int64_t first[kQueries], last[kQueries];  // the keys of the block that a query sees
    for (int q = 0; q < kQueries; ++q) {
      float* s = score + q * kKeyBlock;
      const int64_t from = std::clamp<int64_t>(query[q].first - block, 0, kKeyBlock);
      const int64_t to = std::clamp<int64_t>(query[q].last - block, from, kKeyBlock);
      first[q] = from, last[q] = to;
      if (from == to) continue;
      float m = largest[q];
      if (to - from == kKeyBlock) {
        auto lanes = V::max(V::load_floats(s), V::load_floats(s + 16));
        for (int i = 2; i < kKeyBlock / 16; ++i) lanes = V::max(lanes, V::load_floats(s + 16 * i));
        m = std::max(m, V::largest(lanes));
      } else {
        for (int64_t j = from; j < to; ++j) m = std::max(m, s[j]);
      }
      auto sum = V::set(0.0f);
      by_vectors<V>(to - from, [&](int64_t i, int64_t count) {
        const auto e = exponential<V>(V::sub(load_some<V>(s + from + i, count), V::set(m)));
        store_some<V>(s + from + i, as_cached<V, T>(e), count);
        sum = V::add(sum, count >= 16 ? e : first_lanes<V>(e, count));
      });
      if (m != largest[q]) {
        const float factor = largest[q] == -INFINITY ? 0.0f : std::exp(largest[q] - m);
        scale<V>(query[q].y, factor, query[q].y, dim);
        total[q] *= factor;
        largest[q] = m;
      }
      total[q] += V::sum(sum);
    }
    const T* values = static_cast<const T*>(job.values) + place * dim;
    add_block_values<V, T, kQueries>(job, query, values, score, first, last);
  }
  for (int q = 0; q < kQueries; ++q) scale<V>(query[q].y, total[q] > 0 ? 1.0f / total[q] : NAN, query[q].y, dim);
}

template <class V, class T>
void attend_as(const AttendJob& job) {
  int64_t q = 0;
  for (; q + 4 <= job.count; q += 4) attend_group<V, T, 4>(job, job.queries + q);
  for (; q + 2 <= job.count; q += 2) attend_group<V, T, 2>(job, job.queries + q);
  for (; q < job.count; ++q) attend_group<V, T, 1>(job, job.queries + q);
}

template <class V>
void attend(const AttendJob& job) {
  job.half ? attend_as<V, uint16_t>(job) : attend_as<V, float>(job);
}

}  // namespace soffit::cpu
