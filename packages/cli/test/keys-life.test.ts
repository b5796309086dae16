/**
 * The life of a home's keys at the command line: another passphrase, a lost one, a clock that was
 * wrong, and another key for checkpoints. With real gates, servers and answers.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EXIT_CODES } from "../src/exit-codes.js";
import { acpHere } from "./acp-here.js";
import { scratch } from "./environment.js";
import type { AcpOptions, Ended } from "./harness.js";
import { answering, startGated } from "./mcp-client.js";

interface World extends AsyncDisposable {
  readonly home: string;
  readonly folder: string;
  readonly passphraseFile: string;
  run(args: readonly string[], options?: AcpOptions): Promise<Ended>;
  /** Asks, says yes and gives the record that proves it. */
  consent(env?: Readonly<Record<string, string>>): Promise<string>;
}

async function world(initEnv: Readonly<Record<string, string>> = {}): Promise<World> {
  const at = await scratch();
  const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
  await mkdir(folder);
  const passphraseFile = join(at.path, "passphrase");
  await writeFile(passphraseFile, "correct horse battery\n", { mode: 0o600 });
  const run: World["run"] = (args, options = {}) =>
    acpHere(args, { home, cwd: at.path, ...options });
  const env = "ACP_PASSPHRASE_FILE" in initEnv ? { ACP_PASSPHRASE_FILE: passphraseFile } : initEnv;
  expect(await run(["init"], { env })).toMatchObject({ code: 0 });
  let count = 0;
  return {
    ...at,
    home,
    folder,
    passphraseFile,
    run,
    async consent(gateEnv = env) {
      await using gated = await startGated({ home, folder, env: gateEnv });
      const path = join(folder, `${++count}.txt`);
      const answer = await answering(home, { decision: "approved" }, () =>
        gated.call("write_file", { path, content: "as asked" }),
      );
      expect(answer).toMatchObject({ isError: false });
      const shown = await run(["audit", "show", "--limit", "0", "--decision", "approved"]);
      const id = shown.stdout.match(/cr_[\w-]+/g)?.at(-1) ?? "";
      return (await run(["proof", "export", id])).stdout;
    },
  };
}

const json = ({ stdout }: Ended): ReturnType<typeof JSON.parse> => JSON.parse(stdout);
const verify = async ({ run }: World, record: string): Promise<string> => {
  const result = json(await run(["proof", "verify", "-", "--json"], { input: record }));
  return result.ok === true ? "proven" : result.code;
};

it("acp keys passphrase: the key opens with the new one alone, and a gate goes on", async () => {
  await using at = await world();
  const record = await at.consent();
  const changed = await at.run(["keys", "passphrase"], { input: "correct horse battery\n" });
  expect(changed).toMatchObject({ code: 0, stdout: expect.stringContaining("a passphrase") });
  expect(await at.run(["vault", "list"])).toMatchObject({ code: EXIT_CODES.invalid.code });
  const env = { ACP_PASSPHRASE_FILE: at.passphraseFile };
  expect(await at.run(["vault", "list"], { env })).toMatchObject({ code: 0 });
  expect(await verify(at, await at.consent(env))).toBe("proven");
  expect(await verify(at, record)).toBe("proven");
  expect(await at.run(["keys", "passphrase", "--json"], { env, input: "short\n" })).toMatchObject({
    code: EXIT_CODES.usage.code,
  });
  expect(
    json(await at.run(["keys", "passphrase", "--key-file", "my.key", "--json"], { env })),
  ).toMatchObject({ unlock: "key-file" });
  expect(await at.run(["vault", "list", "--key-file", "my.key"])).toMatchObject({ code: 0 });
  expect(json(await at.run(["keys", "list", "--json"])).keys).toHaveLength(1);
  expect((await at.run(["audit", "show", "--limit", "0"])).stdout).toContain(
    "The private key opens with a passphrase now",
  );
});

it("acp keys reset: a lost passphrase costs the secrets, not what was signed", async () => {
  await using at = await world({ ACP_PASSPHRASE_FILE: "" });
  const env = { ACP_PASSPHRASE_FILE: at.passphraseFile };
  const set = ["vault", "set", "TOKEN", "--server", "default"];
  expect(await at.run(set, { env, input: "tok-0123456789" })).toMatchObject({ code: 0 });
  const record = await at.consent();
  const refused = await at.run(["keys", "reset"], { env });
  expect([refused.code, refused.stderr]).toEqual([
    EXIT_CODES.usage.code,
    expect.stringMatching(/the private key opens/),
  ]);

  // The passphrase is lost; a key file opens the new key.
  const sealed = await readFile(join(at.home, "keys/private.key"), "utf8");
  const reset = json(await at.run(["keys", "reset", "--json"]));
  expect(reset.set_aside).toHaveLength(2);
  expect(await readFile(reset.set_aside[0], "utf8")).toBe(sealed);
  expect(await verify(at, record)).toBe("proven");
  expect(await at.run(["vault", "list"])).toMatchObject({ stdout: "The vault is empty\n" });
  // A gate holds the vault against the log, and takes the new one.
  expect(await verify(at, await at.consent({}))).toBe("proven");
  expect(await at.run(["audit", "verify"])).toMatchObject({ code: 0 });
  expect((await at.run(["audit", "show", "--limit", "0", "--json"])).stdout).toContain(
    `"reset":true`,
  );
});

it("acp keys repair: what a version of before made unprovable is proven again", async () => {
  await using at = await world();
  const record = await at.consent();
  expect(await at.run(["keys", "rotate"])).toMatchObject({ code: 0 });
  // What a rotation wrote whose clock was behind: "from X until X".
  const path = join(at.home, "keys/public.key");
  const [now = "", old = ""] = (await readFile(path, "utf8")).split("\n");
  const later = "2031-01-01T00:00:00.000Z";
  await writeFile(path, `${now.split(" ")[0]} ${later}\n${old.split(" ")[0]} ${later} ${later}\n`, {
    mode: 0o600,
  });
  expect(await verify(at, record)).toBe("key_not_valid");
  const told = await at.run(["proof", "verify", "-"], { input: record });
  expect(told.stderr).toContain("acp keys repair");
  expect(await at.run(["keys", "repair"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^repaired: 1 /),
  });
  expect(await verify(at, record)).toBe("proven");
  expect(await at.run(["keys", "repair"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Every signature/),
  });
  // The key in use was made while the clock was ahead: it begins with what it signs.
  expect(await verify(at, await at.consent())).toBe("proven");
});

it("acp keys rotate keeps what a key signed whose clock was ahead when it was made", async () => {
  await using at = await world();
  const path = join(at.home, "keys/public.key");
  const [line = ""] = (await readFile(path, "utf8")).split("\n");
  const record = await at.consent();
  await writeFile(path, `${line.split(" ")[0]} 2031-01-01T00:00:00.000Z\n`, { mode: 0o600 });
  expect(await verify(at, record)).toBe("key_not_valid");
  expect(await at.run(["keys", "rotate"])).toMatchObject({ code: 0 });
  expect(await verify(at, record)).toBe("proven");
});

it("acp keys rotate --checkpoint: the log verifies across the seam with either key, and its end cannot be cut off", async () => {
  await using at = await world();
  await at.consent();
  const before: string = json(await at.run(["keys", "list", "--json"])).checkpoint_key;
  const rotated = json(await at.run(["keys", "rotate", "--checkpoint", "--json"]));
  expect(rotated.previous_checkpoint_key).toBe(before);
  expect(json(await at.run(["keys", "list", "--json"])).checkpoint_key).toBe(
    rotated.checkpoint_key,
  );
  const log = join(at.home, "audit.jsonl");
  const notes = (): Promise<number> =>
    at.run(["audit", "verify", "--json"]).then((ended) => json(ended).logs[0].checkpoints.verified);
  const verified = await notes();
  await at.consent();
  expect(await notes()).toBeGreaterThan(verified);
  for (const key of [before, rotated.checkpoint_key])
    expect(await at.run(["audit", "verify", "--key", key])).toMatchObject({ code: 0 });

  // Only the old key's checkpoints are left, and the log ends before the last of them.
  const checkpoints = (await readFile(`${log}.checkpoints`, "utf8")).split("\n").slice(0, -1);
  const keyId = before.split("+")[1] ?? "";
  const ofOld = checkpoints.filter((note) => {
    const [, base64 = ""] = /\u2014 \S+ (\S+)\n$/.exec(JSON.parse(note)) ?? [];
    return Buffer.from(base64, "base64").subarray(0, 4).toString("hex") === keyId;
  });
  expect(ofOld.length).toBeGreaterThan(0);
  const size = Math.max(...ofOld.map((note) => Number(JSON.parse(note).split("\n")[1])));
  await writeFile(`${log}.checkpoints`, `${ofOld.join("\n")}\n`);
  const lines = (await readFile(log, "utf8")).split("\n");
  await writeFile(log, `${lines.slice(0, size - 1).join("\n")}\n`);
  expect(await at.run(["audit", "verify"])).toMatchObject({
    code: EXIT_CODES.audit.code,
    stdout: expect.stringContaining("[end_missing]"),
  });
  expect(await at.run(["keys", "rotate"])).toMatchObject({
    code: EXIT_CODES.audit.code,
    stderr: expect.stringContaining("its end was cut off"),
  });
});
