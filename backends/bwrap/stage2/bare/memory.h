#pragma once

namespace loom::bwrap {

// Has the kernel provide the memory that a usual run takes, all at once: a page fault for each page
// costs several times as much, in a virtual machine more. Kernels before 5.14 refuse, and then the
// faults do it.
void provide_memory() noexcept;

}  // namespace loom::bwrap
