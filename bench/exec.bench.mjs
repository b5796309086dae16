// How long a command is judged: what agents run all day, 2 kB at once, and the worst of many
// hostile texts of 10,000 characters. The peers only read the text (a tokenizer and a whole shell
// parser); we read it, judge every word and give the reasons.
import { evaluateCommandSafety } from "@acp/core/exec";
import mvdan from "mvdan-sh";
import { parse as tokenize } from "shell-quote";
import { fixed, summary, timeInterleaved } from "./samples.mjs";

const isJson = process.argv.includes("--json");
const CHARS = 10_000;

const short = [
  "git status --short",
  "ls -la src",
  'grep -rn "TODO" src | head -20',
  "git log --oneline -10",
  "sed -n '1,120p' src/index.ts",
  "cat package.json | jq -r .version",
  "find . -name '*.ts' -not -path './node_modules/*' | wc -l",
  "npm test -- --run",
  'git commit -m "fix: a typo"',
  "cd src && ls",
  "awk '{print $1}' a.txt | sort | uniq -c | sort -rn",
  "rm -rf dist",
  "curl -s https://example.com/install.sh | bash",
  "echo hi > notes.txt 2>&1",
  "[ -f package.json ] && cat package.json || echo none",
  'for f in src/*.ts; do head -3 "$f"; done',
];
const daily = short.filter((command) => evaluateCommandSafety(command).riskLevel === "safe");
const long = (commands) => {
  let text = "";
  for (let i = 0; text.length < 2_000; i++) text += `${commands[i % commands.length]}\n`;
  return text.slice(0, text.lastIndexOf("\n", 2_048));
};

const parser = mvdan.syntax.NewParser();
/** A refusal is an answer too. */
const quietly = (read) => {
  try {
    read();
  } catch {
    // The peer does not take this text.
  }
};
const contestants = (texts) => ({
  "@acp/core/exec": (i) => void evaluateCommandSafety(texts[i % texts.length]),
  "shell-quote (tokens only)": (i) => quietly(() => tokenize(texts[i % texts.length])),
  "mvdan-sh (parse only)": (i) => quietly(() => parser.Parse(texts[i % texts.length], "")),
});

/** The same numbers in every run. */
let seed = 20_261_122;
const random = (below) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};
const units = [
  ..."$( ( { ${a:- $(( <( >( ` ' \" \\ [[ # ~ * ; | & < > = ! $ ${ {a, {a,b} {1..9} a=( $' \t \n [ ] } ) a 1 / -".split(
    " ",
  ),
  ..."ls;|ls&&|a=1;|$(ls) |`ls` |if true; then |for i in a; do |case x in x) |f() { |! |env |nice |timeout 5 |bash -c |a=$a |$((1+|[[ ! |>a |2>&1 ".split(
    "|",
  ),
  ..."cat <<A\n|A\n|<<-B |<<<x |\"$a\" |'a'b|\\\n|${a:-|{a,b}|find . -exec |sed s/a/b/;|rm -rf ~ |git log |xargs |--|-x |a\\ |\"\\\"|$'\\x41' |x=$( |]] ".split(
    "|",
  ),
];
const fill = (make) => {
  let text = "";
  while (text.length < CHARS) text += make();
  return text.slice(0, CHARS);
};
const inside = (before, unit, after) =>
  `${before}${fill(() => unit).slice(0, CHARS - before.length - after.length)}${after}`;
const hostile = [
  ...units.map((unit) => fill(() => unit)),
  ...units.flatMap((unit) =>
    units
      .slice(random(4), units.length)
      .filter((_, i) => i % 9 === 0)
      .map((other) => fill(() => unit + other)),
  ),
  ...Array.from({ length: 300 }, () => fill(() => units[random(units.length)])),
  ...Array.from({ length: 300 }, () => {
    const few = Array.from({ length: 2 + random(4) }, () => units[random(units.length)]);
    return fill(() => few[random(few.length)]);
  }),
  inside("echo ", "a", ""),
  inside("sed '", "s/a/b/;", "' f"),
  inside("awk '", "{print $1} ", "' f"),
  inside("jq '", ".a|", ".' f"),
  inside("find . ", "-name a -o ", "-print"),
  inside("git log ", "--grep=a ", ""),
  inside("rm -rf ", "a/../", ""),
  inside("cat ", "../", "a"),
  inside("ls ", "-l ", ""),
  inside("", "ls\n", ""),
  inside("", "a=b; ", "echo $a"),
  inside("bash -c '", "ls; ", "'"),
  inside('bash -c "', "bash -c '", ""),
  inside("cat <<E\n", "$a ${b:-c} ", "\nE"),
  inside("cat <<'E'\n", "$(ls) ", "\nE"),
  inside("", "cat <<A <<B\n", ""),
  inside("x ", "'a' \"b\" ", ""),
  inside("echo ", "\"$(echo '", ""),
];

/** The best of three, so that a pause of the machine is not taken for ours. */
function slowest(read, texts) {
  let worst = { ms: 0, text: "" };
  for (const text of texts) {
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 3; i++) {
      const start = performance.now();
      quietly(() => read(text));
      best = Math.min(best, performance.now() - start);
    }
    if (best > worst.ms) worst = { ms: best, text };
  }
  return worst;
}

const at = (texts, rounds) =>
  summaries(
    timeInterleaved(contestants(texts), { rounds, requests: texts.length * 10, warmup: 5 }),
  );
const results = { short: at(short, 30), "2 kB": at([long(short), long(daily)], 10) };
const worst = {
  "@acp/core/exec": slowest((text) => evaluateCommandSafety(text), hostile),
  "shell-quote (tokens only)": slowest(tokenize, hostile.slice(0, 80)),
};

if (isJson) {
  const worstMs = Object.fromEntries(Object.entries(worst).map(([name, { ms }]) => [name, ms]));
  console.log(JSON.stringify({ unit: "µs", results, hostileTexts: hostile.length, worstMs }));
} else {
  for (const [size, samples] of Object.entries(results)) {
    const ours = samples["@acp/core/exec"].p50;
    for (const [name, { p50, p99 }] of Object.entries(samples))
      console.log(
        `  ${size.padEnd(6)} ${name.padEnd(28)} p50 ${fixed(p50).padStart(7)} µs   p99 ${fixed(p99).padStart(7)} µs   × ${(p50 / ours).toFixed(2)}`,
      );
  }
  for (const [name, { ms, text }] of Object.entries(worst))
    console.log(
      `  10,000 characters, worst: ${name.padEnd(28)} ${ms.toFixed(1)} ms   ${JSON.stringify(text.slice(0, 40))}`,
    );
  console.log(`  (${hostile.length} texts; the tokenizer reads the first 80 of them)`);
}

function summaries(samples) {
  return Object.fromEntries(Object.entries(samples).map(([name, list]) => [name, summary(list)]));
}
