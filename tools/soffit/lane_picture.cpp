#include "lane_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "svg.hpp"

namespace soffit::tool {
namespace {

constexpr double kWidth = 1280, kMargin = 40, kInner = kWidth - 2 * kMargin;
constexpr double kLetter = 6.3;      // of 11 px text, on the safe side
constexpr uint64_t kUnit = 256;      // weights of a panel: eight lines of a group
constexpr size_t kShownStrips = 6;   // that differ
constexpr size_t kShownLines = 10;   // of bytes
constexpr uint64_t kLineBytes = 32;  // the smallest segment that is counted

class Picture {
 public:
  Picture(const LanePictureText& text, const LaneMap& map) : text_(text), map_(map) {}

  std::string svg() {
    heading();
    if (!map_.strips.empty()) {
      legend();
      if (map_.shape.format) weights();
      bytes();
    }
    y_ += 12;
    return fmt::format(
               "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' viewBox='0 0 {0:.0f} {1:.0f}' "
               "font-family='DejaVu Sans, Verdana, sans-serif' font-size='11'>\n"
               "<rect width='100%' height='100%' fill='white'/>\n",
               kWidth, y_) +
           out_ + "</svg>\n";
  }

 private:
  void write(double x, double y, const std::string& text, double size = 11, const char* style = "") {
    out_ += fmt::format("<text x='{:.1f}' y='{:.1f}' font-size='{:.0f}' {}>{}</text>\n", x, y, size, style,
                        escaped_xml(text));
  }
  void title(const std::string& text) {
    y_ += 30;
    write(kMargin, y_, text, 15, "font-weight='bold'");
  }
  void remark(const std::string& text) {
    y_ += 17;
    write(kMargin, y_, text, 11, "fill='#444'");
  }
  // A rectangle of lanes, with as much of the text as there is room for.
  void cell(double x, double y, double width, double height, LaneSet set, const std::string& text,
            const std::string& brief, const std::string& hover) {
    out_ += fmt::format(
        "<g><title>{}</title><rect x='{:.2f}' y='{:.2f}' width='{:.2f}' height='{:.1f}' fill='{}' "
        "stroke='white' stroke-width='0.8'/>",
        escaped_xml(hover), x, y, width, height, colour(set));
    for (const std::string& candidate : {text, brief}) {
      if (candidate.empty() || kLetter * double(letters(candidate)) > width - 3) continue;
      out_ += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text>", x + width / 2,
                          y + height / 2 + 4, escaped_xml(candidate));
      break;
    }
    out_ += "</g>\n";
  }

  // Hue by cohort, lightness by team; neighbours differ a little. With one cohort, hue by team.
  std::string colour(LaneSet set) const {
    static constexpr std::array kHues = {210.0, 30.0, 140.0, 285.0, 0.0, 55.0, 180.0, 325.0};
    if (set == 0) return "#ffffff";
    const auto first = uint32_t(std::countr_zero(set));
    size_t c = 0;
    while (c + 1 < map_.cohorts.size() && !(map_.cohorts[c].lanes >> first & 1)) ++c;
    const LaneCohort& cohort = map_.cohorts[c];
    size_t t = 0;
    while (t + 1 < cohort.teams.size() && !(cohort.teams[t].lanes >> first & 1)) ++t;
    const bool shared = (set & ~cohort.teams[t].lanes) != 0;  // by lanes of several teams
    const size_t hue = map_.cohorts.size() > 1 ? c : t;
    double lightness = map_.cohorts.size() > 1 && cohort.teams.size() > 1 ? (t % 2 == 0 ? 0.84 : 0.66) : 0.78;
    if (c >= kHues.size()) lightness -= 0.06;
    if (std::has_single_bit(set) && first % 2 == 1) lightness -= 0.045;
    if (shared) return hsl(kHues[hue % kHues.size()], 0.25, 0.90);
    return hsl(kHues[hue % kHues.size()], 0.62, lightness);
  }

  void heading() {
    y_ = 34;
    write(kMargin, y_, fmt::format("{}: which lane reads what, in one step of a threadgroup", text_.kernel), 19,
          "font-weight='bold'");
    remark(fmt::format(
        "{}. Step 1 of {} of threadgroup (0, 0, 0): {} of 32 lanes. Drawn from {} loads that the lane "
        "runner recorded.",
        text_.about, map_.step.steps,
        map_.simdgroups == 1 ? "a simdgroup" : fmt::format("{} simdgroups", map_.simdgroups), map_.step.recorded));
    remark(text_.figures);
  }

  bool small_blocks() const { return info(*map_.shape.format).block_elements <= kGroup; }
  // "block 3 of each row", "columns 256–511 of row 7"
  std::string blocks_text(const LaneCohort& cohort) const {
    std::vector<uint64_t> rows, blocks;
    for (const auto& [row, block] : cohort.blocks) {
      if (rows.empty() || rows.back() != row) rows.push_back(row);
      if (std::ranges::find(blocks, block) == blocks.end()) blocks.push_back(block);
    }
    std::ranges::sort(blocks);
    std::string text = small_blocks()
                           ? fmt::format("columns {}–{}", blocks.front() * kUnit, blocks.back() * kUnit + kUnit - 1)
                           : fmt::format("block{} {}", blocks.size() > 1 ? "s" : "", counted_from_one(blocks));
    uint64_t rows_of_all = 0;
    for (const LaneStrip& strip : map_.strips) rows_of_all += strip.simdgroup == map_.strips.front().simdgroup;
    if (rows.size() == rows_of_all) return text += rows_of_all > 1 ? " of each row" : "";
    return text += fmt::format(" of row{} {}{}", rows.size() > 1 ? "s" : "", rows.front(),
                               rows.size() > 1 ? fmt::format("–{}", rows.back()) : "");
  }

  void legend() {
    if (!map_.shape.format) return;
    const size_t teams = map_.cohorts.front().teams.size();
    title(map_.cohorts.size() > 1 ? "Cohorts (by colour): lanes that share blocks" : "All lanes share blocks");
    y_ += 10;
    const size_t columns = 4;
    const size_t shown = std::min<size_t>(map_.cohorts.size(), 8);
    const double width = kInner / double(columns);
    for (size_t c = 0; c < shown; ++c) {
      const LaneCohort& cohort = map_.cohorts[c];
      const double x = kMargin + width * double(c % columns);
      if (c % columns == 0 && c > 0) y_ += 24;
      for (size_t t = 0; t < std::min<size_t>(teams, 2) && t < cohort.teams.size(); ++t) {
        out_ += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='14' height='16' fill='{}'/>\n", x + 14 * double(t), y_,
                            colour(cohort.teams[t].lanes));
      }
      write(x + 34, y_ + 12, fmt::format("{}: {}", to_text(cohort.lanes), blocks_text(cohort)));
    }
    y_ += 16;
    remark("Blocks and groups are counted from 1; rows, columns, lanes and bytes from 0.");
    if (shown < map_.cohorts.size()) remark(fmt::format("and {} more cohorts", map_.cohorts.size() - shown));
    if (teams < 2) return;
    title(map_.cohorts.size() > 1 ? "Teams (light and dark): lanes of a cohort that share groups of 32 weights"
                                  : "Teams (by colour): lanes that share groups of 32 weights");
    for (size_t t = 0; t < std::min<size_t>(teams, 8); ++t) {
      std::string lanes;
      const auto& groups = map_.cohorts.front().teams[t].groups;
      for (const LaneCohort& cohort : map_.cohorts) {
        for (const LaneTeam& team : cohort.teams) {
          if (team.groups == groups) lanes += (lanes.empty() ? "" : ", ") + to_text(team.lanes);
        }
      }
      remark(fmt::format("Team {}: {} {} of its {}; {}", letter(t), groups.size() > 1 ? "groups" : "group",
                         counted_from_one(groups), small_blocks() ? "256 columns" : "block", lanes));
    }
    if (teams > 8) remark(fmt::format("and {} more teams", teams - 8));
  }
  static std::string letter(size_t team) { return team < 26 ? std::string(1, char('A' + team)) : std::to_string(team); }

  // Strips that differ in more than their row, each with those that are as it is.
  void weights() {
    std::vector<std::pair<const LaneStrip*, std::string>> distinct;
    for (const LaneStrip& strip : map_.strips) {
      const auto same = [&](const auto& other) { return other.first->weights == strip.weights; };
      const auto found = std::ranges::find_if(distinct, same);
      const std::string name = fmt::format("row {} (simdgroup {})", strip.row, strip.simdgroup);
      if (found == distinct.end()) {
        distinct.emplace_back(&strip, "");
      } else {
        found->second += (found->second.empty() ? "" : ", ") + name;
      }
    }
    title("Weights: a box is a lane's, a line a group of 32 weights, a panel 256 weights of a row");
    for (size_t s = 0; s < std::min(distinct.size(), kShownStrips); ++s) {
      const auto& [strip, others] = distinct[s];
      remark(fmt::format("Row {} (simdgroup {}){}", strip->row, strip->simdgroup,
                         others.empty() ? "" : "; the same lanes for the same columns: " + shortened(others, 150)));
      y_ += 8;
      units(*strip);
    }
    if (distinct.size() > kShownStrips)
      remark(fmt::format("and {} more rows with other lanes", distinct.size() - kShownStrips));
    if (!map_.activations) return;
    remark(fmt::format(
        "Activations: a lane reads {} in the step, {}.", map_.activations,
        map_.own_activations ? "those of its own weights' columns" : "not exactly those of its own weights"));
  }
  static std::string shortened(const std::string& text, size_t most) {
    if (letters(text) <= most) return text;
    const size_t comma = text.rfind(", ", most);
    return text.substr(0, comma) + " and more";
  }

  // The strip's panels, four side by side.
  void units(const LaneStrip& strip) {
    std::vector<uint64_t> list;
    for (const auto& [column, set] : strip.weights) {
      if (list.empty() || list.back() != column / kUnit) list.push_back(column / kUnit);
    }
    const size_t across = std::min<size_t>(list.size(), 4);
    const double width = kInner / double(across), label = 44;
    const double weight = std::min((width - label - 12) / kGroup, 24.0), line = 17;
    uint64_t lines = 0;
    for (size_t u = 0; u < std::min<size_t>(list.size(), 16); ++u) {
      const double x = kMargin + width * double(u % across);
      if (u % across == 0 && u > 0) y_ += line * double(lines) + 30;
      if (u % across == 0) lines = 0;
      write(x + label, y_ + 12, unit_name(list[u]), 11, "font-weight='bold'");
      const double top = y_ + 18;
      for (uint64_t g = 0; g < kUnit / kGroup; ++g) {
        const uint64_t first = list[u] * kUnit + g * kGroup;
        LaneSet in_line = 0;
        for (uint64_t w = 0; w < kGroup;) {
          const LaneSet set = set_at(strip, first + w);
          uint64_t end = w + 1;
          while (end < kGroup && set_at(strip, first + end) == set) ++end;
          in_line |= set;
          if (set) {
            cell(x + label + weight * double(w), top + line * double(g), weight * double(end - w), line, set,
                 to_text(set), "", fmt::format("columns {} to {}: {}", first + w, first + end - 1, to_text(set)));
          }
          w = end;
        }
        if (in_line) lines = g + 1;
        if (in_line) line_label(x + label - 6, top + line * double(g) + 12, list[u], g, in_line);
      }
    }
    y_ += line * double(lines) + 24;
  }
  static LaneSet set_at(const LaneStrip& strip, uint64_t column) {
    const auto found = strip.weights.find(column);
    return found == strip.weights.end() ? 0 : found->second;
  }
  std::string unit_name(uint64_t unit) const {
    const uint32_t elements = info(*map_.shape.format).block_elements;
    const uint64_t first = unit * kUnit;
    if (elements == kUnit) return fmt::format("block {}: columns {} to {}", unit + 1, first, first + kUnit - 1);
    return fmt::format("columns {} to {}", first, first + kUnit - 1);
  }
  // The group's number in its block, or the block's in the row, and its team.
  void line_label(double right, double y, uint64_t unit, uint64_t group, LaneSet lanes) {
    const uint32_t elements = info(*map_.shape.format).block_elements;
    std::string text = elements == kGroup  ? fmt::format("b{}", unit * kUnit / kGroup + group + 1)
                       : elements > kGroup ? std::to_string(group + 1)
                                           : std::string();
    for (const LaneCohort& cohort : map_.cohorts) {
      for (size_t t = 0; t < cohort.teams.size() && cohort.teams.size() > 1; ++t) {
        if ((lanes & ~cohort.teams[t].lanes) == 0) text += fmt::format(" {}", letter(t));
      }
    }
    write(right, y, text, 11, "text-anchor='end' fill='#333'");
  }

  // The first bytes of the first strip, in lines of the smallest segment.
  void bytes() {
    const LaneStrip& strip = map_.strips.front();
    const uint64_t row_begin = strip.row * map_.shape.row_bytes;
    const uint64_t block_bytes = block_size();
    std::string of_blocks = block_bytes ? fmt::format("blocks of {} bytes of row {}, ", block_bytes, strip.row) : "";
    title(fmt::format("Bytes: {}in segments of 32 by their offset in the buffer", of_blocks));
    const uint64_t first_block_end = block_bytes ? (strip.bytes.begin()->first / block_bytes + 1) * block_bytes : 0;
    uint64_t last_line = ~uint64_t(0);
    size_t shown = 0;
    const double label = 64, byte = (kInner - label) / kLineBytes, height = 22;
    y_ += 12;
    for (auto at = strip.bytes.begin(); at != strip.bytes.end();) {
      const uint64_t line = (row_begin + at->first) / kLineBytes;
      if (line != last_line) {
        const bool enough = block_bytes > kLineBytes && line * kLineBytes >= row_begin + first_block_end;
        if (shown == kShownLines || enough) break;
        if (shown++) y_ += height + 8;
        last_line = line;
        write(kMargin + label - 8, y_ + 15, std::to_string(line * kLineBytes), 11, "text-anchor='end' fill='#333'");
      }
      // As far as the same lanes read, in the line and the block, codes or scales.
      auto end = std::next(at);
      while (end != strip.bytes.end() && goes_on(*std::prev(end), *end, row_begin)) ++end;
      const uint64_t first = at->first, count = std::prev(end)->first + 1 - first;
      const double x = kMargin + label + byte * double((row_begin + first) % kLineBytes);
      const std::string what = contents(first, count), lanes = to_text(at->second);
      cell(x, y_, byte * double(count), height, at->second, what.empty() ? lanes : fmt::format("{}: {}", lanes, what),
           lanes, fmt::format("bytes {} to {} of the row: {} {}", first, first + count - 1, lanes, what));
      if (block_bytes && first % block_bytes == 0) {
        out_ += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='2' height='{:.1f}' fill='black'/>\n", x - 1, y_ - 3,
                            height + 6);
      }
      at = end;
    }
    y_ += height;
    remark(block_bytes ? "A black bar is where a block begins. White bytes are read by no lane in this step."
                       : "White bytes are read by no lane in this step.");
  }
  // Bytes of a block of several weights; 0 where there is none.
  uint64_t block_size() const {
    if (!map_.shape.format || info(*map_.shape.format).block_elements == 1) return 0;
    return info(*map_.shape.format).block_bytes;
  }
  bool is_code(uint64_t at) const {
    return map_.shape.format && !map_.weights_of_bytes[at % map_.weights_of_bytes.size()].empty();
  }
  bool goes_on(const std::pair<const uint64_t, LaneSet>& a, const std::pair<const uint64_t, LaneSet>& b,
               uint64_t row_begin) const {
    const auto line = [&](uint64_t at) { return (row_begin + at) / kLineBytes; };
    const uint64_t block = block_size() ? block_size() : ~uint64_t(0);
    return b.first == a.first + 1 && a.second == b.second && line(a.first) == line(b.first) &&
           a.first / block == b.first / block && is_code(a.first) == is_code(b.first);
  }
  // "weights 1–8, 33–40" of a run of codes; "scales" of anything else of a block.
  std::string contents(uint64_t first, uint64_t count) const {
    if (!map_.shape.format) return "";
    if (!is_code(first)) return "scales";
    std::vector<bool> held(info(*map_.shape.format).block_elements);
    for (uint64_t at = first; at < first + count; ++at) {
      for (const uint32_t w : map_.weights_of_bytes[at % map_.weights_of_bytes.size()]) held[w] = true;
    }
    if (held.size() == 1) return "";
    std::string text = "weights";
    for (size_t w = 0; w < held.size(); ++w) {
      if (!held[w]) continue;
      size_t end = w;
      while (end + 1 < held.size() && held[end + 1]) ++end;
      text += fmt::format("{} {}", text == "weights" ? "" : ",", w);
      if (end > w) text += fmt::format("–{}", end);
      w = end;
    }
    return text;
  }

  const LanePictureText& text_;
  const LaneMap& map_;
  std::string out_;
  double y_ = 0;
};

}  // namespace

std::string lane_picture(const LanePictureText& text, const LaneMap& map) { return Picture(text, map).svg(); }

}  // namespace soffit::tool
