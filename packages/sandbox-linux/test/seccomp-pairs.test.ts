/**
 * Pairs of sockets that the filter allows, and why: neither end can be made to reach anybody else.
 * The kind that it refuses can, by the same steps.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostNeed } from "@acp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { namespaces, runAgent } from "./namespace-kit.js";

const directory = mkdtempSync(join(tmpdir(), "acp-pairs-"));
afterAll(() => rmSync(directory, { recursive: true }));

const python = hostNeed("python3", () => undefined);
const user = process.getuid?.() === 0 ? { user: 61_016 } : {};

/**
 * Opens listeners of every type under both kinds of names, aims an end of a pair at each in every
 * way, and says what arrived.
 */
const AIM = `
import os, select, socket, struct, sys
kind = getattr(socket, "SOCK_" + sys.argv[1])
names = [os.path.join(sys.argv[2], "s%d"), "\\0acp-pairs-" + str(os.getpid()) + "-%d"]
heard = []
for number, each in enumerate((socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)):
    for name in names:
        listener = socket.socket(socket.AF_UNIX, each)
        listener.bind(name % number)
        if each != socket.SOCK_DGRAM: listener.listen()
        heard.append((listener, name % number))
def attempt(act):
    try: act()
    except OSError: pass
def aim(prepare):
    for _, name in heard:
        one, other = socket.socketpair(socket.AF_UNIX, kind)
        other.setblocking(False); one.setblocking(False)
        attempt(lambda: prepare(one, other, name))
        attempt(lambda: one.connect(name))
        attempt(lambda: one.sendto(b"out", name))
        attempt(lambda: one.sendmsg([b"out"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 0))], 0, name))
        attempt(lambda: one.send(b"out"))
        attempt(lambda: one.listen())
        attempt(lambda: one.accept())
def disconnect(one, other, name):
    import ctypes
    ctypes.CDLL(None).connect(one.fileno(), struct.pack("H14x", 0), 16)
aim(lambda one, other, name: None)
aim(disconnect)
aim(lambda one, other, name: other.close())
aim(lambda one, other, name: one.shutdown(socket.SHUT_RDWR))
aim(lambda one, other, name: one.bind(""))
ready = select.select([listener for listener, _ in heard], [], [], 0)[0]
print("reached" if ready else "nothing")
`;

async function aim(kind: string): Promise<string> {
  const child = spawn("python3", ["-c", AIM, kind, mkdtempSync(join(directory, "names-"))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => (text += String(chunk)));
  await once(child, "close");
  return text.trim();
}

describe.skipIf(!python.run)("pairs of Unix sockets, without any filter", () => {
  it.each([
    ["STREAM", "nothing"],
    ["SEQPACKET", "nothing"],
    ["DGRAM", "reached"],
  ])("a SOCK_%s pair reaches %s", async (kind, what) => {
    expect(await aim(kind)).toBe(what);
  });
});

/** Says which pairs there are, and sends a descriptor through each. */
const PAIRS = `
import os, socket
for kind in ("STREAM", "SEQPACKET", "DGRAM"):
    try: one, other = socket.socketpair(socket.AF_UNIX, getattr(socket, "SOCK_" + kind))
    except OSError: continue
    socket.send_fds(one, [b"x"], [0])
    print(kind, len(socket.recv_fds(other, 1, 1)[1]))
`;

describe.skipIf(!namespaces.run)(
  `pairs of Unix sockets in the namespace sandbox ${namespaces.reason}`,
  () => {
    it("are those that reach nobody", async () => {
      expect((await runAgent(["python3", "-c", PAIRS], user)).output).toBe(
        "STREAM 1\nSEQPACKET 1\n",
      );
    });
  },
);
