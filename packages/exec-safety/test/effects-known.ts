/**
 * Known: rows that are called safe and are not, by what they do in a world of traps; each waits to
 * be mended. Whoever mends one deletes it here, which `npm run test:deep` asks for. Data.
 */
const ROWS: readonly (readonly [effect: string, why: string, lines: string])[] = [];

/** Class of effect and reason by line. */
export const KNOWN_FAULTS: ReadonlyMap<string, { readonly effect: string; readonly why: string }> =
  new Map(
    ROWS.flatMap(([effect, why, lines]) =>
      lines.split("|").map((line) => [line, { effect, why }] as const),
    ),
  );

/**
 * What a row does because that is what it is for: it asks the daemon or the cluster that this user
 * has anyway. By the beginning of its line.
 */
const MEANT: readonly (readonly [line: RegExp, effect: RegExp])[] = [
  [/^docker /, /^dials: unix \/var\/run\/docker\.sock$/],
  [/^kubectl /, /^dials: 127\.0\.0\.1:8080$/],
];

/** Whether a row is there to do this. */
export function isMeant(line: string, effect: string): boolean {
  return MEANT.some(([lines, effects]) => lines.test(line) && effects.test(effect));
}

/** Rows that end, but not while somebody waits for a test. */
export const LONG: ReadonlySet<string> = new Set(["sleep 2m", "apt-cache search x"]);

/** Programs that take long to start: for the deep set. */
export const SLOW: ReadonlySet<string> = new Set(
  `npm npx pnpm pnpx yarn pip pip3 apt apt-cache rustup gcloud gsutil aws ipython java javac javap jar mvn gradle gdb docker kubectl terraform
  python python2 python3 python3.10 python3.11 python3.12 python3.13 pypy pypy3 node nodejs convert pg_dump valgrind go man apropos whatis
  lerna pm2 ava nx serve bower markdownlint rake irb erl gulp mocha pytest turbo grunt babel biome eslint esbuild webpack ts-node tsc tsx
  http-server oxlint rollup node-gyp vitest vite jest prettier nodemon gem guile flake8 black mypy pylint isort`
    .trim()
    .split(/\s+/),
);
