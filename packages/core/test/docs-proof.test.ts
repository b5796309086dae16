/** docs/verify-a-consent.md: its program is run as it stands there, against the vectors. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../src/index.js";
import { changed } from "./proof-kit.js";

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const program = /```python\n([^]*?)```/.exec(read("docs/verify-a-consent.md"))?.[1] ?? "";
const { keys, records } = JSON.parse(read("spec/vectors/proofs.json")) as {
  readonly keys: Readonly<Record<"signer" | "other", { readonly public_key: string }>>;
  readonly records: Readonly<Record<string, { readonly request: JsonObject; readonly response: JsonObject }>>;
};

/** Whether both programs are here, and openssl signs raw messages (3.0 or later). */
function hasPrograms(): boolean {
  try {
    execFileSync("python3", ["-c", "import hashlib, json, decimal"]);
    return /^OpenSSL [3-9]/.test(execFileSync("openssl", ["version"], { encoding: "utf8" }));
  } catch {
    return false;
  }
}

const found = hasPrograms();

describe.runIf(found)(`docs/verify-a-consent.md${found ? "" : ", skipped: no python3 or openssl 3"}`, () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "verify-"));
    writeFileSync(join(folder, "verify_consent.py"), program);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (record: JsonObject, key: string = keys.signer.public_key) => {
    writeFileSync(join(folder, "record.json"), JSON.stringify(record));
    const { status, stdout } = spawnSync("python3", ["verify_consent.py", "record.json", key], { cwd: folder, encoding: "utf8" });
    return { status, failed: stdout.split("\n").filter((line) => line.startsWith("NO")) };
  };
  const recordOf = (name: string): JsonObject => {
    const { request, response } = records[name] ?? {};
    if (request === undefined || response === undefined) throw new Error(`no record "${name}"`);
    return { request, response };
  };

  it.each(["yes", "no", "edit", "grant", "awkward parameters"])("the program accepts the record: %s", (name) => {
    expect(run(recordOf(name))).toEqual({ status: 0, failed: [] });
  });

  it.each(["other key", "never valid", "before the question", "after the question", "not asked", "passkey wanted"])(
    "the program refuses the record: %s",
    (name) => {
      expect(run(recordOf(name))).toMatchObject({ status: 1 });
    },
  );

  it.each([
    ["request.action.server", "prod", "NO  the request is the one that was answered"],
    ["response.decision", "denied", "NO  the response is the one that was signed"],
    ["response.proof.signature", "01".repeat(64), "NO  the signature is the key's"],
  ])("the program refuses an edited %s and says why", (path, value, line) => {
    expect(run(changed(recordOf("yes"), path, value)).failed).toContain(line);
  });

  it("the program refuses another key", () => {
    expect(run(recordOf("yes"), keys.other.public_key)).toMatchObject({ status: 1 });
  });
});
