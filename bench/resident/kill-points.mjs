// Sums up the lines that packages/cli/test/resident-killed.test.ts writes into ACP_RESIDENT_REPORT, as
// the table of bench/README.md: node bench/resident/kill-points.mjs FILE…
import { readFileSync } from "node:fs";

const lines = process.argv
  .slice(2)
  .flatMap((file) => readFileSync(file, "utf8").trim().split("\n"))
  .map((line) => JSON.parse(line));
const points = lines.filter(({ kind }) => kind !== undefined);
const worlds = lines.filter(({ world }) => world !== undefined);
const sum = (all, of) => all.reduce((total, each) => total + of(each), 0);
const told = (code) => (each) => each.told[code] ?? 0;

/** One row of points that were reached; tries that missed their moment are said. */
function row(name, all) {
  const hit = all.filter(({ isHit }) => isHit);
  const by = (how) => hit.filter((each) => each.how === how).length;
  return [
    name,
    hit.length,
    ["kill", "stop, then kill", "stop, then let go"].map(by).join(" / "),
    all.length - hit.length,
    sum(all, ({ calls }) => calls),
    sum(all, told("done")),
    `${sum(all, told("outcome_unknown"))} (${sum(all, ({ unknownRan }) => unknownRan)})`,
    sum(all, told("consent_expired")) + sum(all, told("pending")),
    sum(all, told("client_limit_reached")),
    sum(all, ({ wrong }) => wrong.length),
  ];
}

const kinds = [...new Set(points.map(({ kind }) => kind))];
const head =
  "moment|reached|killed / stopped and killed / stopped|missed|calls|done|unknown (of these ran)|ended by time|over a budget|wrong";
const rows = kinds.map((kind) =>
  row(
    kind,
    points.filter((each) => each.kind === kind),
  ),
);
for (const cells of [head.split("|"), Array(10).fill("---"), ...rows, row("all", points)])
  console.log(`| ${cells.join(" | ")} |`);
console.log(`\nOf approvers: ${worlds.flatMap((each) => each.told).join("; ") || "nothing wrong"}`);
console.log(`Answers that a crash made unusable: ${sum(worlds, ({ spent }) => spent)}`);
