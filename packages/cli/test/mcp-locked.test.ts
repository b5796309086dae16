/**
 * `acp mcp` that cannot start, as a client sees it: it is told why and what to do; nothing is
 * started, nothing is forwarded.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { BIN, RESIDENT, acp, scratch } from "./harness.js";

/** Both forms of `acp mcp`, and what a locked key has a client told. */
const FORMS = [
  {
    form: "served by the resident",
    variables: RESIDENT,
    instructions: /key is locked.*acp unlock --home/,
    remedy: /acp unlock --home/,
  },
  {
    form: "alone",
    variables: { ACP_ALONE: "1" },
    instructions: /did not start.*ACP_PASSPHRASE_FILE.*\[key_locked\]/,
    remedy: /ACP_PASSPHRASE_FILE/,
  },
] as const;

async function world(variables: Readonly<Record<string, string>>) {
  const at = await scratch();
  const [home, started, passphrase] = [
    join(at.path, "h"),
    join(at.path, "started"),
    join(at.path, "passphrase"),
  ];
  await mkdir(home, { mode: 0o700 });
  await writeFile(passphrase, "correct horse battery\n", { mode: 0o600 });
  const env = { ACP_PASSPHRASE_FILE: passphrase };
  return {
    home,
    started,
    env,
    variables,
    async [Symbol.asyncDispose]() {
      await acp(["resident", "stop"], { home });
      await at[Symbol.asyncDispose]();
    },
  };
}

/** A client whose server is `acp mcp` before a server that says that it was started. */
async function connect(at: Omit<Awaited<ReturnType<typeof world>>, "env">) {
  const client = new Client({ name: "test", version: "1" });
  const args = [BIN, "mcp", "--home", at.home, "--", "touch", at.started];
  const transport = new StdioClientTransport({
    command: process.execPath,
    cwd: at.home,
    args,
    env: { PATH: process.env["PATH"] ?? "", ...at.variables },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk) => (stderr += String(chunk)));
  await client.connect(transport);
  return { client, stderr: () => stderr, [Symbol.asyncDispose]: () => client.close() };
}

describe.each(FORMS)("acp mcp whose key is locked, $form", (by) => {
  it("tells the client what to do: in the instructions, and to every request", async () => {
    await using at = await world(by.variables);
    const made = await acp(["init"], at);
    expect(made.stdout).toContain("ACP_PASSPHRASE_FILE");
    await using connected = await connect(at);
    expect(connected.client.getInstructions()).toMatch(by.instructions);
    for (const asked of [
      connected.client.listTools(),
      connected.client.callTool({ name: "write_file", arguments: {} }),
    ])
      await expect(asked).rejects.toThrow(by.remedy);
    await expect(connected.client.ping()).resolves.toEqual({});
    // The resident waits for somebody to unlock it: that is no failure.
    expect(connected.stderr()).toContain(by.form === "alone" ? "[key_locked]" : "");
    await expect(readFile(at.started)).rejects.toThrow("ENOENT");
  });

  it("tells of a policy that does not load, too", async () => {
    await using at = await world(by.variables);
    await writeFile(join(at.home, "policy.yml"), 'version: "1"\ndefualt: allow\n', {
      mode: 0o600,
    });
    await using connected = await connect(at);
    expect(connected.client.getInstructions()).toMatch(/\[policy_invalid\]/);
    await expect(connected.client.listTools()).rejects.toThrow("did not start");
    await expect(readFile(at.started)).rejects.toThrow("ENOENT");
  });

  it("ends with its own exit code once the client is gone", async () => {
    await using at = await world(by.variables);
    await acp(["init"], at);
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;
    const { code, stdout, stderr } = await acp(["mcp", "--", "touch", at.started], {
      home: at.home,
      env: by.variables,
      input,
    });
    expect([code, stdout]).toEqual([3, '{"jsonrpc":"2.0","id":1,"result":{}}\n']);
    expect(stderr).toContain("[key_locked]");
  });

  it("opens with the file that the message asks for", async () => {
    await using at = await world(by.variables);
    await acp(["init"], at);
    const { stderr } = await acp(["mcp", "--", "touch", at.started], {
      home: at.home,
      env: { ...by.variables, ...at.env },
    });
    expect(stderr).not.toContain("key_locked");
    await expect(readFile(at.started)).resolves.toBeDefined();
  });
});
