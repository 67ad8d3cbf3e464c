// Two states of a git repository built side by side, each in a worktree of its own, so that building one can never
// change the other.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"

namespace soffit::measure {

struct BuiltRevision {
  std::string revision, commit;
  std::filesystem::path program;
};

struct BuildOptions {
  std::filesystem::path repository = ".";
  std::function<bool()> keep_going;                    // false stops
  std::function<void(std::string_view what)> on_step;  // "building v1.0"
};

class RevisionBuilds {
 public:
  // With the preset "release"; in a temporary directory. Other errors: a name that git does not know, a build that
  // fails, with the end of what it said.
  static Result<RevisionBuilds> create(std::span<const std::string> revisions, const BuildOptions& options);
  RevisionBuilds(RevisionBuilds&& other) noexcept;
  RevisionBuilds& operator=(RevisionBuilds&&) = delete;
  // Removes the worktrees.
  ~RevisionBuilds();

  const std::vector<BuiltRevision>& builds() const { return builds_; }

 private:
  RevisionBuilds() = default;

  std::filesystem::path repository_, directory_;  // empty: nothing to remove
  std::vector<std::filesystem::path> worktrees_;
  std::vector<BuiltRevision> builds_;
};

}  // namespace soffit::measure
