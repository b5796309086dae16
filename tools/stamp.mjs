// Stamps that tell whether the install and the build still match their inputs: a hash of the lock file, and of the sources.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const installStamp = join(root, "node_modules/.acp-install");
const buildStamp = join(root, "node_modules/.acp-build");

function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update("\0").update(readFileSync(join(root, file))).update("\0");
  return hash.digest("hex");
}

function sources() {
  const found = ["tsconfig.base.json", "tsconfig.build.json", "tools/build.mjs", "pnpm-lock.yaml"];
  for (const name of readdirSync(join(root, "packages")).sort()) {
    const dir = `packages/${name}`;
    found.push(`${dir}/package.json`, `${dir}/tsconfig.json`);
    for (const entry of readdirSync(join(root, dir, "src"), { recursive: true }).map(String).sort()) {
      if (entry.endsWith(".ts") && !entry.endsWith(".test.ts")) found.push(`${dir}/src/${entry}`);
    }
  }
  return found;
}

const holds = (stamp, value) => existsSync(stamp) && readFileSync(stamp, "utf8") === value;

function put(stamp, value) {
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(stamp, value);
}

export const isInstalled = () => holds(installStamp, hashOf(["pnpm-lock.yaml", "package.json"]));
export const stampInstall = () => put(installStamp, hashOf(["pnpm-lock.yaml", "package.json"]));

const isWhole = () =>
  readdirSync(join(root, "packages")).every((name) => existsSync(join(root, "packages", name, "dist/index.js")) && existsSync(join(root, "packages", name, "dist/index.d.ts")));
export const isBuilt = () => holds(buildStamp, hashOf(sources())) && isWhole();
export const stampBuild = () => put(buildStamp, hashOf(sources()));
