// Which tests say something about a Node version: the rest of the suite gives the same on each of
// them, and runs on one.

/**
 * Modules of Node whose behavior changes from one version to the next. Paths, URLs and assertions
 * do not.
 */
const MODULES =
  "async_hooks|child_process|crypto|dgram|dns|events|fs|http|http2|https|net|readline|stream|timers|tls|tty|v8|worker_threads|zlib";
const IMPORT = new RegExp(`from "node:(?:${MODULES})(?:/promises)?"`);

/**
 * What imports none of them and yet stands on them, or on V8 and its Unicode tables: numbers,
 * segments, host names, WebCrypto, AbortSignal.
 */
const ALSO = [
  /^packages\/core\/src\/(crypto|json|proof|stores|vault)\//,
  /^packages\/core\/src\/(signals|system)\./,
  /^packages\/core\/src\/action\/(host|punycode|url)\./,
  /^packages\/core\/src\/approval\/text\./,
  /^packages\/exec-safety\/src\/text\/escape\./,
  /^packages\/core\/src\/gate\/(deadline|follow-\w+|gate)\./,
  /^packages\/core\/test\/(properties-crypto|properties-json|two-copies|vectors-\w+)\./,
];

/** What imports them and tests something else. */
const NOT = [
  // Sandboxes: where root runs the tests, a Node out of npm's cache lies in root's own home, where
  // no agent can read it.
  /^packages\/sandbox-linux\//,
  /^packages\/exec-approval\/test\/trial(?:-keep)?\./,
  /^packages\/testing\/src\/effects\//,
  /^examples\/sandboxed-agent\//,
  // What a browser makes of the page.
  /^packages\/channel-web\/test\/browser-/,
  // They read files or start programs only to judge our own tables, texts and documents.
  /^packages\/core\/(?:src\/exec|test\/(?:docs-|policy-))/,
  /^packages\/exec-safety\/(?:src\/(?!text\/escape\.)|test\/)/,
  /^packages\/channel-\w+\/test\/(?:docs|shown-text|text-vectors)\./,
  /^packages\/home\/test\/\w+-schema\./,
  // The built programs from end to end: one file for each way in. The others start the same
  // programs to see what ours say and decide.
  /^packages\/cli\/test\/(?!(?:cli|exec-hook|mcp|proxy-http|terminal|yes-killed)\.)/,
  /^examples\/(?:filesystem-demo|http-proxy|hub-exec-approval)\//,
  // Long logs and soaks: what they use of Node, the tests beside them use, too.
  /^packages\/audit\/test\/log-(?:index-opened|lookup)\./,
  // The rules of the MCP proxy, which pipes and sockets only carry. What speaks HTTP, and with the
  // SDK, stays.
  /^packages\/proxy-mcp\/test\/(?!(?:listen|remote|sdk)-)/,
  // Deaths at every place: the kernel's doing, and the tests of each file keep the ones that Node
  // sees.
  /^packages\/(?:audit|home|exec-approval)\/test\/(?:[\w-]+-)?(?:crash|killed)\./,
];

/**
 * What is tried on a version between two that the whole list runs on: V8's numbers, texts and keys,
 * and the built programs from end to end.
 */
const BETWEEN = [
  ...ALSO,
  /^packages\/audit\/src\//,
  /^packages\/cli\/test\/(cli|exec-hook|mcp|proxy-http)\./,
  /^packages\/home\/src\/(atomic|vault-file|writer-lock)\./,
];

/**
 * @param {readonly string[]} tests - What `nodeTests` gave.
 * @returns {string[]} Those of them that run on a version between two others.
 */
export const testsBetween = (tests) =>
  tests.filter((file) => BETWEEN.some((each) => each.test(file)));

/**
 * @param {readonly string[]} files - Paths from the root.
 * @param {(file: string) => string | undefined} textOf - A file's text; `undefined` where there is
 *   none.
 * @returns {string[]} The tests among them that a Node version can change.
 */
export function nodeTests(files, textOf) {
  const imports = (/** @type {string} */ file) => IMPORT.test(textOf(file) ?? "");
  return files
    .filter((file) => /^(packages|examples)\/.*\.test\.ts$/.test(file))
    .filter((file) => !NOT.some((each) => each.test(file)))
    .filter(
      (file) =>
        ALSO.some((each) => each.test(file)) ||
        imports(file) ||
        imports(file.replace(/\.test\.ts$/, ".ts")),
    );
}
