"""Tools that filters tend to break: debuggers, sanitizers, runtimes with threads, rings and pipes of
their own. Each shows that it worked, not only that it ended well."""

from jail import *

SETTING = "HOME=/tmp TERM=dumb; export HOME TERM; "

COUNTED = """
#include <stdio.h>
static int counted(int n) { return n ? n + counted(n - 1) : 0; }
int main(void) { printf("%d\\n", counted(4)); fflush(stdout); return 3; }
"""

LEAKING = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void drop(void) { void *lost = malloc(1234); memset(lost, 1, 1234); }
int main(int argc, char **argv) {
  drop();
  if (argc > 1) { char *gone = malloc(8); free(gone); return gone[0]; }
  puts("ended");
  fflush(stdout);
  return 0;
}
"""

CLEAN = """
#include <stdio.h>
#include <stdlib.h>
int main(void) { free(malloc(1234)); puts("clean"); return 0; }
"""

THREADS = """
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
int main() {
  std::atomic<int> sum{0};
  std::vector<std::thread> all;
  for (int i = 1; i <= 8; ++i) all.emplace_back([&sum, i] { sum += i; });
  for (auto &each : all) each.join();
  std::printf("%d\\n", sum.load());
}
"""

MAKEFILE = """
all: $(addprefix made/,$(shell seq 40))
\t@ls made | wc -l
made/%: | made
\t@sleep 0.01; echo $* >$@; $(MAKE) --no-print-directory -s -f inner.mk NUMBER=$* >/dev/null
made:
\t@mkdir -p made
"""

NODE = """
const {Worker} = require('worker_threads');
const {execFileSync, spawn} = require('child_process');
const {mkdtempSync, writeFileSync, promises} = require('fs');
const code = 'require("worker_threads").parentPort.postMessage(6 * 7)';
new Worker(code, {eval: true}).on('message', async (answer) => {
  console.log('worker', answer);
  console.log('child', execFileSync('/bin/echo', ['spoken']).toString().trim());
  const place = mkdtempSync('/tmp/node-');
  await promises.writeFile(place + '/file', 'text');
  console.log('file', (await promises.readFile(place + '/file')).toString());
  const wasm = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  console.log('wasm', (await WebAssembly.instantiate(wasm)).instance instanceof WebAssembly.Instance);
  const pipe = spawn('/bin/cat');
  pipe.stdout.on('data', (text) => console.log('pipe', text.toString()));
  pipe.stdin.end('through');
});
"""

MULTIPROCESSING = """
import asyncio, concurrent.futures, multiprocessing as m
def square(n):
    return n * n
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        with m.get_context(method).Pool(4) as pool:
            print(method, sum(pool.map(square, range(10))))
    with m.Manager() as manager:
        shared = manager.list([1])
        child = m.Process(target=shared.append, args=(2,))
        child.start()
        child.join()
        print("manager", list(shared))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print("executor", list(pool.map(square, [3])))
    asyncio.run(asyncio.sleep(0))
    print("asyncio")
"""

ERLANG = (
    "io:format(\"~p~n\", [lists:sum([receive {N, S} -> S end || N <- [begin P = self(), "
    "spawn(fun() -> P ! {K, K * K} end), K end || K <- lists:seq(1, 100)]])]), "
    "io:format(\"~s\", [os:cmd(\"echo port\")]), halt(0)."
)


class ToolCase(JailCase):
    def tool(self, name):
        path = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
        if path is None:
            self.skipTest(f"{name} is not installed")
        return path

    def compiled(self, name, text, *options):
        """A program built outside; the jail only runs it."""
        compiler = self.tool("g++" if name.endswith(".cc") else "gcc")
        source, program = self.file("ws", name, text=text), self.path("ws", "program")
        subprocess.run([compiler, *options, "-o", program, source], check=True, timeout=LIMIT)
        return program

    def modes(self):
        return [self.policy(network={"mode": mode}) for mode in ("off", "full")]

    def ran(self, script, policy=None, args=(), status=0):
        """What it printed on both streams; it ended with `status`."""
        run = self.shell(SETTING + 'cd "$0" && ' + script, policy, args=args)
        text = (bytes(run.stdout) + bytes(run.stderr)).decode("utf-8", "replace")
        self.assertEqual(run.code, status, text)
        self.assertIn("seccomp-deny", run.enforcement)
        return text

    def shell(self, script, policy=None, args=(), **how):
        run = self.execute([SH, "-c", "echo begin\n" + script, self.ws, *args], policy, **how)
        self.assertTrue(run.stdout.startswith(b"begin\n"), self.story(run))
        return run


class Tracers(ToolCase):
    def test_gdb_stops_its_child_in_a_function_and_reads_its_variables(self):
        self.tool("gdb")
        program = self.compiled("counted.c", COUNTED, "-g", "-O0")
        words = "-ex 'break counted if n == 2' -ex run -ex bt -ex 'print n' -ex continue"
        for policy in self.modes():
            said = self.ran(f'gdb -q -nx -batch {words} "$1" 2>&1', policy, args=[program])
            for part in ("Breakpoint 1, counted (n=2)", "#2  0x", "in main ()", "$1 = 2", "10\n", "exited with code 03"):
                self.assertIn(part, said)

    def test_gdb_attaches_to_a_process_of_the_same_jail(self):
        self.tool("gdb")
        script = (
            "sleep 60 & gdb -q -nx -batch -p $! -ex 'info proc' -ex detach 2>&1; kill $! && echo alive"
        )
        allowed = self.text("/proc/sys/kernel/yama/ptrace_scope").strip() == "0" if os.path.exists(
            "/proc/sys/kernel/yama/ptrace_scope"
        ) else True
        said = self.ran(script)
        self.assertEqual("detached]" in said, allowed, said)
        self.assertIn("alive\n", said)

    def test_strace_follows_children(self):
        self.tool("strace")
        for policy in self.modes():
            said = self.ran("strace -f -e trace=execve sh -c '/bin/echo one; /bin/echo two' 2>&1", policy)
            self.assertRegex(said, r"\[pid +\d+\] execve\(\"/bin/echo\", \[\"/bin/echo\", \"one\"\]")
            self.assertIn("one\n", said)
            self.assertIn("+++ exited with 0 +++", said)


class Sanitizers(ToolCase):
    def test_a_program_under_the_address_sanitizer_finds_its_leaks(self):
        program = self.compiled("leaking.c", LEAKING, "-g", "-fsanitize=address")
        for policy in self.modes():
            said = self.ran('ASAN_OPTIONS=detect_leaks=1 "$1"', policy, args=[program], status=1)
            self.assertIn("ended\n", said)
            self.assertIn("LeakSanitizer: detected memory leaks", said)
            self.assertIn("1234 byte(s) leaked in 1 allocation(s)", said)
            self.assertNotIn("fatal error", said)
        said = self.ran('"$1" use', args=[program], status=1)
        self.assertIn("heap-use-after-free", said)

    def test_one_without_leaks_ends_well(self):
        program = self.compiled("clean.c", CLEAN, "-fsanitize=address")
        self.assertEqual(self.ran('ASAN_OPTIONS=detect_leaks=1 "$1"', args=[program]), "begin\nclean\n")


class Builds(ToolCase):
    def test_threads_of_a_c_library_start(self):
        program = self.compiled("threads.cc", THREADS, "-pthread")
        for policy in self.modes():
            self.assertEqual(self.ran('"$1"', policy, args=[program]), "begin\n36\n")

    def test_a_parallel_make_builds_everything(self):
        self.tool("make")
        self.file("ws/Makefile", text=MAKEFILE)
        self.file("ws/inner.mk", text="all:\n\t@echo $(NUMBER)\n")
        self.assertEqual(self.ran("make -s -j 8"), "begin\n40\n")
        self.assertEqual(len(os.listdir(self.path("ws/made"))), 40)

    def test_a_compiler_with_a_pipe_to_its_assembler_works_inside(self):
        self.tool("gcc")
        self.file("ws/counted.c", text=COUNTED)
        said = self.ran("gcc -pipe -flto -o counted counted.c && ./counted", status=3)
        self.assertEqual(said, "begin\n10\n")


class Runtimes(ToolCase):
    # field B76
    def test_node_runs_workers_children_files_and_webassembly(self):
        self.tool("node")
        self.file("ws/all.js", text=NODE)
        due = {"worker 42", "child spoken", "file text", "wasm true", "pipe through"}
        for policy in self.modes():
            said = self.ran("node all.js", policy)
            self.assertEqual(set(said.splitlines()), {"begin", *due}, said)

    # field B76
    def test_pythons_multiprocessing_works_by_every_method(self):
        self.file("ws/all.py", text=MULTIPROCESSING)
        due = ["begin", "fork 285", "spawn 285", "forkserver 285", "manager [1, 2]", "executor [9]", "asyncio"]
        for policy in self.modes():
            self.assertEqual(self.ran(f"{PYTHON} all.py", policy).splitlines(), due)

    def test_a_go_program_searches_with_many_threads(self):
        self.tool("fzf")
        for policy in self.modes():
            said = self.ran("seq 100000 | fzf --filter 99999; seq 1000 | fzf -f nothing || echo none", policy)
            self.assertEqual(said, "begin\n99999\nnone\n")

    def test_erlang_sends_messages_and_opens_ports(self):
        self.tool("erl")
        self.file("ws/script", text=ERLANG)
        said = self.ran('erl -noshell -eval "$(cat script)"')
        self.assertEqual(said, "begin\n338350\nport\n")


if __name__ == "__main__":
    unittest.main()
