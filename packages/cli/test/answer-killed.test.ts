/**
 * A resident that is killed as it takes a person's answer, with the answer's claim kept and nothing
 * recorded: the next one shows the question again, and the person can give the answer again.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import { expect, it, vi } from "vitest";
import { BIN } from "./harness.js";
import { residentWorld, startsOf, textOf } from "./resident-world.js";

const HOOK = new URL("fixtures/die-at.cjs", import.meta.url).href;
/** Hooks a process before anything else is loaded. */
const hooked = (folder: string): string =>
  `data:text/javascript,import hook from ${JSON.stringify(HOOK)}; hook(${JSON.stringify(folder)});`;
const PATIENCE = { timeout: 60_000, interval: 20 };

it("an answer that a killed resident claimed and did not record can be given again", async () => {
  await using at = await residentWorld();
  await at.acp(["init"]);
  const deaths = join(at.path, "deaths");
  await mkdir(deaths);
  const moment = { at: 'write:"key":"nonce:|1|after', how: "kill" };
  await writeFile(join(deaths, "next"), JSON.stringify(moment));
  const dying = spawn(
    process.execPath,
    ["--import", hooked(deaths), BIN, "resident", "serve", "--home", at.home],
    { env: { PATH: "/usr/bin:/bin", HOME: homedir() }, stdio: ["ignore", "ignore", "pipe"] },
  );
  const gone = once(dying, "exit");
  let said = "";
  dying.stderr.on("data", (chunk) => (said += String(chunk)));
  await vi.waitFor(() => expect(said).toContain("Serving"), PATIENCE);
  const stop = new AbortController();
  await using approver = await attachApprovers({
    directory: join(at.home, "run"),
    signal: stop.signal,
  });
  await using client = await at.client();
  const called = client.call("ask", { n: 1 });
  await vi.waitFor(() => expect(approver.pending()).toHaveLength(1), PATIENCE);
  const answer = async () => {
    const [question] = approver.pending();
    if (question === undefined) throw new Error("nothing is asked");
    const claim = { decision: "approved", nowMs: Date.now(), channel: "terminal" } as const;
    return approver.answer(makeResponse(question.request, claim));
  };
  const asked = approver.pending()[0]?.request;
  await expect(answer()).rejects.toMatchObject({ code: "channel_failed" });
  expect(await gone).toEqual([null, "SIGKILL"]);
  expect(await readFile(join(at.home, "claims", "claims.jsonl"), "utf8")).toContain(
    `nonce:${asked?.nonce}:yes:`,
  );
  // The very question, by its client, which is back.
  await vi.waitFor(
    () => expect(approver.pending().map(({ request }) => request.id)).toEqual([asked?.id]),
    PATIENCE,
  );
  expect(await answer()).toEqual({ status: "final", outcome: "approved" });
  expect(textOf(await called)).toBe("1");
  expect(at.done()).toEqual(["1"]);
  expect(await startsOf(at.home)).toBe(1);
  stop.abort();
});
