/** A home whose grants are seen by several processes, for tests of what is put back. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditEventInput, Grant, Grants } from "@acp/core";
import { initHome } from "@acp/home";
import type { Home } from "@acp/home";
import { onTestFinished } from "vitest";
import { initCheckpointKey } from "../src/logs/checkpoint-key.js";
import { loggedGrants } from "../src/logs/logged-grants.js";
import { openHomeAudit } from "../src/logs/open-audit.js";
import { createRollbackGuard } from "../src/rollback/state-guard.js";

export const io = { userHome: "/nowhere" };
export const GRANT: Grant = {
  id: "gr_1",
  agentId: "demo",
  scope: { kind: "tool", server: "files", name: "write_file" },
  createdAtMs: 1_000,
  expiresAtMs: 9_000_000_000_000,
  requestId: "cr_1",
  approverIds: ["ada"],
  evidence: "any",
  secrets: [],
};
/** A home without keys. */
export async function newHome(): Promise<Home> {
  const dir = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const { home } = await initHome(join(dir, "h"));
  await initCheckpointKey(home);
  return home;
}

/** Appends to the home's first free log, and closes it. */
export async function append(home: Home, events: readonly AuditEventInput[]): Promise<void> {
  await using audit = await openHomeAudit(home);
  await audit.append(events);
}

/** The grants as one more process sees them, and what it was told. */
export function grantsOf(home: Home): { readonly grants: Grants; readonly said: string[] } {
  const said: string[] = [];
  const guard = createRollbackGuard(home);
  guard.heed(
    (events) => append(home, events),
    (text) => said.push(text),
  );
  return { grants: loggedGrants(home, { guard }), said };
}

/** Puts a file in place. */
export const put = (path: string, text: string): Promise<void> =>
  writeFile(path, text, { mode: 0o600 });
