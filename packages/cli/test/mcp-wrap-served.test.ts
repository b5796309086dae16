/** What `acp mcp wrap` wrote, started as a client starts it. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, it } from "vitest";
import { acpHere } from "./acp-here.js";
import { environment, scratch } from "./environment.js";
import { acp } from "./harness.js";
import { fileServer } from "./mcp-client.js";

it("a client that was wrapped has its server's tools, behind the gate", async () => {
  await using at = await scratch();
  const user = join(at.path, "user");
  const settings = join(user, ".cursor", "mcp.json");
  const env = { HOME: user, XDG_CONFIG_HOME: "" };
  await mkdir(join(user, ".cursor"), { recursive: true });
  const [command, ...args] = fileServer(at.path);
  await writeFile(settings, JSON.stringify({ mcpServers: { files: { command, args } } }));
  expect(await acp(["init"], { env })).toMatchObject({ code: 0 });
  expect(await acpHere(["mcp", "wrap", "--yes"], { env, cwd: at.path })).toMatchObject({ code: 0 });
  const { files } = JSON.parse(await readFile(settings, "utf8")).mcpServers;
  const client = new Client({ name: "cursor", version: "1" });
  const given = Object.entries(environment({ env })).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  await client.connect(
    new StdioClientTransport({ ...files, env: Object.fromEntries(given), stderr: "ignore" }),
  );
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("write_file");
    const { isError } = await client.callTool({
      name: "write_file",
      arguments: { path: join(at.path, "a.txt"), content: "x" },
    });
    // Nobody is there to be asked.
    expect(isError).toBe(true);
  } finally {
    await client.close();
  }
  const shown = await acp(["audit", "show"], { env });
  expect(shown.stdout).toContain("cursor");
});
