import { expect, it } from "vitest";
import { manualClock } from "@acp/testing";
import { restartServers } from "./restart-servers.js";

const session = (
  pid: number,
  restart: () => Promise<readonly string[]>,
): Parameters<typeof restartServers>[0] extends Iterable<infer S> ? S : never => ({
  hello: () => ({ argv: ["mcp"], pid }) as never,
  restart,
});

it("one client that does not begin to restart holds up nobody else, and is named", async () => {
  const clock = manualClock();
  let restarted: unknown;
  const all = [
    session(1, () => new Promise(() => {})),
    session(2, () => Promise.resolve(["files"])),
    session(3, () => Promise.reject(new Error("its file is gone"))),
    session(4, () => Promise.resolve([])),
  ];
  void restartServers(all, undefined, clock).then((told) => (restarted = told));
  await clock.advance(19_999);
  expect(restarted).toBeUndefined();
  await clock.advance(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(restarted).toMatchObject([
    { pid: 1, servers: [], late: true },
    { pid: 2, servers: ["files"] },
    { pid: 3, servers: [], late: true },
  ]);
});
