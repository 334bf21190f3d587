/* What the tests of the Windows helper run: payload MODE [ARGUMENT…]. Standard streams are binary.
 */
#include <fcntl.h>
#include <io.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>
#include <windows.h>

/* Prints UTF-16 as UTF-8 with its length in front, so that nothing can hide. */
static void print_text(const wchar_t* text) {
  char bytes[65536];
  const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, sizeof bytes, NULL, NULL);
  printf("%d:%s\n", size - 1, size > 0 ? bytes : "");
}

static int print_arguments(int argc, wchar_t** argv) {
  for (int i = 2; i < argc; ++i) print_text(argv[i]);
  return 0;
}

static int print_environment(void) {
  wchar_t* const block = GetEnvironmentStringsW();
  for (const wchar_t* each = block; *each != L'\0'; each += wcslen(each) + 1) print_text(each);
  return 0;
}

static int print_directory(void) {
  wchar_t text[4096];
  GetCurrentDirectoryW(4096, text);
  print_text(text);
  return 0;
}

/* SIZE bytes that tell their place, in blocks of our own: wine's fputc flushes at each newline,
 * which would be a write for every 256 bytes of this pattern. */
static int flood(const wchar_t* size, int descriptor) {
  unsigned char block[1 << 15];
  const uint64_t bytes = wcstoull(size, NULL, 10);
  for (uint64_t at = 0; at < bytes;) {
    unsigned filled = 0;
    for (; filled < sizeof block && at < bytes; ++at) {
      block[filled++] = (unsigned char)(at * 31 + (at >> 8));
    }
    if (_write(descriptor, block, filled) != (int)filled) return 1;
  }
  return 0;
}

static int copy_input(void) {
  char bytes[4096];
  int got = 0;
  while ((got = _read(0, bytes, sizeof bytes)) > 0) {
    if (_write(1, bytes, (unsigned)got) != got) return 1;
  }
  return got < 0 ? 1 : 0;
}

/* Writes a byte into FILE every 20 ms, for as long as it lives. */
static int tick(const wchar_t* file) {
  FILE* const out = _wfopen(file, L"wb");
  if (out == NULL) return 1;
  for (;;) {
    fputc('.', out);
    fflush(out);
    Sleep(20);
  }
}

static long size_of(const wchar_t* file) {
  struct _stat status;
  return _wstat(file, &status) == 0 ? (long)status.st_size : 0;
}

static HANDLE start_self(const wchar_t* arguments, DWORD flags) {
  wchar_t image[4096];
  GetModuleFileNameW(NULL, image, 4096);
  wchar_t line[8192];
  swprintf(line, 8192, L"payload %ls", arguments);
  STARTUPINFOW startup = {.cb = sizeof startup};
  PROCESS_INFORMATION process;
  const BOOL started =
      CreateProcessW(image, line, NULL, NULL, FALSE, flags, NULL, NULL, &startup, &process);
  return started ? process.hProcess : NULL;
}

/* Ticks into FILE.own and has a child, detached as far as Windows lets it, tick into FILE.child. */
static int tick_as_tree(const wchar_t* file, BOOL stay) {
  wchar_t text[4096];
  swprintf(text, 4096, L"tick %ls.child", file);
  const HANDLE child = start_self(text, DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
  puts(child != NULL ? "tree" : "no child");
  fflush(stdout);
  if (!stay) {
    /* Not before the child lives: it ends with this process. */
    while (child != NULL && size_of(text + wcslen(L"tick ")) < 5) Sleep(20);
    return 0;
  }
  swprintf(text, 4096, L"%ls.own", file);
  return tick(text);
}

/* Whether a child can leave the job. */
static int break_away(void) {
  const HANDLE child = start_self(L"exit 0", CREATE_BREAKAWAY_FROM_JOB);
  printf("%s\n", child != NULL ? "left" : "kept");
  return 0;
}

/* Every number that is a handle of this process, and what it is: 4 to 0x1000. */
static int print_handles(void) {
  for (uintptr_t number = 4; number < 0x1000; number += 4) {
    const HANDLE handle = (HANDLE)number;
    DWORD flags = 0;
    if (!GetHandleInformation(handle, &flags)) continue;
    const DWORD type = GetFileType(handle);
    const char* what = type == FILE_TYPE_PIPE ? "pipe" : type == FILE_TYPE_DISK ? "disk" : "other";
    if (flags & HANDLE_FLAG_INHERIT) printf("inheritable %s\n", what);
  }
  printf("descriptor 3: %s\n", _get_osfhandle(3) == -1 ? "none" : "open");
  printf("console: %s\n", GetConsoleWindow() != NULL ? "window" : "no window");
  return 0;
}

/* Whether handle NUMBER, which is the helper's, means anything here. */
static int use_handle(const wchar_t* number) {
  char text[16] = "";
  DWORD got = 0;
  const BOOL read = ReadFile((HANDLE)(uintptr_t)wcstoull(number, NULL, 16), text, 8, &got, NULL);
  printf("%s\n", read ? "read" : "refused");
  return 0;
}

/* Says who it is and waits: a process that no job of the helper's has. */
static int wait_outside(void) {
  printf("%lu\n", (unsigned long)GetCurrentProcessId());
  fflush(stdout);
  Sleep(120000);
  return 0;
}

/* Hands this standard output to process NUMBER, which keeps it open. */
static int lend_output(const wchar_t* number) {
  HANDLE there = NULL;
  const HANDLE other = OpenProcess(PROCESS_DUP_HANDLE, FALSE, (DWORD)wcstoul(number, NULL, 10));
  const BOOL lent =
      other != NULL && DuplicateHandle(GetCurrentProcess(), GetStdHandle(STD_OUTPUT_HANDLE), other,
                                       &there, 0, FALSE, DUPLICATE_SAME_ACCESS);
  puts(lent ? "lent" : "kept");
  return 0;
}

static void ignore(const wchar_t* a, const wchar_t* b, const wchar_t* c, unsigned d, uintptr_t e) {
  (void)a, (void)b, (void)c, (void)d, (void)e;
}

static int run(int argc, wchar_t** argv) {
  const wchar_t* const mode = argc > 1 ? argv[1] : L"";
  const wchar_t* const first = argc > 2 ? argv[2] : L"";
  if (wcscmp(mode, L"arguments") == 0) return print_arguments(argc, argv);
  if (wcscmp(mode, L"environment") == 0) return print_environment();
  if (wcscmp(mode, L"directory") == 0) return print_directory();
  if (wcscmp(mode, L"flood") == 0) return flood(first, 1);
  if (wcscmp(mode, L"flood-error") == 0) return flood(first, 2);
  if (wcscmp(mode, L"cat") == 0) return copy_input();
  if (wcscmp(mode, L"tick") == 0) return tick(first);
  if (wcscmp(mode, L"tree") == 0) return tick_as_tree(first, TRUE);
  if (wcscmp(mode, L"orphan") == 0) return tick_as_tree(first, FALSE);
  if (wcscmp(mode, L"break-away") == 0) return break_away();
  if (wcscmp(mode, L"handles") == 0) return print_handles();
  if (wcscmp(mode, L"use-handle") == 0) return use_handle(first);
  if (wcscmp(mode, L"outside") == 0) return wait_outside();
  if (wcscmp(mode, L"lend") == 0) return lend_output(first);
  if (wcscmp(mode, L"exit") == 0) ExitProcess((UINT)wcstoull(first, NULL, 0));
  if (wcscmp(mode, L"crash") == 0) RaiseException(0xC0000005, EXCEPTION_NONCONTINUABLE, 0, NULL);
  if (wcscmp(mode, L"sleep") == 0) {
    puts("asleep");
    fflush(stdout);
    Sleep((DWORD)wcstoull(first, NULL, 10));
    return 0;
  }
  if (wcscmp(mode, L"say") == 0) {
    fputs("to stdout\n", stdout);
    fputs("to stderr\n", stderr);
    return 0;
  }
  return 98;
}

int main(void) {
  _set_invalid_parameter_handler(ignore);
  for (int each = 0; each < 3; ++each) _setmode(each, _O_BINARY);
  /* What is printed at once arrives at once. */
  setvbuf(stdout, NULL, _IOFBF, 1 << 15);
  setvbuf(stderr, NULL, _IOFBF, 1 << 15);
  int argc = 0;
  wchar_t** const argv = CommandLineToArgvW(GetCommandLineW(), &argc);
  const int status = run(argc, argv);
  fflush(stdout);
  fflush(stderr);
  return status;
}
