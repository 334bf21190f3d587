/* launch_with_policy POLICY|- HELPER [ARGUMENT…]: opens the policy as descriptor 3 of the C runtime
 * and becomes a parent that waits for the helper. This is how a broker on Windows hands the policy
 * over: the runtime's spawn functions describe every inheritable descriptor in
 * STARTUPINFO.lpReserved2, and the helper's runtime opens them under the same numbers. "-": no
 * descriptor 3. Standard input, output and error pass through. Arguments without blanks or quotes
 * only. */
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc < 3) return 99;
  if (argv[1][0] != '-') {
    const int file = _open(argv[1], _O_RDONLY | _O_BINARY);
    if (file < 0) {
      perror(argv[1]);
      return 99;
    }
    if (file != 3 && (_dup2(file, 3) != 0 || _close(file) != 0)) return 99;
  }
  const intptr_t status = _spawnv(_P_WAIT, argv[2], (const char* const*)(argv + 2));
  if (status < 0) perror(argv[2]);
  return status < 0 ? 99 : (int)status;
}
