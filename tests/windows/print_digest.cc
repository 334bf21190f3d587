// What core/sdk/digest_windows.cc makes of standard input: SHA-256 in hexadecimal (test_digest.py).
#include <fcntl.h>
#include <io.h>
#include <loom/bytes.h>
#include <loom/digest.h>

#include <array>
#include <cstdio>

int main() {
  ::_setmode(0, _O_BINARY);
  loom::Bytes bytes;
  std::array<std::byte, 65'536> block;
  for (;;) {
    const int got = ::_read(0, block.data(), static_cast<unsigned>(block.size()));
    if (got < 0) return 1;
    if (got == 0) break;
    bytes.insert(bytes.end(), block.begin(), block.begin() + got);
  }
  std::puts(loom::sha256_hex(bytes).c_str());
  return 0;
}
