"""Field reports H, and sockets of G: what can be reached from inside. Proxies are a later matter."""

import contextlib
import socket

from field import *

# argv: KIND ADDRESS…; says for each whether something of the host's answered.
REACH = r"""
import errno, socket, sys
print("begin")
for word in sys.argv[1:]:
    kind, _, address = word.partition("=")
    try:
        if kind == "stream":
            socket.socket(socket.AF_UNIX).connect(address)
        else:
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), 5)
        print(word, "reached")
    except OSError as error:
        print(word, errno.errorcode.get(error.errno, error))
"""
# Listens on an abstract name, says so, and tells who came.
LISTEN = r"""
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind("\0" + sys.argv[1])
listener.listen()
listener.settimeout(10)
print("up", flush=True)
sys.stdin.readline()
listener.settimeout(0.2)
try:
    print(listener.accept()[0].recv(9).decode())
except OSError:
    print("nobody")
"""


class NetworkCase(FieldCase):
    def listener(self, family, address):
        made = socket.socket(family)
        self.addCleanup(made.close)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen()
        return made

    def reached(self, words, policy, flags=()):
        """Which of these addresses answered, and what came of the run."""
        seen = self.assertRan(self.attempt([PYTHON, "-ISc", REACH, *words], policy, flags))
        self.assertEqual(seen.lines[:1], ["begin"], seen)
        self.assertEqual(len(seen.lines), 1 + len(words), seen)
        return [line.split()[0] for line in seen.lines if line.endswith(" reached")], seen


PROXY = {"mode": "proxy", "allow": [], "proxy": "127.0.0.1:9"}


class Loopback(NetworkCase):
    def addresses(self):
        """Every spelling of this machine's loopback, each with a listener behind it."""
        port = self.listener(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        hosts = ["127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "localhost"]
        with contextlib.suppress(OSError):  # a host without IPv6
            self.listener(socket.AF_INET6, ("::1", port))
            hosts.append("::1")
        return [f"inet={host}:{port}" for host in hosts]

    # field B87
    def test_b87_no_spelling_of_localhost_reaches_a_service_of_the_host(self):
        words = self.addresses()
        for network in ({"mode": "off"}, PROXY):
            with self.subTest(network["mode"]):
                self.assertEqual(self.reached(words, self.base(network=network))[0], [])
        self.assertEqual(self.reached(words, self.base(network={"mode": "full"}))[0], words)

    # field B89
    def test_b89_an_empty_list_of_a_proxy_allows_nothing(self):
        words = self.addresses()
        port = words[0].rpartition(":")[2]
        itself = {**PROXY, "proxy": f"127.0.0.1:{port}"}
        reached, seen = self.reached(words, self.base(network=itself))
        self.assertEqual(reached, [])
        self.assertEqual(len(seen.entries("skip:network-proxy: ")), 1, seen)
        self.assertRefused(self.attempt("true", self.base(network=itself), STRICT), "network-proxy")
        self.assertEqual(self.reached(words, self.base(network={"mode": "full"}))[0], words)


class UnixSockets(NetworkCase):
    # field B74
    def test_b74_the_host_can_call_an_abstract_name_of_a_jail_that_shares_its_network(self):
        """The scope keeps calls from leaving the jail. It does not keep them out."""
        for mode, came in (("full", "hello"), ("off", "nobody")):
            with self.subTest(mode), self.field_helper(self.base(network={"mode": mode})) as helper:
                self.needs(helper, "bwrap", "landlock")
                name = f"{NEW}-{mode}"
                run = helper.start([PYTHON, "-ISc", LISTEN, name])
                helper.until_output(run, b"up\n")
                caller = socket.socket(socket.AF_UNIX)
                self.addCleanup(caller.close)
                if mode == "full":
                    caller.connect("\0" + name)
                    caller.send(b"hello")
                else:
                    self.assertRaises(ConnectionRefusedError, caller.connect, "\0" + name)
                helper.stdin(b"go\n", eof=True)
                self.settle(helper, run)
                self.assertEqual(bytes(run.stdout).decode(), f"up\n{came}\n", self.story(run))

    # field B76
    def test_b76_a_socket_that_was_granted_alone_can_be_called(self):
        self.listener(socket.AF_UNIX, self.path("out/stream"))
        self.listener(socket.AF_UNIX, self.path("out/beside"))
        words = [f"stream={self.path('out', name)}" for name in ("stream", "beside")]
        granted = self.base(readable_roots=[self.path("out/stream")])
        reached, seen = self.reached(words, granted)
        self.assertEqual(reached, words[:1] if "unheld:unix-path" in seen.report else [], seen)
        self.assertEqual(self.reached(words, granted, ["--unix-sockets", "deny"])[0], [])


if __name__ == "__main__":
    unittest.main()
