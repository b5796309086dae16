/**
 * npm steps: runs inside a sandbox, where npm finds out which packages an MCP server needs and puts
 * them together. Nothing that it says is believed: the manager checks lockfiles, cuts the network
 * itself, and takes files by rules of its own. Protocol: packages/cli/src/servers/npm-sandbox.ts.
 */
"use strict";
const { spawn } = require("node:child_process");
const {
  mkdirSync,
  createReadStream,
  existsSync,
  readdirSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} = require("node:fs");
const { join } = require("node:path");
const { createInterface } = require("node:readline");
const { once } = require("node:events");

const [npm = ""] = process.argv.slice(2);
const home = process.env["HOME"] ?? "";
const tree = join(home, "tree");
const TEXT_CHARS_MAX = 4096;

/** @param {unknown} message */
const say = async (message) => {
  if (!process.stdout.write(`${JSON.stringify(message)}\n`)) await once(process.stdout, "drain");
};

/**
 * Runs npm; what it says is kept for the message, its end at most.
 *
 * @param {readonly string[]} args
 * @returns {Promise<string | undefined>} Why it failed.
 */
const run = async (args) => {
  const child = spawn(process.execPath, [npm, ...args], {
    cwd: tree,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on(
      "data",
      (/** @type {string} */ text) => (said = (said + text).slice(-4 * TEXT_CHARS_MAX)),
    );
  }
  const [code, signal] = await once(child, "close");
  if (code === 0) return undefined;
  // npm's own lines first: they have the reason, and the rest is where its log lies.
  const lines = said
    .split("\n")
    .filter((line) => line.trim() !== "" && !/complete log|_logs/.test(line));
  const errors = lines
    .filter((line) => /^npm (?:error|ERR!)/.test(line))
    .map((line) => line.replace(/^npm (?:error|ERR!) ?/, ""));
  return (
    errors.length > 0
      ? errors.join("; ")
      : `${lines.slice(-5).join("; ")} (${signal ?? `exit code ${code}`})`
  ).slice(0, TEXT_CHARS_MAX);
};

/** @param {string} name */
const read = (name) => readFileSync(join(tree, name), "utf8");

/**
 * @param {{ readonly npmrc: string, readonly manifest: string, readonly lockfile?: string }} order
 */
const prepare = ({ npmrc, manifest, lockfile }) => {
  writeFileSync(join(home, ".npmrc"), npmrc);
  mkdirSync(tree);
  writeFileSync(join(tree, "package.json"), manifest);
  if (lockfile !== undefined) writeFileSync(join(tree, "package-lock.json"), lockfile);
};

/** Hands over every directory, link and file below a path of the tree. @param {string} path */
const pack = async (path) => {
  const at = join(tree, path);
  const found = lstatSync(at);
  if (found.isSymbolicLink()) return say({ link: path, to: readlinkSync(at) });
  if (found.isDirectory()) {
    await say({ directory: path });
    for (const name of readdirSync(at)) await pack(`${path}/${name}`);
    return undefined;
  }
  if (!found.isFile()) return say({ other: path });
  await say({ file: path, bytes: found.size, runs: (found.mode & 0o111) !== 0 });
  if (found.size === 0) return undefined;
  // No more than was announced, should somebody still be writing.
  for await (const chunk of createReadStream(at, { end: found.size - 1 }))
    if (!process.stdout.write(chunk)) await once(process.stdout, "drain");
  return undefined;
};

const main = async () => {
  const orders = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  for (let next = await orders.next(); next.done !== true; next = await orders.next()) {
    const order = JSON.parse(next.value);
    /** @type {string | undefined} */
    let failed;
    if (order.step === "resolve") {
      prepare(order);
      failed = await run(["install", "--package-lock-only"]);
      await say(failed === undefined ? { lockfile: read("package-lock.json") } : { failed });
    } else if (order.step === "install") {
      prepare(order);
      failed = await run(["ci", "--ignore-scripts"]);
      const installed = join("node_modules", ".package-lock.json");
      await say(
        failed === undefined
          ? { installed: existsSync(join(tree, installed)) ? read(installed) : "{}" }
          : { failed },
      );
    } else if (order.step === "scripts") {
      failed = await run(["rebuild", "--ignore-scripts=false", "--foreground-scripts"]);
      await say(failed === undefined ? { done: true } : { failed });
    } else if (order.step === "pack") {
      if (existsSync(join(tree, "node_modules"))) await pack("node_modules");
      await say({ end: true });
    }
  }
};

main().catch(async (/** @type {Error} */ error) => {
  await say({ failed: error.message.slice(0, TEXT_CHARS_MAX) });
  process.exit(1);
});
