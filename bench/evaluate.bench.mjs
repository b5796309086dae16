// gate.evaluate at 100 rules against Cedar: a tool glob and one argument glob a rule, 1,000
// distinct requests that match in the last tenth.
import { createRequire } from "node:module";
import { createConsentGate, toolAction } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { clockCost, fixed, summary, timeInterleaved } from "./samples.mjs";

const { preparsePolicySet, statefulIsAuthorized } = createRequire(import.meta.url)(
  "@cedar-policy/cedar-wasm/nodejs",
);

const RULES = 100;
const REQUESTS = 1_000;
const isJson = process.argv.includes("--json");

const toolGlob = (rule) => `team${rule}_*_record`;
const pathGlob = (rule) => `/data/${rule}/*`;
// Every request's first match lies in the last tenth of the rules.
const ruleOf = (request) => RULES - RULES / 10 + (request % (RULES / 10));
const requests = Array.from({ length: REQUESTS }, (_, i) => ({
  tool: `team${ruleOf(i)}_update${i}_record`,
  path: `/data/${ruleOf(i)}/file-${i}.txt`,
}));

const policy = parsePolicy({
  version: "1",
  default_action: "deny",
  rules: Array.from({ length: RULES }, (_, rule) => ({
    match: { tool: toolGlob(rule), args: { path: pathGlob(rule) } },
    action: "allow",
  })),
});
const gate = createConsentGate({
  policy,
  channel: { name: "none", deliver: () => Promise.reject(new Error("nobody")) },
  audit: { append: () => Promise.resolve({ seq: 0, hash: "" }) },
});
const context = { agent: { id: "bench" } };
const actions = requests.map(({ tool, path }) => toolAction("records", tool, { path }));

const staticPolicies = Object.fromEntries(
  Array.from({ length: RULES }, (_, rule) => [
    `rule_${rule}`,
    `permit(principal, action, resource) when { context.tool like "${toolGlob(rule)}" && context.path like "${pathGlob(rule)}" };`,
  ]),
);
const parsed = preparsePolicySet("bench", { staticPolicies, templates: {}, templateLinks: [] });
if (parsed.type !== "success") throw new Error(JSON.stringify(parsed));
const calls = requests.map((request) => ({
  principal: { type: "Agent", id: "bench" },
  action: { type: "Action", id: "call" },
  resource: { type: "Server", id: "records" },
  context: request,
  preparsedPolicySetId: "bench",
  entities: [],
}));

// A benchmark of two engines that decide differently would say nothing.
for (let i = 0; i < REQUESTS; i++) {
  const ours = gate.evaluate(actions[i], context);
  const cedar = statefulIsAuthorized(calls[i]);
  if (
    ours.ruling.effect !== "allow" ||
    ours.ruling.ruleId !== `rule_${ruleOf(i) + 1}` ||
    cedar.response?.decision !== "allow"
  )
    throw new Error(`request ${i}: the engines differ`);
}

// The first evaluation of an Action and a later one differ: what was learnt of it is kept beside
// it. Fresh ones are what a gate sees.
const rounds = 12;
const fresh = Array.from({ length: rounds + 3 }, () =>
  requests.map(({ tool, path }) => toolAction("records", tool, { path })),
);
let freshRound = 0;
const samples = timeInterleaved(
  {
    "gate.evaluate, fresh actions": (i) => {
      gate.evaluate(fresh[freshRound][i], context);
      if (i === REQUESTS - 1) freshRound++;
    },
    "gate.evaluate, same actions": (i) => gate.evaluate(actions[i], context),
    "cedar-wasm, parsed policy set": (i) => statefulIsAuthorized(calls[i]),
  },
  { rounds, requests: REQUESTS, warmup: 3 },
);

const overhead = clockCost();
const results = Object.fromEntries(
  Object.entries(samples).map(([name, list]) => [name, summary(list)]),
);
const ours = results["gate.evaluate, fresh actions"];
const cedar = results["cedar-wasm, parsed policy set"];
const ratio = { p50: cedar.p50 / ours.p50, p99: cedar.p99 / ours.p99 };
if (isJson) console.log(JSON.stringify({ unit: "µs", clock: overhead, results, ratio }));
else {
  for (const [name, { p50, p99 }] of Object.entries(results))
    console.log(
      `  ${name.padEnd(34)} p50 ${fixed(p50).padStart(7)} µs   p99 ${fixed(p99).padStart(7)} µs`,
    );
  console.log(
    `  cedar / ours: p50 ${ratio.p50.toFixed(0)}×, p99 ${ratio.p99.toFixed(0)}× (reading the clock is ${fixed(overhead)} µs of every sample)`,
  );
}
