#include "measure/revisions.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/concat.hpp"
#include "core/escape.hpp"
#include "measure/child.hpp"

namespace soffit::measure {
namespace {

namespace fs = std::filesystem;

Result<std::string> output_of(std::vector<std::string> words, const fs::path& directory,
                              const std::function<bool()>& keep_going) {
  SOFFIT_TRY(ChildResult result, run_child({.environment = {}, .words = std::move(words)},
                                           {.directory = directory, .keep_going = keep_going}));
  while (result.out.ends_with('\n')) result.out.pop_back();
  return std::move(result.out);
}

Result<fs::path> temporary_directory() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "soffit-compare-XXXXXX").string();
  if (error || !mkdtemp(pattern.data()))
    return Error{Code::io, concat("cannot make a temporary directory: ", std::strerror(errno))};
  return fs::path(pattern);
}

}  // namespace

Result<RevisionBuilds> RevisionBuilds::create(std::span<const std::string> revisions, const BuildOptions& options) {
  RevisionBuilds all;
  SOFFIT_TRY(all.repository_,
             output_of({"git", "rev-parse", "--show-toplevel"}, options.repository, options.keep_going));
  // Names first: a build takes minutes.
  for (const std::string& revision : revisions) {
    SOFFIT_TRY(std::string commit,
               output_of({"git", "rev-parse", "--verify", "--end-of-options", revision + "^{commit}"}, all.repository_,
                         options.keep_going));
    all.builds_.push_back({revision, std::move(commit), {}});
  }
  SOFFIT_TRY(all.directory_, temporary_directory());
  for (BuiltRevision& build : all.builds_) {
    const auto step = [&](std::string_view what) {
      if (options.on_step)
        options.on_step(concat(what, " ", escaped(build.revision, 100), " (", build.commit.substr(0, 12), ")"));
    };
    const fs::path worktree = all.directory_ / std::to_string(all.worktrees_.size());
    const auto run = [&](std::vector<std::string> words, const fs::path& directory) -> Status {
      SOFFIT_CHECK(output_of(std::move(words), directory, options.keep_going));
      return {};
    };
    step("checking out");
    all.worktrees_.push_back(worktree);
    SOFFIT_CHECK(run({"git", "worktree", "add", "--detach", worktree.string(), build.commit}, all.repository_));
    step("configuring");
    SOFFIT_CHECK(run({"cmake", "--preset", "release"}, worktree));
    step("building");
    SOFFIT_CHECK(run({"cmake", "--build", "--preset", "release", "--target", "soffit_program"}, worktree));
    build.program = worktree / "build" / "release" / "soffit";
    std::error_code error;
    if (!fs::exists(build.program, error))
      return Error{Code::io, concat("the build of ", escaped(build.revision, 100), " made no build/release/soffit")};
  }
  return all;
}

RevisionBuilds::RevisionBuilds(RevisionBuilds&& other) noexcept
    : repository_(std::move(other.repository_)),
      directory_(std::exchange(other.directory_, {})),
      worktrees_(std::exchange(other.worktrees_, {})),
      builds_(std::move(other.builds_)) {}

RevisionBuilds::~RevisionBuilds() {
  if (directory_.empty()) return;
  // What fails here leaves files in the temporary directory, no more.
  for (const fs::path& worktree : worktrees_)
    (void)output_of({"git", "worktree", "remove", "--force", worktree.string()}, repository_, {});
  std::error_code error;
  fs::remove_all(directory_, error);
  (void)output_of({"git", "worktree", "prune"}, repository_, {});
}

}  // namespace soffit::measure
