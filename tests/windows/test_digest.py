"""SHA-256 by Windows' own library against Python's."""

import hashlib
import os
import subprocess
import unittest

import wine

# FIPS 180-2, so that not only two libraries agree.
KNOWN = {
    b"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    b"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
}


class Digest(wine.WindowsCase):
    def digest_of(self, data):
        program = os.path.join(wine.BUILD, "tests", "print_digest.exe")
        done = subprocess.run([wine.WINE, wine.windows_path(program)], input=data, capture_output=True,
                              env=wine.environment(), timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode().strip()

    def test_known_answers(self):
        for data, answer in KNOWN.items():
            self.assertEqual(self.digest_of(data), answer)

    def test_a_block_and_its_neighbours(self):
        for size in (55, 56, 63, 64, 65):
            data = bytes(range(size))
            self.assertEqual(self.digest_of(data), hashlib.sha256(data).hexdigest(), size)

    def test_a_long_input(self):
        data = wine.pattern((5 << 20) + 7) + b"\r\n\x1a\0"
        self.assertEqual(self.digest_of(data), hashlib.sha256(data).hexdigest())
        self.assertNotEqual(self.digest_of(data[:-1]), hashlib.sha256(data).hexdigest())


if __name__ == "__main__":
    unittest.main()
