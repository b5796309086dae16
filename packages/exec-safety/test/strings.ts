/**
 * Random command lines from harmless fragments: grammar and noise. The programs `c0` … `c9` and the
 * files do not exist; a seed makes the same lines again.
 */

import { readFileSync } from "node:fs";

/**
 * Pieces of lines. `unknown` programs do not exist; `known` ones have a form that we call safe, and
 * do not exist either where the lines run, but for builtins without effect.
 */
const FRAGMENTS: Readonly<
  Record<
    "unknown" | "known" | "letters" | "quoted" | "expanded" | "body" | "noise",
    readonly string[]
  >
> = JSON.parse(readFileSync(new URL("./fragments.json", import.meta.url), "utf8"));

/** A number below `below`. */
export type Random = (below: number) => number;

export function seeded(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return (below) => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function pick<T>(random: Random, from: readonly T[]): T {
  const picked = from[random(from.length)];
  if (picked === undefined) throw new Error("nothing to pick from");
  return picked;
}

/** Puts noise into a line: some letters more, some less. */
function garble(random: Random, line: string): string {
  let garbled = line;
  for (let times = 1 + random(3); times > 0; times--) {
    const at = random(garbled.length + 1);
    garbled =
      garbled.slice(0, at) +
      (random(4) === 0 ? "" : pick(random, FRAGMENTS.noise)) +
      garbled.slice(at + (random(3) === 0 ? 1 + random(2) : 0));
  }
  return garbled;
}

/** One line. About half of them are such that a careful person would call them safe. */
export function randomLine(random: Random): string {
  const shape = random(20);
  if (shape === 0)
    return Array.from({ length: 1 + random(12) }, () => pick(random, FRAGMENTS.noise)).join("");
  const isTame = shape < 14;
  const line = list(random, { isTame, depth: 2 });
  return shape % 4 === 3 ? garble(random, line) : line;
}

interface Style {
  /** Known programs, and little that we would not call safe. */
  readonly isTame: boolean;
  readonly depth: number;
}

function list(random: Random, style: Style): string {
  const parts = [statement(random, style)];
  while (random(3) === 0 && parts.length < 4)
    parts.push(
      pick(random, [
        " ; ",
        " && ",
        " || ",
        "\n",
        " | ",
        "; ",
        "|",
        "&&",
        ...(style.isTame ? [] : [" & ", " |& "]),
      ]),
      statement(random, style),
    );
  return parts.join("");
}

function statement(random: Random, style: Style): string {
  if (style.depth === 0 || random(5) !== 0) return command(random, style);
  const inner = { ...style, depth: style.depth - 1 };
  const body = list(random, inner);
  const words = Array.from({ length: 1 + random(3) }, () => word(random, inner)).join(" ");
  const shapes = [
    () => `(${body})`,
    () => `{ ${body}; }`,
    () => `if ${command(random, inner)}; then ${body}; fi`,
    () => `if ${body}; then ${command(random, inner)}; else ${command(random, inner)}; fi`,
    () => `for x in ${words}; do ${body}; done`,
    () => `for x in ${words}; do ${pick(random, ["echo", "cat", "wc", "c1"])} "$x"; done`,
    () => `while ${command(random, inner)}; do ${body}; break; done`,
    () =>
      `case ${word(random, inner)} in ${pick(random, ["a", "*", "(a|b*)", "'a b'", "[ab]"])}) ${body};; *) ${command(random, inner)};; esac`,
    () => `! ${command(random, inner)}`,
    () =>
      `[[ ${word(random, inner)} ${pick(random, ["==", "!=", "=~", "<"])} ${word(random, inner)} ]] && ${command(random, inner)}`,
    () => `[ -n ${word(random, inner)} ] && ${command(random, inner)}`,
    () => `x=${word(random, inner)}; ${command(random, inner)} "$x"`,
    ...(style.isTame
      ? []
      : [
          () => `f() { ${body}; }; f`,
          () => `time ${command(random, inner)}`,
          () => `coproc ${command(random, inner)}`,
          () => `x=(${words}) ; ${command(random, inner)}`,
          () => `x=(${words})${word(random, inner)}`,
          () => `(( ${pick(random, ["x=1", "1+1", "x[$(c1)]", "$(c2)"])} ))`,
          () => `for ((x=0;x<2;x++)); do ${body}; done`,
        ]),
  ];
  return pick(random, shapes)();
}

function command(random: Random, style: Style): string {
  const program = style.isTame
    ? pick(random, FRAGMENTS.known)
    : random(8) === 0
      ? word(random, style)
      : random(3) === 0
        ? pick(random, FRAGMENTS.known)
        : pick(random, FRAGMENTS.unknown);
  const count = random(4);
  const words = Array.from({ length: count }, () => word(random, style));
  const prefix =
    random(14) === 0
      ? `${pick(random, ["x=1", "LC_ALL=C", "x=", style.isTame ? "TZ=UTC" : "x+=a", `x=${word(random, style)}`])} `
      : "";
  const redirect = random(7) === 0 ? ` ${redirection(random, style)}` : "";
  const blank = pick(random, [" ", " ", " ", "  ", "\t", " \\\n"]);
  return `${prefix}${[program, ...words].join(blank)}${redirect}`;
}

function redirection(random: Random, style: Style): string {
  const inner = { ...style, depth: Math.max(0, style.depth - 1) };
  const shapes = [
    ">/dev/null",
    "2>/dev/null",
    "2>&1",
    ">/dev/null 2>&1",
    "< f1",
    `<<< ${word(random, inner)}`,
    "&>/dev/null",
    "</dev/null",
  ];
  const operator = pick(random, [
    ">",
    "<",
    ">>",
    ">|",
    "<>",
    ">&",
    "<&",
    "&>",
    "&>>",
    "<<<",
    "2>",
    "{fd}>",
  ]);
  const wild = [
    `${operator}${word(random, inner)}`,
    `${operator} ${word(random, inner)}`,
    ">f2",
    ">>f2",
    "<>f2",
    ">&2",
    `< ${word(random, inner)}`,
    "2>&-",
    ">|f2",
    "{fd}>f2",
    "<&0",
  ];
  if (random(4) !== 0) return pick(random, style.isTame ? shapes : [...shapes, ...wild]);
  const delimiter = pick(random, ["E", "'E'", '"E"', "\\E", "E"]);
  const body = Array.from({ length: random(4) }, () => pick(random, FRAGMENTS.body)).join(
    pick(random, [" ", "\n", ""]),
  );
  return `<<${random(4) === 0 ? "-" : ""}${delimiter}\n${body}\nE\n`;
}

function word(random: Random, style: Style): string {
  const kind = random(style.isTame ? 24 : 16);
  if (kind < 4 || (style.isTame && kind < 10)) return pick(random, FRAGMENTS.letters);
  if (kind < 7 || (style.isTame && kind < 17)) return pick(random, FRAGMENTS.quoted);
  if (kind < 10 || (style.isTame && kind < 22)) return pick(random, FRAGMENTS.expanded);
  if (style.depth === 0 || kind === 10)
    return (
      word(random, { ...style, depth: 0 }) +
      pick(random, [...FRAGMENTS.letters, ...FRAGMENTS.quoted, ...FRAGMENTS.expanded])
    );
  const inner = { ...style, depth: style.depth - 1 };
  const body = list(random, inner);
  return pick(random, [
    `$(${body})`,
    `"$(${body})"`,
    `<(${body})`,
    `\`${body}\``,
    `"a $(${body}) b"`,
    `"\`${body}\`"`,
    ...(style.isTame
      ? []
      : [
          `\${x:-$(${body})}`,
          `"\${x:-$(${body})}"`,
          `{a,$(${body})}`,
          `$(( $(${body}) + 1 ))`,
          `"\${x:-'$(${body})'}"`,
          `>(${body})`,
          `'$(${body})'`,
          `$(( x[$(${body})] ))`,
        ]),
  ]);
}
