/**
 * fetch-patch and npm, whose agent finds its proxy itself: a package named by a plain URL arrives,
 * and the proxy sees which.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "tsup";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostNeed } from "@acp/testing";
import { listen, startPlainProxy } from "./plain-proxy.js";

const npm = hostNeed("npm", () => void execFileSync("npm", ["--version"], { stdio: "pipe" }));
const dir = mkdtempSync(join(tmpdir(), "acp-patch-npm-"));
const PATH = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
const env = { PATH, HOME: dir };
const origin = createServer((_, outgoing) =>
  outgoing.end(readFileSync(join(dir, "tiny-1.0.0.tgz"))),
);

beforeAll(async () => {
  await build({
    entry: [fileURLToPath(new URL("../src/fetch-patch.ts", import.meta.url))],
    outDir: dir,
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    platform: "neutral",
    external: [/^node:/],
    splitting: false,
    silent: true,
    config: false,
  });
  for (const name of ["tiny", "project"]) {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
  }
});

afterAll(async () => {
  origin.closeAllConnections();
  await new Promise((resolve) => origin.close(resolve));
  rmSync(dir, { recursive: true });
});

describe.skipIf(!npm.run)(`npm ${npm.reason}`, () => {
  it("installs from a plain URL through the proxy, and opens no tunnel to the proxy", async () => {
    execFileSync("npm", ["pack", "--silent", "--no-update-notifier", "--pack-destination", dir], {
      cwd: join(dir, "tiny"),
      env,
      stdio: "pipe",
    });
    const port = await listen(origin);
    // npm asks its registry for a newer npm first, by https: where its agent has a tunnel, it takes
    // one for everything.
    await using proxy = await startPlainProxy(() => ({ status: 403, body: "" }));
    const url = `http://packages.test:${port}/tiny-1.0.0.tgz`;
    const at = `http://127.0.0.1:${proxy.port}`;
    const through = { HTTP_PROXY: at, HTTPS_PROXY: at, http_proxy: at, https_proxy: at };
    const args = ["install", "--no-audit", "--no-fund", "--fetch-retries=0", url];
    const patched = {
      ...env,
      ...through,
      NODE_OPTIONS: `--import=${join(dir, "fetch-patch.mjs")}`,
    };
    await promisify(execFile)("npm", args, { cwd: join(dir, "project"), env: patched });
    const seen = proxy.seen.filter(
      (line) => line.includes("127.0.0.1") || line.includes("packages.test"),
    );
    expect(seen.length).toBeGreaterThan(0);
    expect(new Set(seen)).toEqual(new Set([`GET ${url}  packages.test:${port}`]));
    expect(readFileSync(join(dir, "project/node_modules/tiny/package.json"), "utf8")).toContain(
      "tiny",
    );
  });
});
