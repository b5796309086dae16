/**
 * Every set of a home's files put back to before a revocation and a rotation, with the real `acp`: a
 * gate starts and denies, whatever is mixed, and nothing that ended answers again.
 */
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { acp, scratch } from "./harness.js";
import { answering, startGated } from "./mcp-client.js";

const POLICY = `version: "1"
default_action: ask
rules:
  - id: writes
    match: { tool: write_file }
    action: ask
    offers: [{ covers: tool, ttl: 600 }]
  - match: { tool: list_directory }
    action: allow
`;
const CONFIG = `version: "1"
channel: [prompt, webhook]
webhook: { url: "http://127.0.0.1:9/", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }
`;
const FILES = [
  ["keys/private.key"],
  ["keys/public.key"],
  ["vault.json"],
  ["config.yml"],
  ["grants.json", "claims"],
] as const;

/** Each alone, each with each other, and all of them. */
const SETS: readonly (readonly string[])[] = [
  ...FILES.flatMap((one, at) => [one, ...FILES.slice(at + 1).map((other) => [...one, ...other])]),
  FILES.flat(),
];

it("a gate starts, allows what the policy allows, and denies what a person would have to answer", async () => {
  await using at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  expect(await acp(["init"], { home })).toMatchObject({ code: 0 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  await writeFile(join(home, "config.yml"), CONFIG, { mode: 0o600 });
  const encrypted = await acp(["config", "encrypt", "webhook.secret"], { home });
  expect(encrypted).toMatchObject({ code: 0 });
  const write = { path: join(folder, "a"), content: "x" };
  {
    await using gate = await startGated({ home, folder });
    const yes = await answering(
      home,
      ({ offers }) => ({ decision: "approved", grantId: offers[0]?.id ?? "" }),
      () => gate.call("write_file", write),
    );
    expect(yes).toMatchObject({ isError: false });
    expect(await gate.call("write_file", write)).toMatchObject({ isError: false });
  }
  const before = join(at.path, "before");
  await cp(home, before, { recursive: true });
  expect(await acp(["grants", "revoke", "--all"], { home })).toMatchObject({ code: 0 });
  expect(await acp(["keys", "rotate"], { home })).toMatchObject({ code: 0 });
  const after = join(at.path, "after");
  await cp(home, after, { recursive: true });
  const results: Record<string, unknown> = {};
  for (const set of SETS) {
    await rm(home, { recursive: true });
    await cp(after, home, { recursive: true });
    for (const name of set) {
      await rm(join(home, name), { recursive: true, force: true });
      await cp(join(before, name), join(home, name), { recursive: true });
    }
    try {
      await using gate = await startGated({ home, folder });
      const allowed = await gate.call("list_directory", { path: folder });
      const asked = await gate.call("write_file", write);
      results[set.join(" ")] = [allowed.isError, asked.isError, asked.code];
    } catch (error) {
      results[set.join(" ")] = String(error);
    }
  }
  for (const [set, result] of Object.entries(results))
    expect([set, result]).toEqual([set, [false, true, expect.any(String)]]);
});
