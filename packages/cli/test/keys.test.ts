/**
 * Keys, vault and proofs at the command line: as child processes, with a real gate, a real server
 * and a real answer.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { BIN, scratch } from "./harness.js";
import { acpHere } from "./acp-here.js";
import type { AcpOptions, Ended, Scratch } from "./harness.js";
import { answering, startGated } from "./mcp-client.js";

interface World extends Scratch {
  readonly home: string;
  readonly folder: string;
  run(args: readonly string[], options?: AcpOptions): Promise<Ended>;
}

async function world(): Promise<World> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  const run = (args: readonly string[], options: AcpOptions = {}): Promise<Ended> =>
    acpHere(args, { home, cwd: at.path, ...options });
  expect(await run(["init"])).toMatchObject({ code: 0 });
  return { ...at, home, folder, run };
}

const json = ({ stdout }: Ended): ReturnType<typeof JSON.parse> => JSON.parse(stdout);

/** Asks and says yes; gives the question's id. */
async function consent(at: World): Promise<string> {
  await using gated = await startGated(at);
  const file = join(at.folder, "b.txt");
  const answer = await answering(at.home, { decision: "approved" }, () =>
    gated.call("write_file", { path: file, content: "as asked" }),
  );
  expect(answer).toMatchObject({ isError: false });
  const [id = ""] = /cr_[\w-]+/.exec((await at.run(["audit", "show"])).stdout) ?? [];
  return id;
}

describe("acp init", () => {
  it("makes keys and a vault, sealed under a key file where nobody can be asked, and says so", async () => {
    await using at = await scratch();
    const home = join(at.path, "h");
    const { code, stdout } = await acpHere(["init", "--home", home]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(
        `opens with the file ${home}/keys/unlock.key: anyone who can read it`,
      ),
    ]);
    for (const name of ["keys/private.key", "keys/unlock.key", "keys/checkpoint.key", "vault.json"])
      expect((await stat(join(home, name))).mode & 0o777).toBe(0o600);
    const before = await readFile(join(home, "keys/private.key"), "utf8");
    expect(await acpHere(["init", "--home", home])).toMatchObject({ code: 0 });
    expect(await readFile(join(home, "keys/private.key"), "utf8")).toBe(before);
    const events = (await acpHere(["audit", "show", "--json"], { home })).stdout;
    expect(JSON.parse(events.split("\n")[1] ?? "")).toMatchObject({
      eventType: "vault_changed",
      metadata: { counter: 1, change: "created" },
    });
  });

  it("takes a passphrase from a private file, and needs it afterwards", async () => {
    await using at = await scratch();
    const home = join(at.path, "h");
    const file = join(at.path, "passphrase");
    await writeFile(file, "correct horse battery\n", { mode: 0o600 });
    const env = { ACP_PASSPHRASE_FILE: file };
    expect(json(await acpHere(["init", "--json"], { home, env }))).toMatchObject({
      unlock: "passphrase",
    });
    expect(await acpHere(["vault", "list"], { home, env })).toMatchObject({
      code: 0,
      stdout: "The vault is empty\n",
    });
    for (const args of [
      ["vault", "list"],
      ["mcp", "--", "true"],
    ]) {
      const { code, stderr } = await acpHere(args, { home });
      expect([code, stderr]).toEqual([
        EXIT_CODES.invalid.code,
        expect.stringMatching(/^acp: .*set ACP_PASSPHRASE_FILE .*\[key_locked\]\n$/),
      ]);
    }
    await writeFile(file, "another passphrase\n", { mode: 0o600 });
    expect(await acpHere(["vault", "list"], { home, env })).toMatchObject({
      code: EXIT_CODES.invalid.code,
    });
  });

  it("seals under the key file that is named", async () => {
    await using at = await scratch();
    const home = join(at.path, "h");
    expect(await acpHere(["init", "--key-file", "my.key"], { home, cwd: at.path })).toMatchObject({
      code: 0,
    });
    expect(await acpHere(["vault", "list"], { home })).toMatchObject({
      code: EXIT_CODES.invalid.code,
    });
    expect(
      await acpHere(["vault", "list", "--key-file", "my.key"], { home, cwd: at.path }),
    ).toMatchObject({ code: 0 });
    expect(
      await acpHere(["vault", "list"], { home, env: { ACP_KEY_FILE: join(at.path, "my.key") } }),
    ).toMatchObject({ code: 0 });
  });
});

describe("acp proof", () => {
  it("export and verify: a stranger with the record and the key verifies what was asked and answered", async () => {
    await using at = await world();
    const id = await consent(at);
    const exported = await at.run(["proof", "export", id]);
    expect(exported).toMatchObject({ code: 0, stderr: "" });
    await writeFile(join(at.path, "record.json"), exported.stdout);
    const key: string = json(await at.run(["keys", "list", "--json"])).keys[0].public_key;
    await writeFile(join(at.path, "public.key"), (await at.run(["keys", "export"])).stdout);

    // No home: the stranger has none.
    const nowhere = { cwd: at.path, home: join(at.path, "none") };
    for (const trusted of [key, "public.key"]) {
      const result = await acpHere(
        ["proof", "verify", "record.json", "--key", trusted, "--json"],
        nowhere,
      );
      expect(result).toMatchObject({ code: 0, stderr: "" });
      expect(json(result)).toMatchObject({
        ok: true,
        request_id: id,
        decision: "approved",
        expired_since: false,
      });
    }
    expect(await at.run(["proof", "verify", "record.json"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^proven: approved cr_/),
    });
    expect(
      await acpHere(["proof", "verify", "-", "--key", key], { ...nowhere, input: exported.stdout }),
    ).toMatchObject({ code: 0 });

    const late = await acpHere(
      ["proof", "verify", "record.json", "--key", key, "--at", "2199-01-01T00:00:00Z"],
      nowhere,
    );
    expect(late).toMatchObject({
      code: EXIT_CODES.unproven.code,
      stdout: expect.stringContaining("[expired]"),
    });
    const early = await acpHere(
      ["proof", "verify", "record.json", "--key", key, "--at", "2020-01-01", "--json"],
      nowhere,
    );
    expect([early.code, json(early).code]).toEqual([EXIT_CODES.unproven.code, "from_future"]);
    const other = await acpHere(
      [
        "proof",
        "verify",
        "record.json",
        "--key",
        "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
      ],
      nowhere,
    );
    expect(other).toMatchObject({
      code: EXIT_CODES.unproven.code,
      stdout: expect.stringContaining("[key_untrusted]"),
    });
    await writeFile(
      join(at.path, "changed.json"),
      exported.stdout.replaceAll("as asked", "as wanted"),
    );
    const changed = await acpHere(["proof", "verify", "changed.json", "--key", key], nowhere);
    expect(changed).toMatchObject({
      code: EXIT_CODES.unproven.code,
      stdout: expect.stringContaining("[request_changed]"),
    });

    // Rotated: the old key still holds for what it signed.
    expect(await at.run(["keys", "rotate"])).toMatchObject({ code: 0 });
    expect(json(await at.run(["keys", "list", "--json"])).keys).toEqual([
      { public_key: expect.not.stringContaining(key), from: expect.any(String) },
      { public_key: key, from: expect.any(String), until: expect.any(String) },
    ]);
    expect(await at.run(["proof", "verify", "record.json"])).toMatchObject({ code: 0 });
    expect(await at.run(["audit", "verify"])).toMatchObject({ code: 0 });
    // The nonce that was used stands in the home.
    expect(await readFile(join(at.home, "claims", "claims.jsonl"), "utf8")).toMatch(
      /"nonce:n_[0-9a-f-]+:yes:local"/i,
    );
  });

  it.each([
    [["proof", "export"], EXIT_CODES.usage.code, /name the question/],
    [
      ["proof", "export", "cr_none"],
      EXIT_CODES.nothing.code,
      /No question in the log has the ID cr_none/,
    ],
    [["proof", "verify"], EXIT_CODES.usage.code, /name the record/],
    [["proof", "verify", "nowhere.json"], EXIT_CODES.usage.code, /there is no such file/],
    [["proof", "verify", "-", "--at", "noon"], EXIT_CODES.usage.code, /Cannot read --at "noon"/],
    [
      ["proof", "verify", "-", "--key", "0".repeat(64)],
      EXIT_CODES.invalid.code,
      /\[key_rejected\]/,
    ],
  ])("%j says what is wrong", async (args, expected, message) => {
    await using at = await world();
    const { code, stdout, stderr } = await at.run(args, { input: "{}" });
    expect([code, stdout, stderr]).toEqual([expected, "", expect.stringMatching(message)]);
    expect(stderr.trimEnd()).not.toContain("\n");
  });
});

describe("acp vault", () => {
  it("keeps, lists, rotates and removes secrets, never shows a value, and notes every save", async () => {
    await using at = await world();
    const value = "tok-0123456789abcdef";
    const outputs = [
      await at.run(
        ["vault", "set", "TOKEN", "--server", "default,other", "--host", "api.example.com"],
        { input: `${value}\n` },
      ),
      await at.run(["vault", "list", "--json"]),
      await at.run(["vault", "rotate", "TOKEN"], { input: `${value}2` }),
      await at.run(["vault", "list"]),
      await at.run(["audit", "show", "--json"]),
    ];
    for (const { code, stdout, stderr } of outputs)
      expect([code, stderr, stdout.includes(value)]).toEqual([0, "", false]);
    expect(outputs[1] && json(outputs[1])).toEqual({
      counter: 2,
      secrets: [{ name: "TOKEN", servers: ["default", "other"], hosts: ["api.example.com"] }],
    });
    expect(outputs[3]?.stdout).toBe(
      "TOKEN: may go to server default, server other, host api.example.com\n",
    );
    expect(outputs[4]?.stdout).toMatch(/"change":"set","counter":3,"secret":"TOKEN"/);
    expect(await at.run(["vault", "remove", "TOKEN"])).toMatchObject({ code: 0 });
    expect(await at.run(["vault", "remove", "TOKEN"])).toMatchObject({
      code: EXIT_CODES.nothing.code,
    });
    expect(await at.run(["vault", "rotate", "TOKEN"], { input: value })).toMatchObject({
      code: EXIT_CODES.nothing.code,
    });
    expect(await at.run(["vault", "list"])).toMatchObject({ stdout: "The vault is empty\n" });
  });

  it.each([
    [["vault", "set"], "long enough", /name it/],
    [["vault", "set", "TOKEN"], "long enough", /say where it may go/],
    [["vault", "set", "TOKEN", "--server", "a"], "short", /fewer than 8 bytes/],
    [["vault", "set", "a b", "--server", "a"], "long enough", /\[secret_invalid\]/],
    [["vault", "set", "TOKEN", "value-in-argv", "--server", "a"], "", /\[options_invalid\]/],
  ])("%j is refused, and the value is in no message", async (args, input, message) => {
    await using at = await world();
    const { code, stdout, stderr } = await at.run(args, { input });
    expect([code, stdout, stderr]).toEqual([
      EXIT_CODES.usage.code,
      "",
      expect.stringMatching(message),
    ]);
    if (input !== "") expect(stderr).not.toContain(input);
  });

  it("puts a secret into a call that a person said yes to, and masks what comes back", async () => {
    await using at = await world();
    const value = "tok-0123456789abcdef";
    await at.run(["vault", "set", "TOKEN", "--server", "default"], { input: value });
    const policy =
      'version: "1"\ndefault_action: allow\nrules:\n  - id: w\n    match: { tool: write_file }\n    action: allow\n    secrets: [TOKEN]\n';
    await writeFile(join(at.home, "policy.yml"), policy, { mode: 0o600 });
    await using gated = await startGated(at);
    const file = join(at.folder, "t.txt");
    expect(
      await gated.call("write_file", { path: file, content: "{{secret:TOKEN}}" }),
    ).toMatchObject({ isError: false });
    expect(await readFile(file, "utf8")).toBe(value);
    expect((await gated.call("read_text_file", { path: file })).text).toBe("[secret TOKEN]");
    expect(await readFile(join(at.home, "audit.jsonl"), "utf8")).not.toContain(value);
    // Removed while the gate runs: it goes nowhere any more.
    await at.run(["vault", "remove", "TOKEN"]);
    expect(
      await gated.call("write_file", { path: file, content: "{{secret:TOKEN}}" }),
    ).toMatchObject({ code: "vault_failed" });
  });

  it("an older vault put back releases nothing and is not changed, and the gate starts", async () => {
    await using at = await world();
    const old = await readFile(join(at.home, "vault.json"), "utf8");
    const input = "tok-0123456789abcdef";
    const set = ["vault", "set", "TOKEN", "--server", "default"];
    await at.run(set, { input });
    await writeFile(join(at.home, "vault.json"), old, { mode: 0o600 });
    await using gated = await startGated(at);
    await gated.said(/an older one \(save 1\) .*; no secret is released/);
    expect(await at.run(set, { input })).toMatchObject({
      code: EXIT_CODES.invalid.code,
      stderr: expect.stringMatching(/^acp: .* an older one \(save 1\) .*\[vault_invalid\]\n$/),
    });
  });
});

it("acp in a directory that was removed says so in one line", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "acp-gone-"));
  const run = new Promise<readonly [number | string | null | undefined, string]>((resolve) => {
    execFile(
      "/bin/sh",
      ["-c", 'rmdir "$PWD" && exec "$0" "$1" audit verify', process.execPath, BIN],
      { cwd },
      (error, _stdout, stderr) => resolve([error?.code, stderr]),
    );
  });
  expect(await run).toEqual([
    EXIT_CODES.usage.code,
    "acp: Cannot start: the current directory was removed; go to another one [options_invalid]\n",
  ]);
  await rm(cwd, { recursive: true, force: true });
});
