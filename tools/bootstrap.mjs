// Set-up for a fresh clone with only Node and npm: the pinned pnpm, the frozen install, the build;
// then the named root script. What a stamp shows to be done is skipped. All its own output goes to
// stderr, so that a script's stdout stays its own.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { engines, packageManager, scripts } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

/** @param {string} text */
const say = (text) => process.stderr.write(`${text}\n`);

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  say(
    `✗ Cannot set up with Node ${process.versions.node}: this project needs Node ${engines.node}. Try: npx -p node@22 npm run setup`,
  );
  process.exit(1);
}

/** @type {import("node:child_process").ChildProcess | undefined} */
let running;
// Ctrl-C reaches the child too; waiting for it lets it clean up before we go.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => running?.kill("SIGTERM"));

/**
 * Runs a program to its end. Piped output is shown on stderr and kept for the diagnosis of a
 * failure.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @returns {Promise<{ status: number, output: string }>}
 */
function run(command, args, options) {
  return new Promise((resolve) => {
    let output = "";
    const child = spawn(command, args, { cwd: root, ...options });
    running = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk) => {
        output += String(chunk);
        process.stderr.write(chunk);
      });
    }
    child.on("error", (error) => resolve({ status: 1, output: error.message }));
    child.on("close", (status, signal) =>
      resolve({ status: status ?? (signal === "SIGINT" ? 130 : 143), output }),
    );
  });
}

/** @type {readonly (readonly [RegExp, string])[]} */
const ADVICE = [
  [
    /OUTDATED_LOCKFILE|EUSAGE/,
    `A package.json and its lock file differ. Run: npx --yes ${packageManager} install --no-frozen-lockfile`,
  ],
  [
    /EINTEGRITY|TARBALL_INTEGRITY/,
    "A download does not have the bytes that the lock file names. Stop here and look at the registry",
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|META_FETCH_FAIL|ERR_SOCKET/,
    "The npm registry cannot be reached. Check the network, the proxy and `npm config get registry`, then run this again",
  ],
  [/ENOSPC/, "The disk is full"],
];

/**
 * @param {string} name
 * @param {() => Promise<{ status: number, output: string }>} work
 */
async function step(name, work) {
  const start = Date.now();
  say(`• ${name} …`);
  const { status, output } = await work();
  if (status !== 0) {
    const advice =
      ADVICE.find(([pattern]) => pattern.test(output))?.[1] ?? "The lines above say why";
    say(`✗ ${name} failed. ${advice}`);
    process.exit(status);
  }
  say(`✓ ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}

/** @type {import("node:child_process").StdioOptions} */
const piped = ["ignore", "pipe", "pipe"];
const pnpmHome = join(root, "tools/pnpm");
const pnpmScript = join(pnpmHome, "node_modules/pnpm/bin/pnpm.cjs");

function isPnpmThere() {
  const manifest = join(pnpmHome, "node_modules/pnpm/package.json");
  return (
    existsSync(pnpmScript) &&
    `pnpm@${JSON.parse(readFileSync(manifest, "utf8")).version}` === packageManager
  );
}

/**
 * pnpm comes through `npm ci`, so its bytes are checked against the hash in
 * tools/pnpm/package-lock.json.
 */
function installPnpm() {
  const args = [
    "ci",
    "--ignore-scripts",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const npm = process.env["npm_execpath"] ?? "";
  const options = { cwd: pnpmHome, stdio: piped };
  return basename(npm) === "npm-cli.js"
    ? run(process.execPath, [npm, ...args], options)
    : run("npm", args, options);
}

function installPackages() {
  const args = [
    "install",
    "--frozen-lockfile",
    "--prefer-offline",
    "--ignore-scripts",
    "--prod=false",
    "--reporter=append-only",
  ];
  return run(process.execPath, [pnpmScript, ...args], {
    env: { ...process.env, CI: "true" },
    stdio: piped,
  });
}

const [task, ...rest] = process.argv.slice(2).filter((each) => each !== "--system");
if (process.argv.includes("--system"))
  await step("system packages", () => run("bash", ["tools/system.sh"], { stdio: piped }));
const { isBuilt, isInstalled, stampInstall } = await import("./stamp.mjs");
if (!isPnpmThere()) await step("package manager", installPnpm);
if (isInstalled()) {
  say("• install: up to date");
} else {
  await step("install", installPackages);
  stampInstall();
}
if (isBuilt()) say("• build: up to date");
else await step("build", () => run(process.execPath, ["tools/build.mjs"], { stdio: piped }));

if (task === undefined) {
  say("✓ ready: npm run demo · npm test · npm run check · npm run bench");
} else {
  const [, ...args] = scripts[task].split(" ");
  const { status } = await run(process.execPath, [...args, ...rest], { stdio: "inherit" });
  process.exit(status);
}
