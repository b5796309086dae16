/**
 * A manager that is gone in the middle of the hand-off: the stage inside, which has sent a listener
 * that nobody takes, ends.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const STAGE = fileURLToPath(new URL("../inside/first-stage.cjs", import.meta.url));
const ORDERS = {
  ports: [],
  nonce: "0".repeat(32),
  canaries: { tcpPort: 1, udpPort: 1, path: "/nowhere", abstract: "nowhere" },
};
const MANAGER_GONE = 71;

it.each(["listen", "connect"])(
  "first-stage.cjs ends when its manager is gone before it took the listener (%s)",
  {},
  async (mode) => {
    const stage = spawn(process.execPath, [STAGE], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: {},
    });
    const ended = once(stage, "exit");
    // Port 0: whichever is free.
    stage.send({ ...ORDERS, mode, port: 0 }, () => stage.disconnect());
    expect(await ended).toEqual([MANAGER_GONE, null]);
  },
);
