// What `import "@acp/core"` and each entry beside it cost: milliseconds of a process beside an
// empty one, interleaved, and kilobytes (of 1,024 bytes) bundled whole, minified and gzipped: on
// Node, and for a browser, where hashes and curves come from a library.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { fixed, summary } from "./samples.mjs";

// esbuild comes with the bundler that builds the packages.
const { build } = createRequire(
  createRequire(fileURLToPath(new URL("../package.json", import.meta.url))).resolve("tsup"),
)("esbuild");

const folder = fileURLToPath(new URL(".", import.meta.url));
const isJson = process.argv.includes("--json");
const RUNS = 25;
const entries = {
  "@acp/core": `import "@acp/core"`,
  "@acp/core + policy": `import "@acp/core"; import "@acp/core/policy"`,
  "@acp/core + proof": `import "@acp/core"; import "@acp/core/proof"`,
  "@acp/core + vault": `import "@acp/core"; import "@acp/core/vault"`,
  "@acp/core + yaml": `import "@acp/core"; import "@acp/core/yaml"`,
  "MCP SDK server": `import "@modelcontextprotocol/sdk/server/index.js"`,
};

/** Wall and CPU milliseconds of one process that runs the code. */
function run(code) {
  const probe = `${code}; process.on("exit", () => { const { user, system } = process.resourceUsage ? { user: process.resourceUsage().userCPUTime, system: process.resourceUsage().systemCPUTime } : {}; process.stdout.write(String((user + system) / 1000)); });`;
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", probe],
    { cwd: folder, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return { wall: performance.now() - start, cpu: Number(stdout) };
}

const samples = Object.fromEntries(
  ["empty", ...Object.keys(entries)].map((name) => [name, { wall: [], cpu: [] }]),
);
for (let i = -2; i < RUNS; i++) {
  for (const name of Object.keys(samples)) {
    const { wall, cpu } = run(entries[name] ?? "");
    if (i < 0) continue;
    samples[name].wall.push(wall);
    samples[name].cpu.push(cpu);
  }
}

async function bundleKb(code, platform) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder },
    bundle: true,
    minify: true,
    format: "esm",
    platform,
    write: false,
    logLevel: "error", // a warning says that an import without effects is left out, which is meant
    external: ["node:*"],
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length / 1024;
}

const empty = { wall: summary(samples.empty.wall).p50, cpu: summary(samples.empty.cpu).p50 };
const results = {};
for (const [name, code] of Object.entries(entries)) {
  const whole = code.replaceAll("import ", "export * from ");
  results[name] = {
    wallMs: summary(samples[name].wall).p50 - empty.wall,
    cpuMs: summary(samples[name].cpu).p50 - empty.cpu,
    gzipKb: await bundleKb(whole, "node"),
    ...(name.startsWith("@acp/") ? { browserGzipKb: await bundleKb(whole, "browser") } : {}),
  };
}
if (isJson) console.log(JSON.stringify({ emptyProcess: empty, added: results }));
else {
  console.log(
    `  empty process: ${fixed(empty.wall)} ms wall, ${fixed(empty.cpu)} ms CPU (median of ${RUNS})`,
  );
  for (const [name, { wallMs, cpuMs, gzipKb, browserGzipKb }] of Object.entries(results)) {
    const inBrowser = browserGzipKb === undefined ? "" : ` (browser ${browserGzipKb.toFixed(1)})`;
    console.log(
      `  ${name.padEnd(18)} +${wallMs.toFixed(1)} ms wall, +${cpuMs.toFixed(1)} ms CPU, ${gzipKb.toFixed(1)} kB gzip${inBrowser}`,
    );
  }
}
