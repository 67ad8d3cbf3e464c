// Attention of queries that share one key-value head: softmax(scale q K) V over each query's visible keys, in blocks of
// keys with a running maximum, so that the scores of a long context never need to be kept. Source: arXiv 2205.14135
// (online softmax).
#pragma once

#include "cpu/elementwise-inl.hpp"

namespace soffit::cpu {

inline constexpr int64_t kKeyBlock = 128, kQueryGroup = 4;

template <class V, bool kHalf>
[[gnu::always_inline]] inline typename V::Floats load_key(const void* row, int64_t i) {
  if constexpr (kHalf)
    return V::halves(static_cast<const uint16_t*>(row) + i);
  else
    return V::load_floats(static_cast<const float*>(row) + i);
}
template <bool kHalf>
inline float key_at(const void* row, int64_t i) {
  if constexpr (kHalf)
    return half_to_float(static_cast<const uint16_t*>(row)[i]);
  else
    return static_cast<const float*>(row)[i];
}

template <class V, bool kHalf, int kQueries>
void attend_group(const AttendJob& job, const AttendJob::Query* query) {
  const int64_t dim = job.head_dim, whole = dim / 16 * 16;
  const int64_t row_bytes = dim * (kHalf ? 2 : 4);
  const auto* keys = static_cast<const uint8_t*>(job.keys);
  const auto* values = static_cast<const uint8_t*>(job.values);
  float* score[kQueries];
  float largest[kQueries], total[kQueries];
  int64_t begin = query[0].first, end = query[0].last;
  for (int q = 0; q < kQueries; ++q) {
    score[q] = job.scratch + q * kKeyBlock;
    largest[q] = -INFINITY;
    total[q] = 0;
    std::memset(query[q].y, 0, size_t(dim) * sizeof(float));
    begin = std::min(begin, query[q].first);
    end = std::max(end, query[q].last);
  }
  for (int64_t block = begin; block < end; block += kKeyBlock) {
    const int64_t stop = std::min(end, block + kKeyBlock);
    for (int64_t j = block; j < stop; ++j) {
      const void* key = keys + j * row_bytes;
      typename V::Floats sum[kQueries];
      for (int q = 0; q < kQueries; ++q) sum[q] = V::set(0.0f);
      for (int64_t i = 0; i < whole; i += 16) {
        const auto k = load_key<V, kHalf>(key, i);
        for (int q = 0; q < kQueries; ++q) sum[q] = V::fma(k, V::load_floats(query[q].q + i), sum[q]);
      }
      for (int q = 0; q < kQueries; ++q) {
        float s = V::sum(sum[q]);
        for (int64_t i = whole; i < dim; ++i) s += key_at<kHalf>(key, i) * query[q].q[i];
        score[q][j - block] = s * job.scale;
      }
    }
    int64_t from[kQueries], to[kQueries];
    for (int q = 0; q < kQueries; ++q) {
      from[q] = std::max(query[q].first, block) - block;
      to[q] = std::max(from[q], std::min(query[q].last, stop) - block);
      if (from[q] >= to[q]) continue;
      float m = largest[q];
      for (int64_t j = from[q]; j < to[q]; ++j) m = std::max(m, score[q][j]);
      auto sum = V::set(0.0f);
      by_vectors<V>(to[q] - from[q], [&](int64_t i, int64_t count) {
        float* s = score[q] + from[q] + i;
        const auto e = exponential<V>(V::sub(load_some<V>(s, count), V::set(m)));
        store_some<V>(s, e, count);
        sum = V::add(sum, count >= 16 ? e : load_some<V>(s, count));
      });
      const float factor = largest[q] == -INFINITY ? 0.0f : std::exp(largest[q] - m);
      if (factor != 1.0f) scale<V>(query[q].y, factor, query[q].y, dim);
      total[q] = total[q] * factor + V::sum(sum);
      largest[q] = m;
    }
    for (int64_t j = block; j < stop; ++j) {
      const void* value = values + j * row_bytes;
      float weight[kQueries];
      for (int q = 0; q < kQueries; ++q)
        weight[q] = j - block >= from[q] && j - block < to[q] ? score[q][j - block] : 0.0f;
      for (int64_t i = 0; i < whole; i += 16) {
        const auto v = load_key<V, kHalf>(value, i);
        for (int q = 0; q < kQueries; ++q)
          V::store(query[q].y + i, V::fma(v, V::set(weight[q]), V::load_floats(query[q].y + i)));
      }
      for (int64_t i = whole; i < dim; ++i)
        for (int q = 0; q < kQueries; ++q) query[q].y[i] += key_at<kHalf>(value, i) * weight[q];
    }
  }
  for (int q = 0; q < kQueries; ++q) scale<V>(query[q].y, total[q] > 0 ? 1.0f / total[q] : NAN, query[q].y, dim);
}

template <class V>
void attend(const AttendJob& job) {
  int64_t q = 0;
  for (; q + kQueryGroup <= job.count; q += kQueryGroup)
    job.half ? attend_group<V, true, kQueryGroup>(job, job.queries + q)
             : attend_group<V, false, kQueryGroup>(job, job.queries + q);
  for (; q < job.count; ++q)
    job.half ? attend_group<V, true, 1>(job, job.queries + q) : attend_group<V, false, 1>(job, job.queries + q);
}

}  // namespace soffit::cpu
