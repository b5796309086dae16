/** A real server that is killed behind the built `acp mcp`, and is back for the same client. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, it } from "vitest";
import { scratch } from "./harness.js";
import { fileServer, startGated } from "./mcp-client.js";

it("acp mcp starts a server again that was killed, and its client goes on", async () => {
  await using at = await scratch();
  const [home, folder, pid] = ["h", "files", "pid"].map((name) => join(at.path, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(folder);
  await writeFile(join(folder, "a.txt"), "hello");
  await mkdir(home, { mode: 0o700 });
  const note = 'echo $$ > "$0"; exec "$@"';
  const server = {
    name: "files",
    command: "/bin/sh",
    args: ["-c", note, pid, ...fileServer(folder)],
    max_result_megabytes: 20,
    max_calls: 4,
  };
  const config = { version: "1", proxy: { upstream_servers: [server] } };
  await writeFile(join(home, "config.yml"), JSON.stringify(config), { mode: 0o600 });
  const policy = 'version: "1"\ndefault_action: allow\n';
  await writeFile(join(home, "policy.yml"), policy, { mode: 0o600 });
  await using gated = await startGated({ home, folder, server: [] });
  const read = (): ReturnType<typeof gated.call> => gated.call("read_text_file", { path: "a.txt" });
  expect(await read()).toMatchObject({ text: "hello" });
  const changed = new Promise<void>((resolve) =>
    gated.client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
  );
  process.kill(Number(await readFile(pid, "utf8")), "SIGKILL");
  await changed;
  expect(await read()).toMatchObject({ text: "hello", isError: false });
});
