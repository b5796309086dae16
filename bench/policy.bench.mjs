// The parts of a policy: one name seen before and never before, hostile texts against globs and
// path patterns, containment, time windows.
import { httpAction, shellAction, toolAction } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { fixed, summary, timeInterleaved } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const facts = { agent: { id: "bench" }, nowMs: Date.UTC(2026, 0, 5, 12) };
const KIB_64 = 65_536;
const load = (rules) => parsePolicy({ version: "1", rules }, { home: "/home/ada", cwd: "/work" });

/**
 * One rule that must not match: the text is read to its end. Two texts in turn, so that nothing
 * learnt of one helps.
 */
function hostileGlob(pattern, text, action) {
  const policy = load([{ match: { kind: "shell", args: pattern }, action }]);
  const commands = ["1", "2"].map((end) => shellAction(`${text}${end}`));
  for (const command of commands)
    if (policy.judge(command, facts) !== undefined) throw new Error(`${pattern} matches`);
  return (i) => policy.judge(commands[i % 2], facts);
}

function hostilePath(pattern, path) {
  const policy = load([
    { match: { tool: "*", args: { file: { path: pattern } } }, action: "allow" },
  ]);
  const call = toolAction("s", "t", { file: path });
  if (policy.judge(call, facts) !== undefined) throw new Error(`${pattern} matches`);
  return () => policy.judge(call, facts);
}

const long = `/${`${"a".repeat(255)}/`.repeat(15)}y`;
const many = `/${"a/".repeat(2_040)}c`;
const hostile = {
  "glob, allow: *a*a*a*a*b*": hostileGlob("*a*a*a*a*b*", "a".repeat(KIB_64), "allow"),
  "glob, deny: *a*a*a*a*b*": hostileGlob("*a*a*a*a*b*", "a".repeat(KIB_64), "deny"),
  "glob, deny: *secret*key*": hostileGlob("*secret*key*", "secretke".repeat(KIB_64 / 8), "deny"),
  "glob, deny: *a?a?a?b*": hostileGlob("*a?a?a?b*", "a".repeat(KIB_64), "deny"),
  "glob, deny: 128 characters with ?": hostileGlob(
    `*${"a?".repeat(63)}ab*`,
    "a".repeat(KIB_64),
    "deny",
  ),
  "path: 15 segments of *a*a": hostilePath(`${"/*a*a".repeat(15)}/x`, long),
  "path: /**/*a*a/**/*a*a/y": hostilePath("/**/*a*a/**/*a*a/y", `${long}z`),
  "path: 58 segments between two **": hostilePath(`/**${"/*a*".repeat(58)}/b/**/c`, many),
};

const window = load([
  {
    match: { kind: "*" },
    action: "allow",
    conditions: { time_of_day: { after: "09:00", before: "17:00", timezone: "Europe/Berlin" } },
  },
]);
const inside = load([
  { match: { tool: "*", args: { file: { path: "~/projects/**" } } }, action: "allow" },
]);
const tools = load(
  Array.from({ length: 1_000 }, (_, rule) => ({
    match: { tool: `team${rule}_*` },
    action: "allow",
  })),
);
const hosts = load(
  Array.from({ length: 1_000 }, (_, rule) => ({
    match: { host: `*.team${rule}.example` },
    action: "allow",
  })),
);
const files = Array.from({ length: 1_000 }, (_, i) =>
  toolAction("s", "t", { file: `/home/ada/projects/src/file${i}.ts` }),
);
const known = Array.from({ length: 1_000 }, (_, i) =>
  toolAction("s", `team${900 + (i % 100)}_x`, {}),
);
const requests = Array.from({ length: 1_000 }, (_, i) =>
  httpAction("GET", `https://a.team${900 + (i % 100)}.example/`),
);
let unseen = 0;
const usual = {
  "a time window": () => window.judge(files[0], facts),
  "a path in a directory": (i) => inside.judge(files[i], facts),
  "1,000 rules, a tool seen before": (i) => tools.judge(known[i], facts),
  "1,000 rules, a tool never seen (with making the Action)": () =>
    tools.judge(toolAction("s", `team999_${unseen++}`, {}), facts),
  "1,000 host rules": (i) => hosts.judge(requests[i], facts),
};

const results = {
  ...summaries(timeInterleaved(usual, { rounds: 10, requests: 1_000, warmup: 3 })),
  ...summaries(timeInterleaved(hostile, { rounds: 10, requests: 6, warmup: 3 })),
};
if (isJson) console.log(JSON.stringify({ unit: "µs", results }));
else
  for (const [name, { p50, p99 }] of Object.entries(results))
    console.log(
      `  ${name.padEnd(56)} p50 ${fixed(p50).padStart(7)} µs   p99 ${fixed(p99).padStart(7)} µs`,
    );

function summaries(samples) {
  return Object.fromEntries(Object.entries(samples).map(([name, list]) => [name, summary(list)]));
}
