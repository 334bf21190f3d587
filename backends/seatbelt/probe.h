#pragma once

#include <loom/backend.h>
#include <loom/result.h>

namespace loom::seatbelt {

// Before the hello: the user's directories. Before the first plan: whether the kernel takes a
// profile at all, tried with one that allows everything. A trial that ends otherwise than it should
// is an error, and may be tried again.
[[nodiscard]] Result<Bytes> probe(const ProbeRequest& request, HostServices& host);

}  // namespace loom::seatbelt
