// Provenance as reports carry it.
#pragma once

#include "soffit/backend.hpp"
#include "table.hpp"

namespace soffit::tool {

// Of this program, as it runs on the backend now. What the system does not say is null.
Json provenance(const Backend& backend);

}  // namespace soffit::tool
