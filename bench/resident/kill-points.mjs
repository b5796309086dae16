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

/** One row: a point that was tried again counts once, and its tries that missed are said. */
function row(name, all) {
  const hit = all.filter(({ isHit }) => isHit);
  const by = (how) => hit.filter((each) => each.how === how).length;
  return [
    name,
    new Set(all.map(({ kind, n }) => `${kind} ${n}`)).size,
    hit.length,
    all.length - hit.length,
    ["kill", "stop, then kill", "stop, then let go"].map(by).join(" / "),
    sum(all, ({ calls }) => calls),
    sum(all, told("done")),
    `${sum(all, told("outcome_unknown"))} (${sum(all, ({ unknownRan }) => unknownRan)})`,
    sum(all, told("consent_expired")) + sum(all, told("pending")),
    sum(all, ({ wrong }) => wrong.length),
  ];
}

const kinds = [...new Set(points.map(({ kind }) => kind))];
const head =
  "moment|points|reached|missed tries|kill / stop + kill / stop + go on|calls|done|unknown (ran)|ended by their time|wrong";
const rows = kinds.map((kind) =>
  row(
    kind,
    points.filter((each) => each.kind === kind),
  ),
);
for (const cells of [head.split("|"), Array(10).fill("---"), ...rows, row("all", points)])
  console.log(`| ${cells.join(" | ")} |`);
console.log(`\nApprovers told what is not true: ${sum(worlds, (each) => each.told.length)}`);
console.log(`Answers that a crash made unusable: ${sum(worlds, ({ spent }) => spent)}`);
