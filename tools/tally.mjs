// Counts the results of a test run: what failed to load counts as failed, a skip must say why, and
// no tests at all is a failure. What failed is named last, so that the end of a long log is enough
// to know it.

/**
 * @typedef {{ name: string, state: string, note?: string | undefined, error?: string | undefined,
 *   isUnsteady?: boolean | undefined }} Test
 * @typedef {{ file: string, brokenBy: readonly string[], tests: readonly Test[] }} Module
 */

const firstLine = (/** @type {string} */ text) => text.split("\n", 1)[0]?.slice(0, 200) ?? "";

/**
 * A skip gives its reason as a note, `ctx.skip(reason)`, or in its name: "… skipped: reason", or as
 * hostNeed() says it. @param {Test} test
 */
const reasonOf = ({ name, note }) =>
  note ?? /skipped: (.+)$/.exec(name)?.[1] ?? /\bneeds [^:]+: [^\]>)]+/.exec(name)?.[0].trim();

const NEEDS = /^needs (?<what>[^:]+): /;

/**
 * One line for all that this machine lacks, and one for each other reason.
 *
 * @param {readonly (Test & { file: string })[]} skips
 */
function skipLines(skips) {
  const whats = skips.flatMap((test) => NEEDS.exec(reasonOf(test) ?? "")?.groups?.["what"] ?? []);
  const lacks = [...new Set(whats.flatMap((what) => what.split(/, | and /)))].sort().join(", ");
  const missing =
    whats.length === 0
      ? []
      : [
          `skipped: ${count(whats.length)} ${whats.length === 1 ? "needs" : "need"} ${lacks}: npm run setup -- --system installs what Debian has of it`,
        ];
  /** @type {Map<string, (Test & { file: string })[]>} */
  const others = new Map();
  for (const test of skips) {
    const reason = reasonOf(test) ?? "";
    if (!NEEDS.test(reason)) others.set(reason, [...(others.get(reason) ?? []), test]);
  }
  const named = [...others].map(([reason, [first, ...rest]]) =>
    rest.length === 0
      ? `skipped: ${first?.file}: ${first?.name} (${reason})`
      : `skipped: ${count(rest.length + 1)} (${reason})`,
  );
  return [...missing, ...named];
}

const count = (/** @type {number} */ tests) => (tests === 1 ? "1 test" : `${tests} tests`);

/**
 * @param {readonly Module[]} modules
 * @param {{ strays: number, isFiltered: boolean }} run - Errors outside any test; whether a name
 *   filter skipped tests on purpose.
 * @returns {{ lines: string[], isGreen: boolean }} What to print, the summary last.
 */
export function tally(modules, { strays, isFiltered }) {
  const tests = modules.flatMap((module) =>
    module.tests.map((test) => ({ ...test, file: module.file })),
  );
  const named = (/** @type {Test & { file: string }} */ { file, name, error }) =>
    `${file}: ${name}${error === undefined ? "" : `: ${firstLine(error)}`}`;
  const skips = isFiltered ? [] : tests.filter(({ state }) => state === "skipped");
  const unexplained = skips.filter((test) => reasonOf(test) === undefined);
  const broken = modules.filter(({ brokenBy }) => brokenBy.length > 0);
  const passed = tests.filter(({ state }) => state === "passed").length;
  const unfinished = tests.filter(({ state }) => state === "failed" || state === "pending").length;
  const failed = unfinished + broken.length + unexplained.length + strays;
  const skipped = tests.filter(({ state }) => state === "skipped").length - unexplained.length;
  const lines = [
    ...skipLines(skips.filter((test) => reasonOf(test) !== undefined)),
    ...tests
      .filter(({ isUnsteady }) => isUnsteady === true)
      .map((test) => `unsteady: ${named(test)}`),
    ...broken.map(({ file, brokenBy }) => `did not run: ${file}: ${brokenBy[0]}`),
    ...unexplained.map(({ file, name }) => `skipped without a reason: ${file}: ${name}`),
    ...tests
      .filter(({ state }) => state === "failed" || state === "pending")
      .map((test) => `${test.state}: ${named(test)}`),
    ...(strays > 0 ? [`errors outside any test: ${strays}`] : []),
    ...(passed + failed + skipped === 0 ? ["no test was found"] : []),
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
  ];
  return { lines, isGreen: failed === 0 && passed > 0 };
}
