// Which function and loop a lane is in, as objects that live as long.
#pragma once

#include "lane.h"

namespace soffit::lanes {

class InScope {
 public:
  constexpr explicit InScope(uint32_t scope) {
    if (!std::is_constant_evaluated()) enter(scope);
  }
  constexpr ~InScope() {
    if (!std::is_constant_evaluated()) leave();
  }
  InScope(const InScope&) = delete;
  InScope& operator=(const InScope&) = delete;

 private:
  void enter(uint32_t scope) {
    Lane& l = lane();
    node_ = l.node;
    base_ = l.base;
    site_ = l.site;
    l.hooks->enter(l, scope);
  }
  void leave() const {
    Lane& l = lane();
    l.node = node_;
    l.base = base_;
    l.site = site_;
  }

  uint32_t node_ = 0, base_ = 0, site_ = 0;
};

}  // namespace soffit::lanes
