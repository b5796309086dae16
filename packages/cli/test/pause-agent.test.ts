/**
 * `acp pause --agent` and the inbox's page against two real gates: one agent's questions end as
 * denied, the other's stay, and the pause ends.
 */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { attachApprovers } from "@acp/channel-terminal";
import { expect, it } from "vitest";
import { acp, scratch } from "./harness.js";
import { type Gated, answering, startGated } from "./mcp-client.js";

const POLICY = `version: "1"
default_action: deny
rules:
  - match: { tool: create_directory }
    action: ask
  - match: { tool: list_allowed_directories }
    action: allow
`;
const FLOOD = 40;

it("acp pause --agent denies one agent's open questions and all that it calls, until --off", async () => {
  await using at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  await using flooder = await startGated({ home, folder, args: ["--agent", "flooder"] });
  await using clerk = await startGated({ home, folder, args: ["--agent", "clerk"] });
  const stop = new AbortController();
  const silent = await attachApprovers({ directory: join(home, "run"), signal: stop.signal });
  await expect.poll(() => silent.gates(), { timeout: 60_000 }).toBe(2);

  const wantAs = (gated: Gated, name: string) =>
    gated.call("create_directory", { path: join(folder, name) });
  const flood = Array.from({ length: FLOOD }, (_, number) => wantAs(flooder, `flood-${number}`));
  const calm = [wantAs(clerk, "calm-1"), wantAs(clerk, "calm-2")];
  await expect.poll(() => silent.pending().length, { timeout: 120_000 }).toBe(FLOOD + 2);

  const paused = await acp(["pause", "--agent", "flooder", "--json"], { home });
  expect(paused).toMatchObject({ code: 0 });
  expect(JSON.parse(paused.stdout)).toMatchObject({
    agent: "flooder",
    paused: true,
    denied: FLOOD,
    left: 0,
  });
  for (const answer of await Promise.all(flood))
    expect(answer).toMatchObject({ isError: true, code: "agent_paused" });
  await expect
    .poll(() => silent.pending().map(({ request }) => request.agent.id), { timeout: 60_000 })
    .toEqual(["clerk", "clerk"]);
  // Also what a rule allows; of the other agent nothing changes.
  expect(await flooder.call("list_allowed_directories", {})).toMatchObject({
    code: "agent_paused",
  });
  expect(await clerk.call("list_allowed_directories", {})).toMatchObject({ isError: false });
  expect(await readdir(folder)).toEqual([]);

  expect(
    JSON.parse((await acp(["pause", "--agent", "flooder", "--off", "--json"], { home })).stdout),
  ).toMatchObject({ was: true });
  expect(await flooder.call("list_allowed_directories", {})).toMatchObject({ isError: false });
  await silent.close();
  stop.abort();
  // What was denied by the pause is nobody's no: the same call is asked again.
  await answering(home, { decision: "approved" }, async () => {
    expect(await wantAs(flooder, "flood-0")).toMatchObject({ isError: false });
  });
  expect(await readdir(folder)).toContain("flood-0");
  await Promise.allSettled([flooder.client.close(), clerk.client.close(), ...calm]);
});
