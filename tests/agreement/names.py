"""Paths as the judge reads them: text, component by component, and the key of a name.

Bytes that are no UTF-8 stand as surrogates, as everywhere in Python.
"""

import unicodedata


def key(name):
    """Equal for the names that an exclusion takes for one."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return name  # not UTF-8: its own key
    upper = unicodedata.normalize("NFD", name.upper())
    return unicodedata.normalize("NFD", upper.casefold())


def parts(path):
    return [part for part in path.split("/") if part]


def folded(path):
    return tuple(key(part) for part in parts(path))


def joined(components):
    return "/" + "/".join(components)


def clean(path):
    """A policy's path: its text in normal form."""
    stack = []
    for part in parts(path):
        if part == "..":
            del stack[-1:]
        elif part != ".":
            stack.append(part)
    return joined(stack)


def parent(path):
    return joined(parts(path)[:-1])


def leaf(path):
    return path.rsplit("/", 1)[-1]


def within(path, above):
    """Whether path is `above` or lies in it."""
    return above == "/" or path == above or path.startswith(above + "/")


def beneath(path, above):
    return path != above and within(path, above)


def holds(above, path):
    """The same for names in any spelling, given folded."""
    return path[: len(above)] == above


def ancestors(path):
    """Every directory above, the nearest first."""
    while path != "/":
        path = parent(path)
        yield path


def moved(path, above, to):
    """path, which lies within `above`, at the same place within `to`."""
    rest = parts(path)[len(parts(above)) :]
    return joined(parts(to) + rest)
