#include "roofline_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "svg.hpp"

namespace soffit::tool {
namespace {

constexpr double kWidth = 1200, kHeight = 800;
constexpr double kLeft = 90, kRight = 1170, kTop = 60, kBottom = 720;
constexpr double kTextHeight = 13, kLetter = 6.7;  // of 12 px text, on the safe side
constexpr std::array kColours = {"#0b62a4", "#c0392b", "#2d7d46", "#8e44ad", "#b9770e", "#555555"};

struct Point {
  double x = 0, y = 0;
};
struct Box {
  double left, top, right, bottom;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

// A logarithmic axis.
struct Axis {
  double low, high, from, to;
  double at(double value) const {
    return from + (to - from) * (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  }
};

// Texts put where nothing else is.
class Labels {
 public:
  void occupy(const Box& box) { taken_.push_back(box); }

  // Beside the point, as near as there is room; a thin line leads to it from further away.
  std::string place(const std::string& text, Point point, const char* colour, bool bold = false) {
    const double width = kLetter * double(letters(text)) * (bold ? 1.14 : 1);
    for (double distance = 8; distance < 420; distance += 6) {
      for (int step = 0; step < 24; ++step) {
        const double angle = 2 * M_PI * step / 24, x = point.x + distance * std::cos(angle),
                     y = point.y + distance * std::sin(angle);
        const double left = std::cos(angle) < -0.3 ? x - width : std::cos(angle) > 0.3 ? x : x - width / 2;
        const Box box = {left - 1, y - kTextHeight / 2 - 1, left + width + 1, y + kTextHeight / 2 + 1};
        if (box.left < kLeft + 2 || box.right > kRight - 2 || box.top < kTop + 2 || box.bottom > kBottom - 2) continue;
        if (std::ranges::any_of(taken_, [&](const Box& other) { return other.meets(box); })) continue;
        taken_.push_back(box);
        std::string svg;
        if (distance > 14) {
          const double end = std::clamp(point.x, box.left, box.right);
          svg += fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='{}' stroke-width='0.5'/>\n",
                             point.x, point.y, end, std::clamp(point.y, box.top, box.bottom), colour);
        }
        return svg + fmt::format("<text x='{:.1f}' y='{:.1f}' fill='{}'{}>{}</text>\n", left, y + 4, colour,
                                 bold ? " font-weight='bold'" : "", escaped_xml(text));
      }
    }
    return "";  // the table has it
  }

 private:
  std::vector<Box> taken_;
};

struct Ceiling {
  std::string name;
  double value;
};

// Those with the most threads, which the kernels ran with.
std::vector<Ceiling> ceilings(const Json& list, const char* name, const char* value) {
  int threads = 0;
  for (const Json& ceiling : list) threads = std::max(threads, ceiling.value("threads", 0));
  std::vector<Ceiling> result;
  for (const Json& ceiling : list) {
    if (ceiling.value("threads", 0) == threads)
      result.push_back({ceiling[name].get<std::string>(), ceiling[value].get<double>()});
  }
  return result;
}

struct Machine {
  std::string name;
  std::vector<Ceiling> reads, peaks;
  std::vector<std::pair<std::string, Point>> kernels;
  double peak = 0, slowest_read = 0;

  explicit Machine(const Json& report)
      : name(report["machine"]["name"].get<std::string>()),
        reads(ceilings(report["ceilings"]["read"], "level", "gb_per_second")),
        peaks(ceilings(report["ceilings"]["arithmetic"], "name", "gflops")) {
    for (const Ceiling& c : peaks) peak = std::max(peak, c.value);
    slowest_read = reads.front().value;
    for (const Ceiling& c : reads) slowest_read = std::min(slowest_read, c.value);
    for (const Json& k : report["kernels"]) {
      const std::string format = k["format"].get<std::string>();
      const int64_t n = k.value("n", int64_t(1));
      kernels.emplace_back(n == 1 ? format : fmt::format("{} ×{}", format, n),
                           Point{k["intensity"].get<double>(), k["gflops"].get<double>()});
    }
  }
};

class Chart {
 public:
  explicit Chart(const std::vector<Json>& reports) {
    for (const Json& report : reports) machines_.emplace_back(report);
    double left = 1, right = 64, low = 1e300, high = 1;
    for (const Machine& m : machines_) {
      right = std::max(right, 4 * m.peak / m.slowest_read);
      // Where the fastest read meets the peak is on the chart too.
      for (const Ceiling& read : m.reads) left = std::min(left, m.peak / read.value / 2);
      high = std::max(high, m.peak);
      for (const auto& [label, point] : m.kernels) {
        left = std::min(left, point.x / 2), right = std::max(right, point.x * 2);
        low = std::min(low, point.y), high = std::max(high, point.y);
      }
      low = std::min(low, m.slowest_read * left);
    }
    x_ = {std::exp2(std::floor(std::log2(left))), std::exp2(std::ceil(std::log2(right))), kLeft, kRight};
    y_ = {std::pow(10, std::floor(std::log10(low / 1.5))), high * 2.5, kBottom, kTop};
  }

  std::string svg() {
    text_ = fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' "
        "font-family='Helvetica, Arial, sans-serif' font-size='12'>\n<rect width='{0}' height='{1}' fill='white'/>\n"
        "<text x='{2}' y='28' font-size='18' font-weight='bold'>Roofline: kernels and the ceilings of the "
        "machine</text>\n",
        kWidth, kHeight, kLeft);
    axes();
    double legend = kLeft;
    for (size_t i = 0; i < machines_.size(); ++i) {
      const char* colour = kColours[i % kColours.size()];
      text_ += fmt::format("<circle cx='{:.1f}' cy='45' r='4' fill='{}'/><text x='{:.1f}' y='49' fill='{}'>{}</text>\n",
                           legend + 5, colour, legend + 14, colour, escaped_xml(machines_[i].name));
      legend += 34 + kLetter * double(letters(machines_[i].name));
    }
    // Marks first, so that no label is put on one.
    for (size_t i = 0; i < machines_.size(); ++i) marks(machines_[i], kColours[i % kColours.size()]);
    for (size_t i = 0; i < machines_.size(); ++i) lines(machines_[i], kColours[i % kColours.size()]);
    for (size_t i = 0; i < machines_.size(); ++i) captions(machines_[i], kColours[i % kColours.size()]);
    for (size_t i = 0; i < machines_.size(); ++i) {
      for (const auto& [label, point] : machines_[i].kernels) {
        text_ += labels_.place(label, at(point), kColours[i % kColours.size()]);
      }
    }
    return text_ + "</svg>\n";
  }

 private:
  Point at(Point p) const { return {x_.at(p.x), y_.at(p.y)}; }

  void grid_line(Point from, Point to) {
    text_ += fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='#dddddd'/>\n", from.x, from.y,
                         to.x, to.y);
  }

  void axes() {
    for (double x = x_.low; x <= x_.high * 1.001; x *= 2) {
      grid_line({x_.at(x), kTop}, {x_.at(x), kBottom});
      text_ += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{:g}</text>\n", x_.at(x), kBottom + 18, x);
    }
    for (double decade = y_.low; decade <= y_.high; decade *= 10) {
      for (const int step : {1, 2, 5}) {
        const double y = decade * step;
        if (y > y_.high) break;
        grid_line({kLeft, y_.at(y)}, {kRight, y_.at(y)});
        text_ += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{:g}</text>\n", kLeft - 8, y_.at(y) + 4, y);
      }
    }
    text_ += fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='black'/>\n", kLeft, kTop,
                         kRight - kLeft, kBottom - kTop);
    text_ += fmt::format(
        "<text x='{}' y='{}' text-anchor='middle' font-size='14'>intensity, FLOP per byte of weights</text>\n"
        "<text transform='translate(28 {}) rotate(-90)' text-anchor='middle' font-size='14'>GFLOP/s</text>\n",
        (kLeft + kRight) / 2, kBottom + 46, (kTop + kBottom) / 2);
  }

  void marks(const Machine& m, const char* colour) {
    for (const auto& [label, point] : m.kernels) {
      const Point p = at(point);
      text_ += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3.5' fill='{}'/>\n", p.x, p.y, colour);
      labels_.occupy({p.x - 4, p.y - 4, p.x + 4, p.y + 4});
    }
  }

  // The part of a line between two intensities, which labels keep away from.
  void line(Point from, Point to, const char* colour, bool strong) {
    const Point a = at(from), b = at(to);
    text_ += fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='{}' stroke-width='{}'{}/>\n",
                         a.x, a.y, b.x, b.y, colour, strong ? 2 : 1, strong ? "" : " stroke-dasharray='5 4'");
    constexpr int kPieces = 200;
    for (int i = 0; i < kPieces; ++i) {
      const auto on = [&](int k) { return Point{a.x + (b.x - a.x) * k / kPieces, a.y + (b.y - a.y) * k / kPieces}; };
      const Point p = on(i), q = on(i + 1);
      labels_.occupy({std::min(p.x, q.x), std::min(p.y, q.y) - 1, std::max(p.x, q.x), std::max(p.y, q.y) + 1});
    }
  }

  void lines(const Machine& m, const char* colour) {
    for (const Ceiling& read : m.reads) {
      const double from = std::max(x_.low, y_.low / read.value), ridge = m.peak / read.value;
      line({from, from * read.value}, {ridge, m.peak}, colour, read.value == m.slowest_read);
    }
    double fastest = 0;
    for (const Ceiling& read : m.reads) fastest = std::max(fastest, read.value);
    for (const Ceiling& peak : m.peaks) {
      line({std::max(x_.low, peak.value / fastest), peak.value}, {x_.high, peak.value}, colour, peak.value == m.peak);
    }
    const double ridge = m.peak / m.slowest_read;
    const Point p = at({ridge, m.peak});
    text_ += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='5' fill='white' stroke='{}' stroke-width='2'/>\n", p.x,
                         p.y, colour);
    labels_.occupy({p.x - 6, p.y - 6, p.x + 6, p.y + 6});
  }

  // Once all lines are there.
  void captions(const Machine& m, const char* colour) {
    // Captions on the way up, spread so that they do not meet on parallel lines.
    for (size_t i = 0; i < m.reads.size(); ++i) {
      const double from = std::max(x_.low, y_.low / m.reads[i].value), ridge = m.peak / m.reads[i].value;
      const double x = from * std::pow(ridge / from, 0.62);
      text_ += labels_.place(fmt::format("{} {:.4g} GB/s", m.reads[i].name, m.reads[i].value),
                             at({x, x * m.reads[i].value}), colour, true);
    }
    for (const Ceiling& peak : m.peaks) {
      text_ += labels_.place(fmt::format("{} {:.4g} GFLOP/s", peak.name, peak.value), at({x_.high / 1.8, peak.value}),
                             colour, true);
    }
    const double ridge = m.peak / m.slowest_read;
    text_ += labels_.place(fmt::format("ridge {:.3g} FLOP/B", ridge), at({ridge, m.peak}), colour, true);
  }

  std::vector<Machine> machines_;
  Axis x_, y_;
  Labels labels_;
  std::string text_;
};

}  // namespace

std::string chart_fault(const Json& report) {
  const auto fault = [&](const char* list, std::initializer_list<const char*> texts,
                         std::initializer_list<const char*> numbers, const Json& items) -> std::string {
    if (!items.is_array()) return fmt::format("{} is no array", list);
    for (const Json& item : items) {
      if (!item.is_object()) return fmt::format("{} has an element that is no object", list);
      for (const char* key : texts) {
        if (!item.contains(key) || !item[key].is_string()) return fmt::format("{} without a text '{}'", list, key);
      }
      for (const char* key : numbers) {
        const bool good = item.contains(key) && item[key].is_number() && item[key].get<double>() > 0;
        if (!good) return fmt::format("{} without a positive number '{}'", list, key);
      }
      if (item.contains("threads") && !item["threads"].is_number_integer()) return fmt::format("{}: threads", list);
      if (item.contains("n") && !item["n"].is_number_integer()) return fmt::format("{}: n", list);
    }
    return "";
  };
  if (!report.is_object()) return "no report of soffit roofline: not an object";
  const Json machine = report.value("machine", Json()), all = report.value("ceilings", Json());
  if (!machine.is_object() || !machine.contains("name") || !machine["name"].is_string()) return "no machine.name";
  if (!all.is_object()) return "no ceilings";
  const Json read = all.value("read", Json()), arithmetic = all.value("arithmetic", Json());
  if (read.is_array() && read.empty()) return "no ceilings.read";
  if (arithmetic.is_array() && arithmetic.empty()) return "no ceilings.arithmetic";
  std::string text = fault("ceilings.read", {"level"}, {"gb_per_second"}, read);
  if (text.empty()) text = fault("ceilings.arithmetic", {"name"}, {"gflops"}, arithmetic);
  if (text.empty()) text = fault("kernels", {"format"}, {"intensity", "gflops"}, report.value("kernels", Json()));
  return text;
}

std::string roofline_svg(const std::vector<Json>& reports) { return Chart(reports).svg(); }

std::string roofline_html(const std::vector<Json>& reports) {
  return "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>Roofline</title></head>\n<body>\n" +
         roofline_svg(reports) + "</body></html>\n";
}

}  // namespace soffit::tool
