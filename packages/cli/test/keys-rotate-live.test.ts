/**
 * Keys that are rotated while a gate runs: it signs nothing with the old one, loses no secret, says
 * what has to be done, and works after a restart.
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

it("a gate whose keys were rotated signs nothing and asks nobody until it is started again", async () => {
  await using at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  const run = (args: readonly string[], input = ""): Promise<Ended> =>
    acp(args, { home, cwd: at.path, input });
  expect(await run(["init"])).toMatchObject({ code: 0 });
  await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
  expect(await run(["vault", "set", "TOKEN", "--server", "default"], SECRET)).toMatchObject({
    code: 0,
  });
  const write = (name: string, content: string): [string, Record<string, string>] => [
    "write_file",
    { path: join(folder, name), content },
  ];
  const oldKey: string = JSON.parse((await run(["keys", "list", "--json"])).stdout).keys[0]
    .public_key;

  {
    await using gated = await startGated({ home, folder });
    expect(
      await answering(home, { decision: "approved" }, () =>
        gated.call(...write("before.txt", "x")),
      ),
    ).toMatchObject({
      isError: false,
    });

    // A question that is open while the keys are rotated, and answered afterwards.
    await using approvers = await attachApprovers({
      directory: join(home, "run"),
      signal: new AbortController().signal,
    });
    const call = gated.call(...write("open.txt", "x"));
    let answered = false;
    for await (const change of approvers.changes) {
      if (change.type !== "open") continue;
      expect(await run(["keys", "rotate"])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("Restart running gates"),
      });
      const { request } = change.question;
      await approvers.answer(
        makeResponse(request, { decision: "approved", nowMs: Date.now(), channel: "terminal" }),
      );
      answered = true;
      break;
    }
    expect([answered, await call]).toEqual([
      true,
      expect.objectContaining({ isError: true, code: "signer_failed" }),
    ]);

    const asked = await gated.call(...write("after.txt", "x"));
    expect(asked).toMatchObject({
      isError: true,
      code: "paused",
      text: expect.stringMatching(/keys were rotated .* restart it/),
    });
    await gated.said(/Every call is denied from now on: the keys were rotated .*; restart it/);
    // Without the vault nothing can be put in, and nothing that comes back can be masked.
    expect(await gated.call(...write("given.txt", "{{secret:TOKEN}}"))).toMatchObject({
      isError: true,
      code: "vault_failed",
    });
    expect(await gated.call("read_text_file", { path: join(folder, "before.txt") })).toMatchObject({
      isError: true,
      code: "vault_failed",
    });
    expect(await readdir(folder)).toEqual(["before.txt"]);
  }

  const until = Date.parse(
    JSON.parse((await run(["keys", "list", "--json"])).stdout).keys[1].until,
  );
  const signed: { readonly key: string; readonly atMs: number }[] = [];
  for await (const { metadata } of readAuditLog(join(home, "audit.jsonl")))
    for (const response of Array.isArray(metadata["responses"]) ? metadata["responses"] : [])
      signed.push({ key: response.proof.public_key, atMs: Date.parse(response.timestamp) });
  expect(signed).toEqual([{ key: oldKey, atMs: expect.any(Number) }]);
  expect(signed[0]?.atMs).toBeLessThan(until);

  await using again = await startGated({ home, folder });
  expect(
    await answering(home, { decision: "approved" }, () => again.call(...write("after.txt", "y"))),
  ).toMatchObject({ isError: false });
  expect(await again.call(...write("given.txt", "{{secret:TOKEN}}"))).toMatchObject({
    isError: false,
  });
  expect(await readFile(join(folder, "given.txt"), "utf8")).toBe(SECRET);
  const ids = [
    ...(await run(["audit", "show", "--limit", "0", "--decision", "approved"])).stdout.matchAll(
      /cr_[\w-]+/g,
    ),
  ].map(([id]) => id);
  expect(ids).toHaveLength(2);
  for (const id of ids) {
    const record = (await run(["proof", "export", id])).stdout;
    expect(await run(["proof", "verify", "-"], record)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^proven: approved/),
    });
  }
});
