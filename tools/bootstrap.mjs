// Set-up for a fresh clone with only Node and npm: the pinned pnpm, the frozen install, the build; then the named root script.
// What a stamp shows to be done is skipped. All its own output goes to stderr, so that a script's stdout stays its own.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { engines, packageManager, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const say = (text) => process.stderr.write(`${text}\n`);

function fail(text, status = 1) {
  say(`✗ ${text}`);
  process.exit(status);
}

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Cannot set up with Node ${process.versions.node}: this project needs Node ${engines.node}. Try: npx -p node@22 npm run setup`);
}

// Ctrl-C reaches the child too; waiting for it lets it clean up before we go.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => running?.kill(signal));
let running;

/** Runs a program; `keep` also returns what it printed, for the diagnosis of a failure. */
function run(command, args, { cwd = root, env = {}, stdio = "inherit" } = {}) {
  return new Promise((resolve) => {
    let output = "";
    running = spawn(command, args, { cwd, stdio, env: { ...process.env, ...env } });
    for (const stream of [running.stdout, running.stderr]) {
      stream?.on("data", (chunk) => {
        output += chunk;
        process.stderr.write(chunk);
      });
    }
    running.on("error", (error) => resolve({ status: 1, output: error.message }));
    running.on("close", (status, signal) => resolve({ status: status ?? (signal === "SIGINT" ? 130 : 143), output }));
  });
}

async function step(name, isDone, work) {
  if (isDone) return say(`• ${name}: up to date`);
  const start = Date.now();
  say(`• ${name} …`);
  const { status, output } = await work();
  if (status !== 0) fail(`${name} failed. ${adviceFor(output)}`, status);
  say(`✓ ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}

function adviceFor(output) {
  if (/OUTDATED_LOCKFILE|npm ci. can only install|EUSAGE/.test(output)) {
    return "pnpm-lock.yaml does not match a package.json. Run: npx --yes " + packageManager + " install --lockfile-only";
  }
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|META_FETCH_FAIL|ERR_SOCKET/.test(output)) {
    return "The npm registry cannot be reached. Check the network, the proxy and `npm config get registry`, then run this again";
  }
  if (/EINTEGRITY|TARBALL_INTEGRITY/.test(output)) return "A download does not have the bytes that the lock file names. Do not go on; check the registry";
  if (/ENOSPC/.test(output)) return "The disk is full";
  return "The lines above say why";
}

const piped = { stdio: ["ignore", "pipe", "pipe"] };
const pnpmHome = join(root, "tools/pnpm");
const pnpmScript = join(pnpmHome, "node_modules/pnpm/bin/pnpm.cjs");

/** pnpm comes through `npm ci`, so its bytes are checked against the hash in tools/pnpm/package-lock.json. */
function installPnpm() {
  const args = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env.npm_execpath;
  const isNpm = npm !== undefined && basename(npm) === "npm-cli.js";
  const [command, first] = isNpm ? [process.execPath, [npm]] : ["npm", []];
  return run(command, [...first, ...args], { cwd: pnpmHome, ...piped });
}

function isPnpmThere() {
  const manifest = join(pnpmHome, "node_modules/pnpm/package.json");
  return existsSync(pnpmScript) && `pnpm@${JSON.parse(readFileSync(manifest, "utf8")).version}` === packageManager;
}

function installPackages() {
  const args = ["install", "--frozen-lockfile", "--prefer-offline", "--ignore-scripts", "--prod=false", "--reporter=append-only"];
  return run(process.execPath, [pnpmScript, ...args], { env: { CI: "true" }, ...piped });
}

const { isBuilt, isInstalled, stampInstall } = await import("./stamp.mjs");
if (!isInstalled()) {
  await step("package manager", isPnpmThere(), installPnpm);
  await step("install", false, installPackages);
  stampInstall();
} else {
  say("• install: up to date");
}
await step("build", isBuilt(), () => run(process.execPath, ["tools/build.mjs"], piped));

const [task, ...rest] = process.argv.slice(2);
if (task !== undefined) {
  const [, script] = scripts[task].split(" ");
  const { status } = await run(process.execPath, [script, ...rest]);
  process.exit(status);
}
say("✓ ready: npm run demo · npm test · npm run check · npm run bench");
