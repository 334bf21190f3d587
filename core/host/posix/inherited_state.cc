#include "host/inherited_state.h"

namespace loom::host {

// No backend of these systems lets a jail wait for its command.
Result<InheritedState> InheritedState::open() { return InheritedState(); }

Result<Bytes> InheritedState::now() const { return Bytes(); }

}  // namespace loom::host
