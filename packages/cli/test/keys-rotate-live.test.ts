/**
 * Keys that are rotated while a gate runs: it takes the new ones over, signs nothing with the old
 * ones and loses no secret; where the new ones do not open, it denies and says why.
 */
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readAuditLog } from "@acp/audit";
import { attachApprovers } from "@acp/channel-terminal";
import { makeResponse } from "@acp/core";
import { acp, scratch } from "./harness.js";
import type { Ended } from "./harness.js";
import { answering, startGated } from "./mcp-client.js";

const SECRET = "tok-0123456789abcdef";
const POLICY = `version: "1"
default_action: deny
rules:
  - id: secrets
    match: { tool: write_file, args: { path: "*given.txt" } }
    action: allow
    secrets: [TOKEN]
  - id: reads
    match: { tool: "read_*" }
    action: allow
  - id: writes
    match: { tool: write_file }
    action: ask
`;

interface World extends AsyncDisposable {
  readonly home: string;
  readonly folder: string;
  readonly path: string;
  run(args: readonly string[], input?: string): Promise<Ended>;
}

async function world(env: Readonly<Record<string, string>> = {}): Promise<World> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  const run: World["run"] = (args, input = "") => acp(args, { home, cwd: at.path, input, env });
  return { ...at, home, folder, run };
}

async function setUp({ home, run }: World): Promise<void> {
  expect(await run(["init"])).toMatchObject({ code: 0 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  expect(await run(["vault", "set", "TOKEN", "--server", "default"], SECRET)).toMatchObject({
    code: 0,
  });
}

const keyInUse = async ({ run }: World): Promise<string> =>
  JSON.parse((await run(["keys", "list", "--json"])).stdout).keys[0].public_key;

/** Which key signed each answer that the log has. */
async function signersIn(home: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { metadata } of readAuditLog(join(home, "audit.jsonl")))
    for (const response of Array.isArray(metadata["responses"]) ? metadata["responses"] : [])
      keys.push(response.proof.public_key);
  return keys;
}

it("a gate whose keys are rotated takes the new ones over, and everything stays provable", async () => {
  await using at = await world();
  await setUp(at);
  const { home, folder, run } = at;
  const write = (name: string, content: string): [string, Record<string, string>] => [
    "write_file",
    { path: join(folder, name), content },
  ];
  const oldKey = await keyInUse(at);
  await using gated = await startGated({ home, folder });
  expect(
    await answering(home, { decision: "approved" }, () => gated.call(...write("before.txt", "x"))),
  ).toMatchObject({ isError: false });

  // A question that is open while the keys are rotated, and answered at once afterwards.
  await using approvers = await attachApprovers({
    directory: join(home, "run"),
    signal: new AbortController().signal,
  });
  const call = gated.call(...write("open.txt", "x"));
  for await (const change of approvers.changes) {
    if (change.type !== "open") continue;
    expect(await run(["keys", "rotate"])).toMatchObject({ code: 0 });
    const { request } = change.question;
    await approvers.answer(
      makeResponse(request, { decision: "approved", nowMs: Date.now(), channel: "terminal" }),
    );
    break;
  }
  expect(await call).toMatchObject({ isError: false });
  const newKey = await keyInUse(at);
  await gated.said(new RegExp(`this gate signs with ${newKey} from now on`));

  expect(
    await answering(home, { decision: "approved" }, () => gated.call(...write("after.txt", "y"))),
  ).toMatchObject({ isError: false });
  expect(await gated.call(...write("given.txt", "{{secret:TOKEN}}"))).toMatchObject({
    isError: false,
  });
  expect(await readFile(join(folder, "given.txt"), "utf8")).toBe(SECRET);
  expect(await gated.call("read_text_file", { path: join(folder, "given.txt") })).toMatchObject({
    text: "[secret TOKEN]",
  });
  expect(await signersIn(home)).toEqual([oldKey, newKey, newKey]);
  const ids = [
    ...(await run(["audit", "show", "--limit", "0", "--decision", "approved"])).stdout.matchAll(
      /cr_[\w-]+/g,
    ),
  ].map(([id]) => id);
  expect(ids).toHaveLength(3);
  for (const id of ids) {
    const record = (await run(["proof", "export", id])).stdout;
    expect(await run(["proof", "verify", "-"], record)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^proven: approved/),
    });
  }
});

it("an idle gate takes the new keys over without a call", async () => {
  await using at = await world();
  await setUp(at);
  await using gated = await startGated(at);
  await gated.call("read_text_file", { path: join(at.folder, "none.txt") });
  expect(await at.run(["keys", "rotate"])).toMatchObject({ code: 0 });
  // Nothing calls meanwhile; only the file says so. How soon depends on how busy the machine is.
  const rotatedMs = performance.now();
  await gated.said(/this gate signs with/);
  process.stdout.write(`taken over ${Math.round(performance.now() - rotatedMs)} ms later\n`);
  const told: string[] = [];
  for await (const { metadata } of readAuditLog(join(at.home, "audit.jsonl")))
    if (metadata["notice"] === "keys_rotated") told.push(String(metadata["text"]));
  expect(told).toEqual([expect.stringContaining(await keyInUse(at))]);
});

it("a gate that cannot open the new keys asks nobody, puts in no secret and says why", async () => {
  const passphrases = await scratch();
  await using _passphrases = passphrases;
  const [file, other] = [join(passphrases.path, "one"), join(passphrases.path, "other")];
  await writeFile(file, "correct horse battery\n", { mode: 0o600 });
  await writeFile(other, "correct horse battery\n", { mode: 0o600 });
  await using at = await world({ ACP_PASSPHRASE_FILE: file });
  await setUp(at);
  await using gated = await startGated({ ...at, env: { ACP_PASSPHRASE_FILE: other } });
  const allowed = { path: join(at.folder, "given.txt"), content: "{{secret:TOKEN}}" };
  expect(await gated.call("write_file", { ...allowed, content: "x" })).toMatchObject({
    isError: false,
  });
  await writeFile(other, "another passphrase\n", { mode: 0o600 });
  expect(await at.run(["keys", "rotate"])).toMatchObject({ code: 0 });
  await gated.said(
    /Every call is denied from now on: the keys were rotated and the new ones do not open/,
  );
  expect(
    await gated.call("write_file", { path: join(at.folder, "asked.txt"), content: "x" }),
  ).toMatchObject({ isError: true, code: "paused", text: expect.stringMatching(/do not open/) });
  expect(await gated.call("write_file", allowed)).toMatchObject({ isError: true });
  expect(await readdir(at.folder)).toEqual(["given.txt"]);
  expect(await readFile(allowed.path, "utf8")).toBe("x");
});
