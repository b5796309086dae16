import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConsentGate, makeResponse, toolAction } from "@acp/core";
import type { AskSession, ConsentRequest } from "@acp/core";
import { parsePolicy } from "@acp/core/policy";
import { initHome, openHome } from "@acp/home";
import type { Home } from "@acp/home";
import { manualClock } from "@acp/testing";
import { expect, it, onTestFinished } from "vitest";
import { openHomePending, openHomeStore } from "./home-store.js";

const KEY = new Uint8Array(32).fill(7);

/** Leaves a yes that was taken, of which nobody said what came of it. */
async function leaveTaken(home: Home): Promise<string> {
  const clock = manualClock();
  const asked: { readonly request: ConsentRequest; readonly session: AskSession }[] = [];
  await using pending = await openHomePending(home, KEY);
  const gate = createConsentGate({
    policy: parsePolicy({ version: "1", default_action: "ask" }),
    channel: {
      name: "test",
      deliver: (request, session) => Promise.resolve(void asked.push({ request, session })),
    },
    audit: { append: () => Promise.resolve({ seq: 0, hash: "sha256:0" }) },
    store: { pending },
    clock,
    recordKey: KEY,
  });
  const opened = await gate.open(toolAction("files", "write_file", {}), { agent: { id: "demo" } });
  if (opened.decision !== "pending") throw new Error("nobody was asked");
  await clock.advance(0);
  const [one] = asked;
  const claim = { decision: "approved", nowMs: clock.now(), channel: "test" } as const;
  await one?.session.submit(makeResponse(one.request, claim), { subject: "local" });
  expect((await opened.settled).decision).toBe("allow");
  return opened.requestId;
}

it("openHomeStore() takes what its process took over for as dead as it was", async () => {
  const path = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  await initHome(join(path, "h"));
  const home = await openHome(join(path, "h"));
  const id = await leaveTaken(home);
  await using left = await openHomePending(home, KEY);
  expect(left.left.map((each) => each.id)).toEqual([id]);
  // A live process that had it would be about to say what came of it.
  await using other = await openHomeStore(home, KEY);
  expect(other.known.held.has(id)).toBe(true);
  await using ours = await openHomeStore(home, KEY, { left });
  expect(ours.known.held.has(id)).toBe(false);
});
