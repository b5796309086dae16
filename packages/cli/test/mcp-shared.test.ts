/** A real server that the clients of a resident share: one process, and nothing of one in the other. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { acp, scratch } from "./harness.js";
import { startGated } from "./mcp-client.js";
import type { Gated } from "./mcp-client.js";

const require = createRequire(new URL("../../proxy-mcp/package.json", import.meta.url));
const EVERYTHING = join(
  dirname(require.resolve("@modelcontextprotocol/server-everything/package.json")),
  "dist/index.js",
);
const POLICY = 'version: "1"\ndefault_action: allow\n';
/** Each start leaves a line, and what the server is started with. */
const NOTE = 'echo $$ >> "$0"; env > "$0.env"; pwd > "$0.cwd"; exec "$@"';

it("is one process for five clients, which a kill ends for none of them", async () => {
  await using at = await scratch();
  const [home, folder, starts] = ["h", "files", "starts"].map((name) => join(at.path, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(folder);
  await mkdir(home, { mode: 0o700 });
  const server = {
    name: "every",
    command: "/bin/sh",
    args: ["-c", NOTE, starts, process.execPath, EVERYTHING],
    env: { OWN: "1" },
    shared: true,
  };
  const config = { version: "1", proxy: { upstream_servers: [server] } };
  await writeFile(join(home, "config.yml"), `${JSON.stringify(config)}\n`, { mode: 0o600 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  const pids = async (): Promise<readonly number[]> =>
    (await readFile(starts, "utf8")).trim().split("\n").map(Number);
  await using first = await startGated({
    home,
    folder,
    server: [],
    isResident: true,
    env: { SECRET_OF_FIRST: "x" },
  });
  const others = await Promise.all(
    Array.from({ length: 4 }, () =>
      startGated({ home, folder, server: [], isResident: true, env: { OF_OTHER: "1" } }),
    ),
  );
  const all = [first, ...others];
  const echo = async (each: Gated, message: string): Promise<string> =>
    (await each.call("echo", { message })).text;
  const said = await Promise.all(all.map((each, of) => echo(each, `of ${of}`)));
  expect(said).toEqual(all.map((_, of) => `Echo: of ${of}`));
  expect(await pids()).toHaveLength(1);
  const env = await readFile(`${starts}.env`, "utf8");
  expect(env).toContain("OWN=1");
  expect(env).not.toMatch(/OF_/);
  expect(await readFile(`${starts}.cwd`, "utf8")).not.toContain(folder);
  const status = await acp(["resident", "status", "--home", home, "--json"]);
  expect(JSON.parse(status.stdout)).toMatchObject({ shared_servers: ["every"] });

  // News of what one of them subscribed to are its own.
  const uri = "demo://resource/static/document/architecture.md";
  const [told, untold]: [string[], string[]] = [[], []];
  const listen = (each: Gated, to: string[]): void =>
    each.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      to.push(params.uri);
    });
  listen(first, told);
  listen(others[0] ?? first, untold);
  await first.client.subscribeResource({ uri });

  // Killed while all call: each call ends, once, and says what is true.
  const calls = all.flatMap((each) =>
    Array.from({ length: 5 }, (_, n) => each.call("echo", { message: `k${n}` })),
  );
  process.kill((await pids()).at(-1) ?? 0, "SIGKILL");
  for (const { text, isError } of await Promise.all(calls))
    if (isError) expect(text).toMatch(/Not executed|Sent, but not answered|whether|not sent/);
    else expect(text).toMatch(/^Echo: k\d$/);
  for (const each of all)
    while (!(await echo(each, "again")).includes("Echo: again"))
      await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await pids()).toHaveLength(2);

  // A restart is one of the process that all share.
  const restarted = await acp(["mcp", "restart", "every", "--home", home, "--json"]);
  expect(JSON.parse(restarted.stdout).restarted).toHaveLength(5);
  while ((await pids()).length < 3) await new Promise((resolve) => setTimeout(resolve, 100));
  for (const each of all)
    while (!(await echo(each, "last")).includes("Echo: last"))
      await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await pids()).toHaveLength(3);
  expect(untold).toEqual([]);

  // One that leaves takes nothing from the others.
  await Promise.all(others.map((each) => each.client.close()));
  expect(await echo(first, "alone")).toBe("Echo: alone");
  expect(await pids()).toHaveLength(3);
});
