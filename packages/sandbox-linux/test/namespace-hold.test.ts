/**
 * Agents that are held: what is found out before they begin, and what becomes of those that never
 * do.
 */
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNamespaceSandbox } from "../src/namespace.js";
import { initHelper } from "../src/native-helper.js";
import type { HoldOptions } from "../src/parts.js";
import { sessionsDirectory } from "../src/session.js";
import { namespaces, PATH, textOf } from "./namespace-kit.js";

const user = process.getuid?.() === 0 ? { user: 61_009 } : {};
const options: HoldOptions = { env: () => ({ PATH }), stdio: "pipe" };
const takers = { onConnection: (): void => {} };
const ours = (): readonly string[] =>
  existsSync(sessionsDirectory())
    ? readdirSync(sessionsDirectory()).filter((id) => id.includes(`-${process.pid}-`))
    : [];

let work: string;
beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "acp-held-")));
});
afterEach(() => rmSync(work, { recursive: true }));

describe.skipIf(!namespaces.run)(`hold() of the namespace sandbox ${namespaces.reason}`, () => {
  it("has the report before the command begins, which it does with the word to go", async () => {
    const held = await createNamespaceSandbox(user).hold(["echo", "begun"], options);
    expect(held.report).toMatchObject({ sandbox: "namespace", isAvailable: true });
    const agent = await held.go(takers);
    expect(agent.report).toBe(held.report);
    expect(await textOf(agent)).toBe("begun\n");
    expect(await agent.exited).toEqual({ code: 0, signal: undefined });
  });

  it("leaves nothing of one that is closed", async () => {
    const held = await createNamespaceSandbox(user).hold(["sleep", "604"], options);
    expect(ours()).toHaveLength(1);
    await held.close();
    expect(ours()).toEqual([]);
    await expect(held.go(takers)).rejects.toMatchObject({ code: "sandbox_failed" });
  });

  it("lets none go whose signal has come meanwhile", async () => {
    const over = new AbortController();
    const held = await createNamespaceSandbox(user).hold(["sleep", "604"], {
      ...options,
      signal: over.signal,
    });
    over.abort(new Error("enough"));
    await expect(held.go(takers)).rejects.toMatchObject({ code: "aborted" });
    expect(ours()).toEqual([]);
  });

  it("looks at the host anew where what worked before does not, and holds the agent all the same", async () => {
    const asked: boolean[] = [];
    const sandbox = createNamespaceSandbox(user, async ({ mayRecall = false }) => {
      asked.push(mayRecall);
      return mayRecall ? { isAvailable: true, path: "/bin/false" } : await initHelper();
    });
    const held = await sandbox.hold(["true"], options);
    expect(held.report).toEqual(await sandbox.probe());
    await held.close();
    expect(asked).toEqual([true, false, false]);
    expect(ours()).toEqual([]);
  });
});
