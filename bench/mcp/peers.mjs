// Other people's proxies, from npm at exact versions, into a folder that git does not know. They are
// no dependencies of ours: a hundred megabytes that only a benchmark needs.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../node_modules/.acp-bench-peers", import.meta.url));
/** Package, version and the program in it. */
const PEERS = {
  "mcp-proxy": { version: "6.7.19", file: "dist/bin/mcp-proxy.mjs" },
  supergateway: { version: "4.0.0", file: "dist/index.js" },
  // A proxy in Go: it reads each message and writes it anew.
  "@chaindead/tooner_linux_amd64": { version: "0.2.6", file: "tooner" },
};

/** The program of a peer; installed where it is not yet. `undefined`: it is not to be had. */
export function peer(name) {
  const { version, file } = PEERS[name];
  const folder = join(FOLDER, name.replaceAll("/", "+"));
  const program = join(folder, "node_modules", name, file);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  try {
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", `${name}@${version}`];
    execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    console.error(`  without ${name}: ${String(error.stderr).trim().split("\n").at(-1)}`);
    return undefined;
  }
  return program;
}
