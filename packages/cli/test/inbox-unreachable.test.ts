/**
 * The inbox is out of an agent's reach: directly, and through the gate's own proxy, also where the
 * policy allows every host.
 */
import { describe, expect, it } from "vitest";
import { startAcp } from "./harness.js";
import { localFetch } from "./local-fetch.js";
import { needSandbox, runWorld } from "./run-world.js";

const ALLOW_ALL = `version: "1"
rules:
  - match: { kind: http, host: "*" }
    action: allow
`;

describe.each(["namespace", "landlock"])("an agent in %s", (name) => {
  const need = needSandbox(name);

  it.skipIf(!need.run)(`finds no inbox ${need.reason}`, async () => {
    await using world = await runWorld({ policy: ALLOW_ALL });
    await using inbox = startAcp(["inbox", "--port", "0", "--json"], { home: world.home });
    await inbox.seen("stdout", /"code"/);
    const { url } = JSON.parse(inbox.stdout().split("\n")[0] ?? "") as { readonly url: string };
    const port = new URL(url).port;
    const args = ["--sandbox", name];
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
      const direct = await world.run(
        ["curl", "-sS", "--max-time", "20", "--noproxy", "*", `http://${host}:${port}/`],
        { args },
      );
      expect([direct.code === 0, direct.stdout]).toEqual([false, ""]);
    }
    // Where localhost is the agent's own, curl asks the proxy about it only where it is told to.
    const urls = [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`];
    const through = await world.run(["curl", "-sS", "--max-time", "20", "--noproxy", "", ...urls], {
      args,
    });
    expect(through.stdout.match(/address_refused/g)).toHaveLength(2);
    expect(through.stdout).not.toContain("<!doctype html>");
    // It is there all the same.
    expect((await localFetch(url)).status).toBe(200);
  });
});
