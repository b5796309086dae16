/**
 * Agents that are stopped while a held file is replaced, and have asked the kernel for the signal
 * that makes a stopped process go on.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { compiled, outside, python, read, useRepository } from "./held-names-kit.js";
import { namespaces } from "./namespace-kit.js";

useRepository();

/**
 * Asks the kernel for signals that continue it; then writes what took the name while it had to be
 * stopped, or keeps that open.
 */
const continued = (ask: string): string => `
import ctypes, fcntl, os, signal, struct, time
signal.signal(signal.SIGCONT, lambda *_: None)
${ask}
print("up", flush=True)
seen = time.monotonic()
while time.monotonic() - seen < 0.01: # until it has been stopped
    seen = time.monotonic()
    time.sleep(0.001)
first = os.stat(".git/config").st_ino
while True:
    try:
        if os.stat(".git/config").st_ino == first: continue
        copy = os.open(".git/config", os.O_WRONLY | os.O_APPEND)
        break
    except OSError: pass
print("opened", flush=True)
time.sleep(1)
os.write(copy, b"[core]\\n\\tfsmonitor = ./evil\\n")
print("wrote", flush=True)
time.sleep(600)
`;
const timer = (everyNs: number): string => `
timer = ctypes.c_void_p()
event = ctypes.create_string_buffer(struct.pack("Qii", 0, signal.SIGCONT, 0) + bytes(64))
every = ctypes.create_string_buffer(struct.pack("qqqq", 0, ${everyNs}, 0, ${everyNs}))
if ctypes.CDLL(None).timer_create(1, event, ctypes.byref(timer)) != 0: raise SystemExit("no timer")
if ctypes.CDLL(None).timer_settime(timer, 0, every, None) != 0: raise SystemExit("no timer")`;
const NOTIFIED = `
folder = os.open(".git", os.O_RDONLY)
fcntl.fcntl(folder, 10, signal.SIGCONT) # F_SETSIG
fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_RENAME | fcntl.DN_CREATE | fcntl.DN_DELETE | fcntl.DN_MULTISHOT)`;

describe.skipIf(!namespaces.run || !compiled.run)(
  `an agent that the kernel continues ${namespaces.reason}${compiled.reason}`,
  () => {
    it.each([
      ["a timer", timer(35_000_000)],
      ["a folder that it watches", NOTIFIED],
    ])("has not changed what is held where that is by %s", async (_name, ask) => {
      const at = await python(continued(ask));
      await at.printed("up");
      await sleep(100);
      for (let round = 1; round <= 3 && !at.isOver(); round++) {
        await outside(`git config branch.main.merge refs/heads/${round}`);
        // it was stopped and held again before it could be continued
        if (await at.changed(round)) await sleep(2000);
      }
      const written = at.output().includes("opened") ? read(".git/config") : "";
      await at.agent.close();
      expect(written).not.toContain("evil");
    });
  },
);
