// Two lanes: `npm test` answers in minutes, `npm run test:deep` runs everything there is. Most test
// files run in both; some only in the deep one, and some look further there: `isDeep` and `inLane()`
// of deep.ts, and every `fc.assert()`.
import { isIn } from "./changed.mjs";

/**
 * Every file that only the deep lane runs, with the CPU seconds that it takes there, which is what
 * .ci/run plans with: rounded up, some of them guessed, and no promise. Each goes deeper into what a
 * file of the quick lane also starts.
 *
 * @type {Readonly<Record<string, number>>}
 */
const ONLY_DEEP = {
  "examples/filesystem-demo/demo-ways.test.ts": 8,
  "examples/filesystem-demo/demo.test.ts": 7,
  "examples/filesystem-demo/web.test.ts": 5,
  "examples/http-proxy/demo.test.ts": 7,
  "packages/audit/test/log-index-killed.test.ts": 5,
  "packages/audit/test/log-index-opened.test.ts": 9,
  "packages/audit/test/log-lookup.test.ts": 9,
  "packages/audit/test/prune-killed.test.ts": 20,
  "packages/channel-terminal/test/terminal-more.test.ts": 4,
  "packages/channel-web/test/browser-address.test.ts": 6,
  "packages/channel-web/test/browser-answers-more.test.ts": 14,
  "packages/channel-web/test/browser-fatigue.test.ts": 25,
  "packages/channel-web/test/browser-many.test.ts": 15,
  "packages/channel-web/test/browser-passkeys.test.ts": 36,
  "packages/channel-web/test/browser-pause.test.ts": 12,
  "packages/channel-web/test/browser-planted-worker.test.ts": 25,
  "packages/channel-web/test/browser-reviews.test.ts": 15,
  "packages/channel-web/test/browser-screens.test.ts": 25,
  "packages/cli/test/answer-killed.test.ts": 5,
  "packages/cli/test/answers-told-killed.test.ts": 30,
  "packages/cli/test/answers-told.test.ts": 15,
  "packages/cli/test/audit-config.test.ts": 6,
  "packages/cli/test/backup-killed.test.ts": 50,
  "packages/cli/test/backup-terminal.test.ts": 12,
  "packages/cli/test/backup.test.ts": 5,
  "packages/cli/test/config-encrypt.test.ts": 5,
  "packages/cli/test/conformance.test.ts": 45,
  "packages/cli/test/doctor-quarantine.test.ts": 7,
  "packages/cli/test/exec-check.test.ts": 5,
  "packages/cli/test/exec-hook.test.ts": 24,
  "packages/cli/test/gate-killed-anywhere.test.ts": 25,
  "packages/cli/test/hang-up.test.ts": 4,
  "packages/cli/test/hook-check.test.ts": 7,
  "packages/cli/test/hook-handover.test.ts": 8,
  "packages/cli/test/hook-resident.test.ts": 22,
  "packages/cli/test/hook-rewrite.test.ts": 8,
  "packages/cli/test/hook-wait.test.ts": 10,
  "packages/cli/test/inbox-reviews.test.ts": 10,
  "packages/cli/test/inbox-unreachable.test.ts": 5,
  "packages/cli/test/inbox.test.ts": 20,
  "packages/cli/test/keys-killed.test.ts": 80,
  "packages/cli/test/keys-rotate-live.test.ts": 10,
  "packages/cli/test/keys-life.test.ts": 15,
  "packages/cli/test/keys.test.ts": 10,
  "packages/cli/test/log-latch-live.test.ts": 6,
  "packages/cli/test/mcp-channels.test.ts": 15,
  "packages/cli/test/mcp-killed.test.ts": 10,
  "packages/cli/test/mcp-life.test.ts": 20,
  "packages/cli/test/mcp-live.test.ts": 10,
  "packages/cli/test/mcp-locked.test.ts": 8,
  "packages/cli/test/mcp-pins.test.ts": 5,
  "packages/cli/test/mcp-login.test.ts": 3,
  "packages/cli/test/mcp-oauth-served.test.ts": 6,
  "packages/cli/test/mcp-oauth.test.ts": 4,
  "packages/proxy-mcp/test/oauth-sdk.test.ts": 4,
  "packages/cli/test/mcp-remote.test.ts": 6,
  "packages/cli/test/mcp-requests.test.ts": 12,
  "packages/cli/test/mcp-serve.test.ts": 7,
  "packages/cli/test/mcp-shared.test.ts": 8,
  "packages/cli/test/mcp-waiting.test.ts": 8,
  "packages/cli/test/mcp-wrap-served.test.ts": 3,
  "packages/cli/test/passkeys.test.ts": 6,
  "packages/cli/test/pause-agent.test.ts": 8,
  "packages/cli/test/pinned-server.test.ts": 20,
  "packages/cli/test/proxy-http-clients.test.ts": 16,
  "packages/cli/test/proxy-http-resident.test.ts": 14,
  "packages/cli/test/put-back.test.ts": 16,
  "packages/cli/test/resident-default.test.ts": 20,
  "packages/cli/test/resident-handover.test.ts": 20,
  "packages/cli/test/resident-killed.test.ts": 150,
  "packages/cli/test/resident-many.test.ts": 15,
  "packages/cli/test/resident.test.ts": 25,
  "packages/cli/test/resident-lock.test.ts": 6,
  "packages/cli/test/resident-questions.test.ts": 15,
  "packages/cli/test/resident-rebuild.test.ts": 25,
  "packages/cli/test/review-terminal.test.ts": 6,
  "packages/cli/test/review.test.ts": 8,
  "packages/cli/test/rollback.test.ts": 12,
  "packages/cli/test/run-guard.test.ts": 10,
  "packages/cli/test/run-jobs.test.ts": 12,
  "packages/cli/test/run-killed.test.ts": 6,
  "packages/cli/test/run-manager.test.ts": 10,
  "packages/cli/test/run-managers-all.test.ts": 60,
  "packages/cli/test/run-managers.test.ts": 11,
  "packages/cli/test/run-mcp.test.ts": 7,
  "packages/cli/test/run-model.test.ts": 6,
  "packages/cli/test/run-others.test.ts": 8,
  "packages/cli/test/run-pinned.test.ts": 15,
  "packages/cli/test/run-ports.test.ts": 6,
  "packages/cli/test/run-resident.test.ts": 25,
  "packages/cli/test/run-servers-files.test.ts": 8,
  "packages/cli/test/run-servers.test.ts": 12,
  "packages/cli/test/run-terminal.test.ts": 6,
  "packages/cli/test/trouble-is-shown.test.ts": 17,
  "packages/cli/test/servers-commands.test.ts": 20,
  "packages/cli/test/yes-killed.test.ts": 12,
  "packages/core/test/guards-floods.test.ts": 6,
  "packages/exec-approval/test/profile-crash.test.ts": 3,
  "packages/home/test/key-life-crash.test.ts": 10,
  "packages/home/test/tool-pins-killed.test.ts": 6,
  "packages/proxy-mcp/test/changed-servers.test.ts": 5,
  "packages/proxy-mcp/test/soak.test.ts": 6,
  "packages/sandbox-linux/test/bridge-session.test.ts": 6,
  "packages/sandbox-linux/test/escape-conformance.test.ts": 15,
  "packages/sandbox-linux/test/escape.test.ts": 30,
  "packages/sandbox-linux/test/held-names-continued.test.ts": 10,
  "packages/sandbox-linux/test/held-names-stopped.test.ts": 4,
  "packages/sandbox-linux/test/held-names.test.ts": 20,
  "packages/sandbox-linux/test/kill-handoff.test.ts": 4,
  "packages/sandbox-linux/test/namespace-hold.test.ts": 4,
  "packages/sandbox-linux/test/namespace-life.test.ts": 10,
  "packages/sandbox-linux/test/namespace-managers.test.ts": 12,
  "packages/sandbox-linux/test/namespace-places.test.ts": 4,
  "packages/sandbox-linux/test/overlay-view.test.ts": 6,
  "packages/sandbox-linux/test/own-packages.test.ts": 15,
  "packages/sandbox-linux/test/private-home.test.ts": 4,
  "packages/sandbox-linux/test/process-memory.test.ts": 3,
  "packages/sandbox-linux/test/review-slices.test.ts": 3,
  "packages/sandbox-linux/test/review-take.test.ts": 4,
  "packages/sandbox-linux/test/review.test.ts": 5,
  "packages/sandbox-linux/test/supervised.test.ts": 8,
  "packages/sandbox-linux/test/trials.test.ts": 5,
  "packages/sandbox-linux/test/workspace-outlives.test.ts": 8,
  "packages/testing/src/effects/command-safety-conformance.test.ts": 5,
  "packages/testing/src/effects/observe.test.ts": 15,
  "tools/checks/published.test.ts": 10,
  "tools/checks/tools.test.ts": 5,
  "tools/release/installed.test.ts": 20,
  "tools/release/publish.test.ts": 5,
};

/**
 * Files that search further in the deep lane, where that takes more than a few CPU seconds. One
 * that is also listed above is first run as it is.
 *
 * @type {Readonly<Record<string, number>>}
 */
const SEARCHES = {
  "packages/audit/src/tail.test.ts": 12,
  "packages/audit/test/crash.test.ts": 20,
  "packages/audit/test/log-index.test.ts": 40,
  "packages/audit/test/log-lookup.test.ts": 60,
  "packages/audit/test/tamper-files.test.ts": 9,
  "packages/audit/test/tamper.test.ts": 7,
  "packages/cli/test/run-managers-all.test.ts": 7200,
  "packages/channel-telegram/test/text-vectors.test.ts": 5,
  "packages/channel-terminal/test/shown-text.test.ts": 9,
  "packages/cli/test/doctor.test.ts": 14,
  "packages/cli/test/hook-check.test.ts": 11,
  "packages/core/src/policy/readings.test.ts": 6,
  "packages/core/test/docs-proof-mutations.test.ts": 23,
  "packages/core/test/docs-proof.test.ts": 10,
  "packages/core/test/state-orders.test.ts": 60,
  "packages/core/test/state-space.test.ts": 300,
  "packages/core/test/text-laws.test.ts": 60,
  "packages/core/test/text-vectors.test.ts": 5,
  "packages/exec-safety/test/differential.test.ts": 120,
  "packages/exec-safety/src/safe/reach/excludes.test.ts": 9,
  "packages/exec-safety/test/effects.test.ts": 1200,
  "packages/exec-safety/test/fuzz.test.ts": 12,
  "packages/exec-safety/test/properties.test.ts": 44,
  "packages/sandbox-linux/src/seccomp.test.ts": 6,
  "packages/sandbox-linux/test/kill.test.ts": 17,
  "packages/sandbox-linux/test/supervised.test.ts": 9,
  "packages/testing/src/effects/command-safety-conformance.test.ts": 60,
  "packages/testing/src/hiding-characters.test.ts": 5,
};

/** What any other search takes, in CPU seconds. */
const SEARCH_S = 2;
const SEARCH = /\bfc\.assert\(|\bisDeep\b|\binLane\(|InLane\(/;

/** CPU seconds of a file that only the deep lane runs; 0 for any other. @param {string} file */
export const costOf = (file) => ONLY_DEEP[file] ?? 0;

/**
 * Files that the quick lane leaves out, but for those that somebody names.
 *
 * @param {readonly string[]} named - What the run was told to run; a folder names no file.
 * @returns {string[]}
 */
export const leftOut = (named) =>
  Object.keys(ONLY_DEEP).filter(
    (file) => !named.some((name) => name.endsWith(".test.ts") && file.includes(name)),
  );

/** Somebody else's suite: whatever a change of ours reaches is judged by it. */
const JUDGE = "packages/cli/test/conformance.test.ts";

/**
 * What of the deep lane a change reaches and fits into a time: first what changed itself, then the
 * files that no other lane runs, then as many searches as can be; of each the cheap ones first.
 *
 * @param {readonly string[]} tests - All test files, from the root.
 * @param {(file: string) => string} textOf
 * @param {{
 *   folders: readonly string[] | undefined,
 *   changed?: readonly string[] | undefined,
 *   budgetS: number,
 * }} limits - What the change reaches, `undefined` for all, the files that changed, and CPU seconds.
 * @returns {{ only: string[], searches: string[], over: string[], cpuS: number }} What to run as
 *   it is, what to run with `ACP_DEEP=1`, what does not fit, and what the others take.
 */
export function deepPlan(tests, textOf, { folders, changed = [], budgetS }) {
  const reached = tests.filter((file) => isIn(folders, file));
  const only = reached.flatMap((file) => costed(file, ONLY_DEEP[file]));
  const searches = reached
    .filter((file) => isSearched(file) && SEARCH.test(textOf(file)))
    .flatMap((file) => costed(file, SEARCHES[file] ?? SEARCH_S));
  const isFirst = (/** @type {Costed} */ { file }) => changed.includes(file) || file === JUDGE;
  const rank = (/** @type {Costed} */ one) =>
    isFirst(one) ? 0 : 1 + [only, searches].findIndex((files) => files.includes(one));
  let cpuS = 0;
  const chosen = new Set(
    [...only, ...searches]
      .toSorted((a, b) => rank(a) - rank(b) || byCost(a, b))
      .filter((one) => {
        if (cpuS + one.cpuS > budgetS) return false;
        cpuS += one.cpuS;
        return true;
      }),
  );
  const filesOf = (/** @type {Costed[]} */ all) => all.toSorted(byCost).map(({ file }) => file);
  const fits = (/** @type {Costed} */ one) => chosen.has(one);
  return {
    only: filesOf(only.filter(fits)),
    searches: filesOf(searches.filter(fits)),
    over: filesOf([...only, ...searches].filter((one) => !fits(one))),
    cpuS,
  };
}

/** @typedef {{ file: string, cpuS: number }} Costed */

const isSearched = (/** @type {string} */ file) =>
  ONLY_DEEP[file] === undefined || SEARCHES[file] !== undefined;
const costed = (/** @type {string} */ file, /** @type {number | undefined} */ cpuS) =>
  cpuS === undefined ? [] : [{ file, cpuS }];
const byCost = (/** @type {Costed} */ a, /** @type {Costed} */ b) => a.cpuS - b.cpuS;
