"""One conversation as a person reads it, compared with expected/transcript.txt.

LOOM_ACCEPT_TRANSCRIPT=1 writes that file instead.
"""

import os
import unittest

import wine
from wine import client, windows_path

EXPECTED = os.path.join(wine.HERE, "expected", "transcript.txt")
PAYLOAD = windows_path(wine.PAYLOAD)


class Transcript(wine.WindowsCase):
    def test_the_conversation_reads_as_written_down(self):
        base = self.policy(limits=client.limits(output_bytes=1000, mem_bytes=1 << 30),
                           protected=["C:\\secret"])
        helper = self.helper(base=base, features=("exec-outcome-v1", "denial-v1"))
        helper.execute([PAYLOAD, "arguments", "two words", "wörld"])
        helper.execute([PAYLOAD, "flood-error", "5"])
        helper.execute([PAYLOAD, "flood", "5000"])
        run = helper.start([PAYLOAD, "cat"])
        helper.stdin(b"line\r\n\x1a")
        helper.stdin(b"", eof=True)
        helper.settle(run)
        helper.execute(["no-such-program"])
        helper.execute([PAYLOAD, "exit", "3"], cwd="C:\\no\\such")
        helper.execute([windows_path(f"{self.place}/x.exe")], cwd="relative")
        run = helper.start([PAYLOAD, "sleep", "60000"])
        helper.until_output(run, b"asleep")
        helper.expect("error", helper.send("exec_start", {}))
        helper.heartbeat()
        helper.cancel(run)
        helper.settle(run)
        helper.send("shutdown", {})
        helper.remaining()
        helper.lines.append(f"exit {helper.wait_exit()}")
        self.compare("\n".join(helper.lines) + "\n")

    def compare(self, text):
        for path, name in ((PAYLOAD, "PAYLOAD"), (windows_path(self.place), "PLACE")):
            text = text.replace(path.replace("\\", "\\\\"), name)
        if os.environ.get("LOOM_ACCEPT_TRANSCRIPT") == "1":
            with open(EXPECTED, "w", encoding="utf-8") as file:
                file.write(text)
            return
        with open(EXPECTED, encoding="utf-8") as file:
            self.assertEqual(text.splitlines(), file.read().splitlines())


if __name__ == "__main__":
    unittest.main()
