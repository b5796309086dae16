// Set-up for a fresh clone with only Node and npm: a pinned pnpm, the frozen install, the build, then the named root scripts.
// A second run finds the stamps of install and build unchanged and skips them.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isBuilt, isInstalled, stampInstall } from "./stamp.mjs";

const root = new URL("..", import.meta.url);
const { packageManager, engines } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const pin = packageManager.split("@")[1];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Cannot set up with Node ${process.versions.node}: this project needs Node ${engines.node}`);
  process.exit(1);
}

function pnpm(args, quiet = false) {
  const own = spawnSync("pnpm", ["--version"], { encoding: "utf8" });
  const [command, first] = own.status === 0 && own.stdout.trim() === pin ? ["pnpm", []] : ["npx", ["--yes", `pnpm@${pin}`]];
  const done = spawnSync(command, [...first, ...args], { cwd: root, stdio: quiet ? "ignore" : "inherit", env: { ...process.env, CI: "true" } });
  if (done.error) throw done.error;
  return done.status ?? 1;
}

function node(script, args) {
  const done = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: "inherit" });
  return done.status ?? 1;
}

function step(name, skip, run) {
  if (skip) return console.log(`• ${name}: up to date`);
  const start = Date.now();
  console.log(`• ${name} …`);
  const status = run();
  if (status !== 0) {
    console.error(`✗ ${name} failed (exit ${status})`);
    process.exit(status);
  }
  console.log(`✓ ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}

step("install", isInstalled(), () => {
  const status = pnpm(["install", "--frozen-lockfile", "--prefer-offline", "--reporter=append-only"]);
  if (status === 0) stampInstall();
  return status;
});
step("build", isBuilt(), () => node("tools/build.mjs", []));
const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const [task, ...rest] = process.argv.slice(2);
if (task !== undefined) {
  const [, script] = scripts[task].split(" ");
  process.exit(node(script, rest));
}
