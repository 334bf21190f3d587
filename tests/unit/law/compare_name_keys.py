"""Compares name_key with Python's own Unicode: compare_name_keys.py PRINT_NAME_KEYS UNICODE_DATA.

Every code point that both know, alone and between other letters, and random names of those that fold,
decompose or combine. LOOM_SEED replays.
"""

import os
import random
import subprocess
import sys
import unicodedata

NAMES = 20_000
SEED = int(os.environ.get("LOOM_SEED", "20260101"))


def key(name):
    upper = unicodedata.normalize("NFD", name).upper()
    return unicodedata.normalize("NFD", upper.casefold())


def in_database(path):
    """The code points that the database of the build knows."""
    known, first = set(), None
    with open(path, encoding="ascii") as lines:
        for line in lines:
            point, name = line.split(";")[:2]
            point = int(point, 16)
            if name.endswith(", First>"):
                first = point
                continue
            known.update(range(first if name.endswith(", Last>") else point, point + 1))
    return known


def known_to_both(path):
    known = in_database(path)
    return [
        chr(point)
        for point in sorted(known)
        if not 0xD800 <= point < 0xE000 and unicodedata.category(chr(point)) != "Cn"
    ]


def is_interesting(character):
    return (
        key(character) != character
        or unicodedata.combining(character)
        or unicodedata.decomposition(character)
        or "\u1100" <= character < "\u1200"
    )


def random_names(characters):
    dice = random.Random(SEED)
    letters = [c for c in characters if is_interesting(c)]
    marks = [c for c in letters if unicodedata.combining(c)]
    pools = (letters, marks, marks, ["a", "I", "s", "\u0345", "\u0131", "\u00df", "\u1fb3"])
    return [
        "".join(dice.choice(dice.choice(pools)) for _ in range(dice.randrange(1, 9)))
        for _ in range(NAMES)
    ]


def keys_of(program, names):
    lines = "".join(name.encode().hex() + "\n" for name in names)
    answer = subprocess.run([program], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [bytes.fromhex(line) for line in answer.stdout.split("\n")[:-1]]


def main():
    program, database = sys.argv[1:]
    characters = known_to_both(database)
    names = [c for c in characters if c not in "\n"]
    names += ["A\u0323" + c + "\u0301\u0316b" for c in names] + random_names(characters)
    keys = keys_of(program, names)
    wrong = [(n, k) for n, k in zip(names, keys, strict=True) if k != key(n).encode()]
    for name, got in wrong[:20]:
        print(f"{ascii(name)}: {ascii(got.decode())} instead of {ascii(key(name))}")
    # A key is one component like its name: none is empty, "." or "..", or holds a separator.
    odd = [
        c
        for c, k in zip(characters, keys_of(program, characters))
        if c not in "/\0." and (not k or b"/" in k or b"\0" in k or k.strip(b".") == b"")
    ]
    print(f"odd keys: {ascii(odd)}" if odd else "", end="")
    print(
        f"LOOM_SEED={SEED}: {len(names)} names over {len(characters)} code points, "
        f"Python's Unicode {unicodedata.unidata_version}, {len(wrong)} differ"
    )
    return 1 if wrong or odd or len(characters) < 100_000 else 0


if __name__ == "__main__":
    sys.exit(main())
