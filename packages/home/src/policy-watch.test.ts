import { chmod, rename, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConsentError, Policy } from "@acp/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { scratchDirectory } from "../test/support.js";
import { type PolicyWatch, watchPolicyFile } from "./policy-watch.js";

const ALLOW = "default: allow\nrules: []\n";
const DENY = "default: deny\nrules: []\n";
const BROKEN = "default: maybe\n";

/**
 * Puts a file in place at once: one that is written where it lies is empty for a moment, and a
 * watch may read it then.
 */
async function put(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

interface Watching {
  readonly path: string;
  readonly watch: PolicyWatch;
  /** `deny` for a policy with that default, or the code of an error. */
  readonly reports: string[];
  /** Resolves at the n-th report, counted from 1. */
  reported(count: number): Promise<string | undefined>;
}

async function watching(
  options: {
    readonly pollMs?: number;
    readonly stillMs?: number;
    readonly signal?: AbortSignal | undefined;
    readonly path?: string;
    readonly isNew?: boolean;
  } = {},
): Promise<Watching> {
  const path = options.path ?? join(await scratchDirectory(), "policy.yml");
  if (options.path === undefined) await writeFile(path, ALLOW, { mode: 0o600 });
  const reports: string[] = [];
  const waiting = new Set<() => void>();
  const report = (text: string): void => {
    reports.push(text);
    for (const wake of waiting) wake();
  };
  const watch = await watchPolicyFile(path, {
    pollMs: 3_600_000,
    stillMs: 1,
    ...options,
    onReload: (policy: Policy) => report(policy.defaultEffect),
    onError: (error: ConsentError) => report(error.code),
  });
  onTestFinished(() => watch.close());
  const reported = (count: number): Promise<string | undefined> =>
    new Promise((resolve) => {
      const wake = (): void => {
        if (reports.length >= count) resolve(reports[count - 1]);
      };
      waiting.add(wake);
      wake();
    });
  return { path, watch, reports, reported };
}

describe("watchPolicyFile()", () => {
  it("needs a policy to start with", async () => {
    const path = join(await scratchDirectory(), "policy.yml");
    await expect(watching({ path })).rejects.toMatchObject({ code: "home_invalid" });
    await writeFile(path, BROKEN, { mode: 0o600 });
    await expect(watching({ path })).rejects.toMatchObject({ code: "policy_invalid" });
  });

  it("puts a changed policy in force, however often it is looked at while it is written", async () => {
    const { path, watch, reports, reported } = await watching();
    expect(watch.current().defaultEffect).toBe("allow");
    await writeFile(path, DENY);
    while (reports.at(-1) !== "deny") await reported(reports.length + 1);
    expect(watch.current().defaultEffect).toBe("deny");
  });

  it("sees a file that an editor puts in place of the old one", async () => {
    const { path, watch, reported } = await watching();
    await put(path, DENY);
    expect(await reported(1)).toBe("deny");
    expect(watch.current().defaultEffect).toBe("deny");
  });

  it("sees by polling what the system does not report: a change behind a symbolic link", async () => {
    const elsewhere = join(await scratchDirectory(), "real.yml");
    await writeFile(elsewhere, ALLOW, { mode: 0o600 });
    const path = join(await scratchDirectory(), "policy.yml");
    await symlink(elsewhere, path);
    const { reported } = await watching({ path, pollMs: 20 });
    await put(elsewhere, DENY);
    expect(await reported(1)).toBe("deny");
  });
});

describe("refresh()", () => {
  it("keeps the old policy while the file does not load, and says so once a change", async () => {
    const { path, watch, reports } = await watching();
    await put(path, BROKEN);
    await watch.refresh();
    await watch.refresh();
    expect(watch.current().defaultEffect).toBe("allow");
    await put(path, `${BROKEN}#\n`);
    await watch.refresh();
    await put(path, DENY);
    await watch.refresh();
    await watch.refresh();
    expect(reports).toEqual(["policy_invalid", "policy_invalid", "deny"]);
  });

  it("keeps the old policy while the file is gone or others may write it, and says so once", async () => {
    const { path, watch, reports } = await watching();
    await unlink(path);
    await watch.refresh();
    await watch.refresh();
    expect(reports).toEqual(["home_invalid"]);
    await writeFile(`${path}.new`, DENY, { mode: 0o666 });
    await chmod(`${path}.new`, 0o666);
    await rename(`${path}.new`, path);
    await watch.refresh();
    await watch.refresh();
    expect(reports).toEqual(["home_invalid", "home_invalid"]);
    expect(watch.current().defaultEffect).toBe("allow");
    await chmod(path, 0o600);
    await watch.refresh();
    expect(reports).toEqual(["home_invalid", "home_invalid", "deny"]);
  });

  it("reports nothing where nothing changed", async () => {
    const { path, watch, reports } = await watching();
    await put(path, ALLOW);
    await watch.refresh();
    expect(reports).toEqual([]);
  });
});

/** Loads at each line's end; the rule that denies is its last. */
const LINES = [
  "default: allow\n",
  "rules:\n",
  "  - id: a\n    match: { tool: a }\n    action: deny\n",
  "  - id: b\n    match: { tool: b }\n    action: deny\n",
];
const WHOLE = LINES.join("");
const AN_HOUR_MS = 3_600_000;
/** Long enough for everything but a wait that is not over. */
const soon = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 500));

describe("a file that is still being written", () => {
  it.each([
    ["at a line's end", LINES.slice(0, 3).join(""), AN_HOUR_MS],
    ["in the middle of a line", LINES.slice(0, 3).join("").trimEnd(), AN_HOUR_MS / 1_000],
  ])("is not in force where it was cut %s, though it loads", async (_, cut, stillMs) => {
    const path = join(await scratchDirectory(), "policy.yml");
    await writeFile(path, WHOLE, { mode: 0o600 });
    const { watch, reports } = await watching({ path, stillMs });
    await writeFile(path, cut);
    await Promise.race([watch.refresh(), soon()]);
    expect(watch.current().rules).toHaveLength(2);
    expect(reports).toEqual([]);
  });

  it("is in force once it stays as it is", async () => {
    const { path, watch, reported } = await watching({ stillMs: 20 });
    for (let at = 1; at <= LINES.length; at += 1)
      await writeFile(path, LINES.slice(0, at).join(""));
    await reported(1);
    await watch.refresh();
    expect(watch.current().rules).toHaveLength(2);
  });

  it("is not read for the first time either, where it has just appeared", async () => {
    const path = join(await scratchDirectory(), "policy.yml");
    await writeFile(path, LINES.slice(0, 3).join(""), { mode: 0o600 });
    const opening = watching({ path, stillMs: AN_HOUR_MS, isNew: true });
    expect(await Promise.race([opening, soon()])).toBeUndefined();
    const { watch } = await watching({ path, stillMs: 1, isNew: true });
    expect(watch.current().rules).toHaveLength(1);
  });
});

describe("close()", () => {
  it("stops, also by the signal, and leaves the policy as it is", async () => {
    const stop = new AbortController();
    const closed = await watching();
    const aborted = await watching({ signal: stop.signal });
    closed.watch.close();
    stop.abort();
    for (const { path, watch, reports } of [closed, aborted]) {
      await put(path, DENY);
      await watch.refresh();
      expect(watch.current().defaultEffect).toBe("allow");
      expect(reports).toEqual([]);
    }
  });
});
