// Runs every bench/*.bench.ts and *.bench.mjs, each in its own process: `npm run bench`, `-- --only
// name`, `-- --json`.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, only: { type: "string", multiple: true } },
});
const folder = fileURLToPath(new URL(".", import.meta.url));
const benchmarks = readdirSync(folder)
  .filter((file) => /\.bench\.(ts|mjs)$/.test(file))
  .map((file) => ({ file, name: file.replace(/\.bench\.\w+$/, "") }))
  .filter(({ name }) => values.only === undefined || values.only.includes(name));

if (benchmarks.length === 0) {
  console.error(
    `Cannot run a benchmark${values.only === undefined ? "" : ` named "${values.only.join(", ")}"`}: there is none`,
  );
  process.exit(1);
}

const machine = {
  node: process.versions.node,
  platform: `${process.platform} ${process.arch}`,
  cpu: cpus()[0]?.model ?? "?",
  cores: cpus().length,
};
if (!values.json)
  console.log(`Node ${machine.node}, ${machine.platform}, ${machine.cores} × ${machine.cpu}`);

/** @type {Record<string, unknown>} */
const results = {};
/** @type {string[]} */
const failed = [];
for (const { file, name } of benchmarks) {
  if (!values.json) console.log(`\n${name}`);
  const args = ["--import", "tsx", join(folder, file), ...(values.json ? ["--json"] : [])];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", values.json ? "pipe" : "inherit", "inherit"],
  });
  if (status !== 0) failed.push(name);
  else if (values.json) results[name] = JSON.parse(stdout.trim().split("\n").at(-1) ?? "null");
}
if (values.json) console.log(JSON.stringify({ machine, results, failed }, undefined, 2));
if (failed.length > 0) console.error(`✗ failed: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
