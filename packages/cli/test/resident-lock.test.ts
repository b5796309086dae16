/**
 * A resident whose key a passphrase opens: a person types it once, and nobody waits meanwhile.
 */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { acp } from "./harness.js";
import { residentWorld, startsOf, textOf } from "./resident-world.js";
import type { RawClient, ResidentWorld } from "./resident-world.js";

const PASSPHRASE = "correct horse battery staple 9917";

/** A home whose key opens with the passphrase, and its commands. */
async function lockedWorld(): Promise<
  ResidentWorld & { unlock(input: string): ReturnType<typeof acp> }
> {
  const at = await residentWorld();
  const file = join(at.path, "passphrase");
  await writeFile(file, PASSPHRASE, { mode: 0o600 });
  const made = await acp(["init", "--home", at.home], { env: { ACP_PASSPHRASE_FILE: file } });
  expect(made).toMatchObject({ code: 0 });
  const env = { ACP_RESIDENT_SECONDS: "600" };
  const unlock = (input: string): ReturnType<typeof acp> =>
    acp(["unlock", "--home", at.home], { input: `${input}\n`, env, cwd: at.home });
  return { ...at, unlock };
}

const isDone = async (client: RawClient, n: number): Promise<void> =>
  vi.waitFor(async () => expect(textOf(await client.call("act", { n }))).toBe(String(n)), {
    timeout: 60_000,
  });

/** Every file below a folder that has the text in it. */
function holders(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path, "utf8").includes(text);
  });
}

it("denies what a rule denies, answers everything else with key_locked, and goes on once a person unlocks it", async () => {
  await using at = await lockedWorld();
  await using client = at.start();
  const { result } = await client.ask("initialize", { protocolVersion: "2025-06-18" });
  expect(JSON.stringify(result)).toContain("acp unlock --home");
  client.send({ method: "notifications/initialized" });
  const locked = { data: { code: "key_locked", retryable: true } };
  expect((await client.call("act", { n: 1 })).error).toMatchObject(locked);
  expect((await client.call("ask", { n: 1 })).error).toMatchObject(locked);
  expect(JSON.stringify(await client.call("drop", { n: 1 }))).toContain('"code":"policy_denied"');
  expect(await at.logs()).toEqual(["audit.jsonl"]);
  const before = await readFile(join(at.home, "audit.jsonl"), "utf8");
  expect(before).not.toContain("tool_call");

  expect(await at.unlock("wrong")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("key_locked"),
  });
  expect((await client.call("act", { n: 1 })).error).toMatchObject(locked);
  expect(await at.unlock(PASSPHRASE)).toMatchObject({ code: 0 });
  await isDone(client, 2);
  expect(await at.logs()).toEqual(["audit.jsonl"]);
  await vi.waitFor(
    async () =>
      expect(await readFile(join(at.home, "audit.jsonl"), "utf8")).toMatch(
        /"notice":"denied_while_locked",.*While the key was locked, calls were denied from [^"]+: \\"mcp-client\\" 4/,
      ),
    { timeout: 60_000 },
  );
  expect(await startsOf(at.home)).toBe(1);
  const status = JSON.parse((await at.acp(["resident", "status", "--json"])).stdout);
  expect(status.unlocked_until).toMatch(/^\d{4}-/);

  // Locking ends the servers, and the client stays.
  expect(await at.acp(["lock"])).toMatchObject({ code: 0 });
  await vi.waitFor(
    async () => expect((await client.call("act", { n: 3 })).error).toMatchObject(locked),
    { timeout: 60_000 },
  );
  const children = await readFile(`/proc/${at.pid()}/task/${at.pid()}/children`, "utf8");
  expect(children.trim()).toBe("");
  expect((await at.acp(["lock"])).code).toBe(5);
  expect(await at.unlock(PASSPHRASE)).toMatchObject({ code: 0 });
  await isDone(client, 4);
  expect(await at.logs()).toEqual(["audit.jsonl"]);
  expect(await startsOf(at.home)).toBe(1);
  expect(at.done()).toEqual(["2", "4"]);
  for (const answers of client.answers.values()) expect(answers).toHaveLength(1);
  // The file of acp init alone has it.
  expect(holders(at.path, PASSPHRASE)).toEqual(["passphrase"]);
  expect(await readFile(`/proc/${at.pid()}/environ`, "utf8")).not.toContain("PASSPHRASE");
});

it("is started by acp unlock, and asks nobody where a file opens the key", async () => {
  await using at = await lockedWorld();
  expect(await at.unlock(PASSPHRASE)).toMatchObject({ code: 0 });
  await using client = await at.client();
  expect(textOf(await client.call("act", { n: 1 }))).toBe("1");
  expect(await startsOf(at.home)).toBe(1);
  // The next resident has not inherited it.
  await at.acp(["resident", "stop"]);
  expect((await client.call("act", { n: 2 })).error?.data?.code).toBe("key_locked");
  await at.acp(["resident", "stop"]);
  const env = { ACP_PASSPHRASE_FILE: join(at.path, "passphrase") };
  await using other = await at.client({ env });
  expect(textOf(await other.call("act", { n: 3 }))).toBe("3");
});
