#pragma once

#include <loom/backend.h>
#include <loom/backend_abi.h>

#include <memory>

namespace loom {

// The helper's side of the boundary: a JailBackend that speaks through a C table.
//
// `table` lives for the rest of the process (backends are never unloaded). `host` is borrowed and
// must outlive the backend. Fails with kBackend when create refuses. Every later failure of the
// plugin to keep the contract (a status out of range, an answer past the ceiling or one that does
// not decode) is kBackend too and names the verb; error text is cut at 4 KiB and escaped.
[[nodiscard]] Result<std::unique_ptr<JailBackend>> make_table_backend(const loom_backend_v1& table,
                                                                      HostServices& host);

}  // namespace loom
