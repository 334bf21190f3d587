"""One policy that denies by default, with a directory of the system's and one that the command can
write, and two things taken out of them: what runs, what does not, and what a table cannot see. Every
denial has a twin beside it that is admitted in the same run.
"""

from jail import *

LINKER = "/lib64/ld-linux-x86-64.so.2"

# argv: "data" or "run", and a program. A memory file that may be executed, and one that may not.
MEMORY_FILE = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int filled(unsigned flags, const char *from) {
  int memory = syscall(SYS_memfd_create, "memory", flags);
  int file = open(from, O_RDONLY);
  char buffer[65536];
  ssize_t got;
  if (memory < 0 || file < 0) return -1;
  while ((got = read(file, buffer, sizeof buffer)) > 0) {
    if (write(memory, buffer, got) != got) return -1;
  }
  return memory;
}
int main(int argc, char **argv) {
  const int seal = 8; /* MFD_NOEXEC_SEAL, kernel 6.3 */
  char *const words[] = {argv[2], NULL};
  int memory = filled(strcmp(argv[1], "any") == 0 ? 0 : seal, argv[2]);
  if (memory < 0) { printf("%s: %s\n", argv[1], strerror(errno)); return 1; }
  if (strcmp(argv[1], "data") == 0) {
    char first[4] = {0};
    if (pread(memory, first, 4, 0) != 4 || memcmp(first, "\177ELF", 4) != 0) return 1;
    puts("data: read back");
    return 0;
  }
  fexecve(memory, words, words);
  printf("%s: %s\n", argv[1], strerror(errno));
  return 1;
}
"""


class DenyByDefault(JailCase):
    def setUp(self):
        super().setUp()
        self.bin = self.directory("ws", "bin")
        self.python = os.path.realpath(PYTHON)
        for program in ("/usr/bin/curl", "/usr/bin/git", self.python):
            self.assertTrue(os.access(program, os.X_OK), f"this test needs {program}")

    def table(self, **given):
        return {
            "default": "deny",
            "allow": [
                {"kind": "dir", "value": "/usr/bin"},
                {"kind": "dir", "value": self.bin},
            ],
            "deny": [
                {"kind": "name", "value": "curl"},
                {"kind": "file", "value": self.python},
            ],
            "support": "system",
            "memfd": "noexec",
            "required": True,
            **given,
        }

    def policy(self, **given):
        given = {"env_allow": ["PATH"], "exec": self.table(), "v": 3, **given}
        return super().policy(**given)

    def answers(self, script, *args):
        """What a script in the jail says of each attempt, and the report."""
        run = self.shell(ATTEMPT + script, args=(self.bin, *args))
        lines = dict(line.split(" ", 1) for line in run.stdout.decode().splitlines()[1:])
        return lines, run

    # --- what runs ---------------------------------------------------------------------------

    def test_programs_of_an_allowed_directory_run(self):
        lines, run = self.answers(
            'try sh sh -c "exit 0"; try git git --version; try sed sed -n 1p /dev/null'
        )
        self.assertEqual(lines, {"sh": "0", "git": "0", "sed": "0"}, self.story(run))
        claims = [each for each in run.exit["enforcement"] if each.startswith("exec-landlock:")]
        self.assertEqual(len(claims), 1, run.exit["enforcement"])
        self.assertIn("exec-writable=1", run.exit["enforcement"])

    # --- what does not, as the program of a start ----------------------------------------------

    def test_the_guard_refuses_what_is_denied_and_names_the_rule(self):
        features = ("exec-outcome-v1", "denial-v1")
        with self.helper(features=features) as helper:
            self.needs(helper, "bwrap", "exec-landlock")
            for asked, index, kind in ((b"curl", 0, "name"), (PYTHON.encode(), 1, "file")):
                run = helper.settle(helper.start([asked.decode(), "--version"]), LIMIT)
                self.assertIsNotNone(run.error, f"{asked} ran")
                denial = run.error["denial"]
                self.assertEqual(run.error["code"], "spawn_failed")
                self.assertTrue(run.error["msg"].startswith("excluded_over_allowance"), run.error)
                self.assertEqual(denial["asked"], asked)
                self.assertEqual(denial["evidence"], "both")
                rule = denial["rule"]
                self.assertEqual((rule["list"], rule["index"], rule["kind"]), ("exec.deny", index, kind))
            # The control: the same helper, the same table.
            run = self.settle(helper, helper.start(["sed", "--version"]))
            self.assertEqual(run.exit["code"], 0, self.story(run))

    def test_a_person_gets_the_status_that_a_shell_would_show(self):
        policy = self.path("policy")
        with open(policy, "wb") as file:
            file.write(pack(self.policy()))
        for program, status, word in (
            ("sed", 0, None),
            ("no-such-program", 127, "not_found"),
            ("/etc/passwd", 126, "not_executable"),
            ("curl", 125, "excluded_over_allowance"),
        ):
            run = self.person("--policy", policy, "--", program, "--version")
            self.assertEqual(run.status, status, run)
            denial = run.report.get("denial")
            self.assertEqual(denial and denial["reason"], word, run)

    # --- what does not, from inside ------------------------------------------------------------

    def test_the_kernel_refuses_what_is_denied_from_inside_a_shell(self):
        lines, run = self.answers(
            'try curl curl --version; try python "$2" -c pass; try sed sed --version', self.python
        )
        self.assertEqual(lines, {"curl": "126", "python": "126", "sed": "0"}, self.story(run))

    def test_a_link_is_judged_by_what_it_leads_to(self):
        self.link(self.python, "ws", "bin", "denied")
        self.link("/usr/bin/true", "ws", "bin", "admitted")
        lines, run = self.answers('try denied "$1/denied" -c pass; try admitted "$1/admitted"')
        self.assertEqual(lines, {"denied": "126", "admitted": "0"}, self.story(run))

    def test_a_script_needs_its_interpreter(self):
        self.program("ws", "bin", "denied", text=f"#!{self.python}\nprint('ran')\n")
        self.program("ws", "bin", "admitted", text="#!/bin/sh\nexit 0\n")
        lines, run = self.answers('try denied "$1/denied"; try admitted "$1/admitted"')
        self.assertEqual(lines, {"denied": "126", "admitted": "0"}, self.story(run))
        for name, admitted in (("denied", False), ("admitted", True)):
            with self.helper() as helper:
                run = helper.settle(helper.start([os.path.join(self.bin, name)]), LIMIT)
                self.assertEqual(run.error is None, admitted, self.story(run))

    def test_memory_files_hold_data_and_run_nothing(self):
        source = self.file("memory.c", text=MEMORY_FILE)
        program = os.path.join(self.bin, "memory")
        subprocess.run(["cc", "-o", program, source], check=True)
        run = self.shell('for how in data run any; do "$1" $how /usr/bin/true; done; exit 0', args=(program,))
        said = dict(line.split(": ", 1) for line in run.stdout.decode().splitlines()[1:])
        if said["data"] == "Invalid argument":
            self.skipTest("this kernel has no sealed memory files (6.3)")
        self.assertEqual(
            said,
            {"data": "read back", "run": "Permission denied", "any": "Permission denied"},
            self.story(run),
        )
        # The control: the same program under a policy that lets memory files run.
        loose = self.policy(exec=self.table(memfd="any"))
        run = self.shell('"$1" any /usr/bin/true', loose, args=(program,))
        self.assertEqual(run.exit["code"], 0, self.story(run))

    # --- what no table sees: the declared limits -----------------------------------------------

    def test_a_copy_under_another_name_runs(self):
        """L9: the command can write the bytes anywhere, so a name says nothing there."""
        lines, run = self.answers(
            'cp /usr/bin/curl "$1/mine"; try copy "$1/mine" --version; try curl curl --version'
        )
        self.assertEqual(lines, {"copy": "0", "curl": "126"}, self.story(run))

    def test_the_linker_runs_what_it_can_read(self):
        """L8: to the kernel the program is the linker."""
        lines, run = self.answers(
            f'try linker {LINKER} /usr/bin/curl --version; try curl curl --version'
        )
        self.assertEqual(lines, {"linker": "0", "curl": "126"}, self.story(run))


# try NAME COMMAND…: a line with the command's status.
ATTEMPT = """
try() { name=$1; shift; "$@" >/dev/null 2>&1 </dev/null; echo "$name $?"; }
"""
