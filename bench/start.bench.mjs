// What it costs to start a command that does nothing: `acp run --alone -- /bin/true` in a home of its own,
// beside bare bubblewrap with a root as small, one start of Node, sandbox-runtime where it is
// installed and a container where a daemon runs. Alternating; wall and processor time (children
// included), medians.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fixed, summary } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const STARTS = Number(process.env.STARTS ?? 15);
if (process.platform !== "linux") {
  console.log(isJson ? "null" : "  left out: Linux only");
  process.exit(0);
}

const scratch = mkdtempSync(join(tmpdir(), "acp-bench-start-"));
chmodSync(scratch, 0o755); // a root manager gives the command to somebody else, who has to reach it
const [home, work] = ["home", "work"].map((name) => join(scratch, name));
for (const each of [home, work]) mkdirSync(each);
const env = { ...process.env, HOME: home };
const ACP = fileURLToPath(new URL("../packages/cli/bin/acp.cjs", import.meta.url));
const SRT = fileURLToPath(new URL("node_modules/.bin/srt", import.meta.url));
const LINKS = ["bin", "lib", "lib64"].flatMap((name) =>
  existsSync(`/${name}`) ? ["--symlink", `usr/${name}`, `/${name}`] : [],
);
const BWRAP = [
  "bwrap",
  "--ro-bind",
  "/usr",
  "/usr",
  ...LINKS,
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--unshare-all",
  "--die-with-parent",
  "--",
];
const contestants = {
  "bare bwrap": [...BWRAP, "/bin/true"],
  "node -e 0": [process.execPath, "-e", "0"],
  "acp run": [process.execPath, ACP, "run", "--alone", "--", "/bin/true"],
  "sandbox-runtime": [SRT, "/bin/true"],
  docker: ["docker", "run", "--rm", "--network", "none", "busybox", "true"],
};
/** What cannot run here, with the reason. */
const skipped = {};
if (!existsSync(SRT)) skipped["sandbox-runtime"] = "not installed";
if (
  spawnSync("docker", ["image", "inspect", "busybox"], { stdio: "ignore", timeout: 20_000 })
    .status !== 0
)
  skipped.docker = "no daemon, or no busybox image";

/** Bash reports what the children of its child used as well. */
function measure(argv) {
  const script = `TIMEFORMAT='%R %U %S'; { time "$@" >/dev/null 2>&1; } 2>&1`;
  const { stdout, status } = spawnSync("bash", ["-c", script, "bash", ...argv], {
    cwd: work,
    env,
    encoding: "utf8",
    timeout: 60_000,
  });
  const [wall, user, system] = stdout.trim().split(" ").map(Number);
  if (status !== 0 || !(wall >= 0)) throw new Error(`Cannot measure ${argv.join(" ")}: ${stdout}`);
  return { wallMs: wall * 1000, cpuMs: (user + system) * 1000 };
}

try {
  const made = spawnSync(process.execPath, [ACP, "init"], {
    env,
    cwd: work,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (made.status !== 0) throw new Error("Cannot make a home to start in");
  const here = Object.entries(contestants).filter(([name]) => !(name in skipped));
  const samples = Object.fromEntries(here.map(([name]) => [name, []]));
  for (let round = -1; round < STARTS; round++)
    for (const [name, argv] of here) {
      const sample = measure(argv);
      if (round >= 0) samples[name].push(sample); // the first one fills caches
    }
  const of = (name, key) => summary(samples[name].map((each) => each[key])).p50;
  // In parts of the start of Node in the same round: a busy machine slows down both.
  const timesNode = (name, key) =>
    summary(samples[name].map((each, round) => each[key] / samples["node -e 0"][round][key])).p50;
  const result = Object.fromEntries(
    here.map(([name]) => [
      name,
      {
        wallMs: of(name, "wallMs"),
        cpuMs: of(name, "cpuMs"),
        wallTimesNode: timesNode(name, "wallMs"),
        cpuTimesNode: timesNode(name, "cpuMs"),
      },
    ]),
  );
  if (isJson) console.log(JSON.stringify({ starts: STARTS, result, skipped }));
  else {
    for (const [name, { wallMs, cpuMs, wallTimesNode, cpuTimesNode }] of Object.entries(result))
      console.log(
        `  ${name.padEnd(18)} ${fixed(wallMs, 0).padStart(6)} ms (${fixed(wallTimesNode, 2)} × Node)` +
          `  ${fixed(cpuMs, 0).padStart(6)} ms of processor (${fixed(cpuTimesNode, 2)} × Node)`,
      );
    for (const [name, why] of Object.entries(skipped))
      console.log(`  ${name.padEnd(18)} skipped: ${why}`);
  }
} finally {
  rmSync(scratch, { recursive: true });
}
