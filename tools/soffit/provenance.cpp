#include "provenance.hpp"

#include "measure/provenance.hpp"

namespace soffit::tool {
namespace {

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json hashes(const std::vector<measure::FileHash>& files) {
  Json list = Json::array();
  for (const measure::FileHash& file : files) {
    list.push_back({{"name", file.name}, {"sha256", text_or_null(file.sha256)}});
  }
  return list;
}

}  // namespace

Json provenance(const Backend& backend) {
  const measure::Provenance p = measure::provenance(measure::build_stamp(), backend);
  return {{"version", p.build.version},
          {"commit", text_or_null(p.build.commit)},
          {"dirty", p.build.dirty ? Json(*p.build.dirty) : Json()},
          {"source_sha256", p.build.source_sha256},
          {"executable_sha256", text_or_null(p.executable_sha256)},
          {"libraries", hashes(p.libraries)},
          {"shaders", hashes(p.shaders)},
          {"compiler", p.build.compiler},
          {"flags", p.build.flags},
          {"cpu", text_or_null(p.cpu)},
          {"isa", p.isa},
          {"threads", p.threads},
          {"affinity", p.affinity},
          {"pages", p.pages},
          {"load", p.load ? Json(*p.load) : Json()},
          {"device", text_or_null(p.device)},
          {"driver", text_or_null(p.driver)},
          {"date", p.date}};
}

}  // namespace soffit::tool
