/**
 * The demo's world: a scratch folder with files, a home with a policy, and an MCP client whose
 * server is `acp mcp`.
 */
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

/** A running demo. */
export interface World extends AsyncDisposable {
  /** Holds `project/` and `outside/`; the file server may write in both. */
  readonly folder: string;
  /** Holds policy, log and the approve socket. */
  readonly home: string;
  readonly client: Client;
  /** What `acp mcp` says on stderr. */
  readonly said: () => readonly string[];
}

const require = createRequire(import.meta.url);

/** The file that a package's command runs. */
export function commandOf(name: string, path: string): string {
  return join(dirname(require.resolve(`${name}/package.json`)), path);
}

/**
 * Makes the folders, starts the client, and with it `acp mcp` and the file server.
 *
 * @param config - Channel and its settings for `config.yml`; without it the terminal's.
 */
export async function createWorld(config: string = "channel: prompt\n"): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), "acp-demo-"));
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
  try {
    const [folder, home] = [join(root, "scratch"), join(root, "home")];
    await mkdir(join(folder, "project"), { recursive: true });
    await mkdir(join(folder, "outside"));
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(folder, "project/notes.txt"), "Buy milk");
    await copyFile(fileURLToPath(new URL("policy.yml", import.meta.url)), join(home, "policy.yml"));
    await writeFile(join(home, "config.yml"), `version: "1"\n${config}`, { mode: 0o600 });
    const { client, said } = await connect(folder, home);
    const close = async (): Promise<void> => {
      await client.close();
      await remove();
    };
    return { folder, home, client, said, [Symbol.asyncDispose]: close };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function connect(folder: string, home: string): Promise<Pick<World, "client" | "said">> {
  const server = [
    process.execPath,
    commandOf("@modelcontextprotocol/server-filesystem", "dist/index.js"),
    folder,
  ];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      commandOf("@acp/cli", "bin/acp.cjs"),
      "mcp",
      // Nothing of the demo stays, and a container runs it, too.
      "--alone",
      "--home",
      home,
      "--agent",
      "demo-agent",
      "--server",
      "files",
      "--",
      ...server,
    ],
    cwd: folder,
    stderr: "pipe",
  });
  let text = "";
  transport.stderr?.on("data", (chunk) => {
    text += String(chunk);
  });
  const client = new Client({ name: "acp-demo", version: "1.0.0" });
  await client.connect(transport);
  return { client, said: () => text.split("\n").filter((line) => line !== "") };
}
