// The parts of a policy: one name seen before and never before, hostile texts against globs and
// path patterns, containment, time windows, policies of 10,000 rules.
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
/** Many rules that differ in one thing, and calls that match one of the last. */
const MANY = 10_000;
const manyOf = (rule) => load(Array.from({ length: MANY }, (_, i) => rule(i)));
const late = (make) => Array.from({ length: 1_000 }, (_, i) => make(MANY - 1_000 + i));
const allow = (match) => ({ match, action: "allow" });
const deny = (match) => ({ match, action: "deny" });
const tools = manyOf((i) => allow({ tool: `team${i}_*` }));
const hosts = manyOf((i) => allow({ host: `*.team${i}.example` }));
const paths = manyOf((i) => deny({ tool: "*", args: { path: { path: `/srv/team${i}/**` } } }));
const texts = manyOf((i) => deny({ tool: "send", args: { to: `team${i}_*` } }));
const files = Array.from({ length: 1_000 }, (_, i) =>
  toolAction("s", "t", { file: `/home/ada/projects/src/file${i}.ts` }),
);
const known = late((i) => toolAction("s", `team${i}_x`, {}));
const requests = late((i) => httpAction("GET", `https://a.team${i}.example/`));
const inside10k = late((i) => toolAction("s", "read", { path: `/srv/team${i}/src/a.ts` }));
const recipients = late((i) => toolAction("s", "send", { to: `team${i}_x` }));
let unseen = 0;
const usual = {
  "a time window": () => window.judge(files[0], facts),
  "a path in a directory": (i) => inside.judge(files[i], facts),
  "10,000 rules, a tool seen before": (i) => tools.judge(known[i], facts),
  "10,000 rules, a tool never seen (with making the Action)": () =>
    tools.judge(toolAction("s", `team9999_${unseen++}`, {}), facts),
  "10,000 host rules": (i) => hosts.judge(requests[i], facts),
  "10,000 path rules": (i) => paths.judge(inside10k[i], facts),
  "10,000 rules for one argument": (i) => texts.judge(recipients[i], facts),
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
