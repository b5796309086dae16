// What `import "@acp/core"` costs: milliseconds of a process beside an empty one, interleaved, and kilobytes bundled, minified and gzipped.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { fixed, summary } from "./samples.mjs";

// esbuild comes with the bundler that builds the packages.
const { build } = createRequire(createRequire(fileURLToPath(new URL("../package.json", import.meta.url))).resolve("tsup"))("esbuild");

const folder = fileURLToPath(new URL(".", import.meta.url));
const isJson = process.argv.includes("--json");
const RUNS = 25;
const entries = {
  "@acp/core": `import "@acp/core"`,
  "@acp/core + yaml": `import "@acp/core"; import "@acp/core/yaml"`,
  "MCP SDK server": `import "@modelcontextprotocol/sdk/server/index.js"`,
};

/** Wall and CPU milliseconds of one process that runs the code. */
function run(code) {
  const probe = `${code}; process.on("exit", () => { const { user, system } = process.resourceUsage ? { user: process.resourceUsage().userCPUTime, system: process.resourceUsage().systemCPUTime } : {}; process.stdout.write(String((user + system) / 1000)); });`;
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", probe], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return { wall: performance.now() - start, cpu: Number(stdout) };
}

const samples = Object.fromEntries(["empty", ...Object.keys(entries)].map((name) => [name, { wall: [], cpu: [] }]));
for (let i = -2; i < RUNS; i++) {
  for (const name of Object.keys(samples)) {
    const { wall, cpu } = run(entries[name] ?? "");
    if (i < 0) continue;
    samples[name].wall.push(wall);
    samples[name].cpu.push(cpu);
  }
}

async function gzipBytes(code) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    write: false,
    logLevel: "error",
    external: ["node:*"],
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

const empty = { wall: summary(samples.empty.wall).p50, cpu: summary(samples.empty.cpu).p50 };
const results = {};
for (const [name, code] of Object.entries(entries)) {
  results[name] = {
    wallMs: summary(samples[name].wall).p50 - empty.wall,
    cpuMs: summary(samples[name].cpu).p50 - empty.cpu,
    gzipKb: (await gzipBytes(code.replaceAll("import ", "export * from "))) / 1024,
  };
}
if (isJson) console.log(JSON.stringify({ emptyProcess: empty, added: results }));
else {
  console.log(`  empty process: ${fixed(empty.wall)} ms wall, ${fixed(empty.cpu)} ms CPU (median of ${RUNS})`);
  for (const [name, { wallMs, cpuMs, gzipKb }] of Object.entries(results)) {
    console.log(`  ${name.padEnd(18)} +${wallMs.toFixed(1)} ms wall, +${cpuMs.toFixed(1)} ms CPU, ${gzipKb.toFixed(1)} kB gzip`);
  }
}
