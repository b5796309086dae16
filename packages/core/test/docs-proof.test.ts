/**
 * docs/how-to/verify-a-consent.md: its programs are run as they stand there, against the vectors.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { someInLane } from "../../../tools/deep.js";
import type { JsonObject } from "../src/index.js";
import { hasPrograms, readRepository as read, writePrograms } from "./docs-programs.js";
import { changed } from "./proof-kit.js";

const { keys, records } = JSON.parse(read("spec/vectors/proofs.json")) as {
  readonly keys: Readonly<Record<"signer" | "other", { readonly public_key: string }>>;
  readonly records: Readonly<
    Record<string, { readonly request: JsonObject; readonly response: JsonObject }>
  >;
};
interface PasskeyProofs {
  readonly passkeys: JsonObject;
  readonly cases: readonly {
    readonly name: string;
    readonly record: JsonObject;
    readonly expect: string;
  }[];
}
const passkeyProofs = JSON.parse(read("spec/vectors/passkey-proofs.json")) as PasskeyProofs;
const older = {
  records: (JSON.parse(read("spec/vectors/proofs-v1.json")) as { readonly records: typeof records })
    .records,
  passkeys: JSON.parse(read("spec/vectors/passkey-proofs-v1.json")) as PasskeyProofs,
};

const found = hasPrograms();

describe.runIf(found)(
  `docs/how-to/verify-a-consent.md${found ? "" : ", skipped: no python3 or openssl 3"}`,
  () => {
    let folder = "";
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "verify-"));
      writePrograms(folder);
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    const start = (program: string, record: JsonObject, trusted: string) => {
      writeFileSync(join(folder, "record.json"), JSON.stringify(record));
      const { status, stdout, stderr } = spawnSync("python3", [program, "record.json", trusted], {
        cwd: folder,
        encoding: "utf8",
      });
      return {
        status,
        failed: stdout.split("\n").filter((line) => line.startsWith("NO")),
        stderr: stderr.trim(),
      };
    };
    const run = (record: JsonObject, key: string = keys.signer.public_key) =>
      start("verify_consent.py", record, key);
    const recordOf = (name: string): JsonObject => {
      const { request, response } = records[name] ?? {};
      if (request === undefined || response === undefined) throw new Error(`no record "${name}"`);
      return { request, response };
    };

    it.each(["yes", "no", "edit", "grant", "awkward parameters"])(
      "the program accepts the record: %s",
      (name) => {
        expect(run(recordOf(name))).toEqual({ status: 0, failed: [], stderr: "" });
      },
    );

    it("the programs accept proofs made before the payload had a type", () => {
      const { request = {}, response = {} } = older.records["yes"] ?? {};
      expect(run({ request, response })).toEqual({ status: 0, failed: [], stderr: "" });
      writeFileSync(join(folder, "passkeys.json"), JSON.stringify(older.passkeys.passkeys));
      for (const { record } of older.passkeys.cases
        .filter((each) => each.expect === "ok")
        .slice(0, 3))
        expect(start("verify_passkey.py", record, "passkeys.json")).toEqual({
          status: 0,
          failed: [],
          stderr: "",
        });
    });

    it.each([
      "other key",
      "never valid",
      "before the question",
      "after the question",
      "not asked",
      "passkey wanted",
    ])("the program refuses the record: %s", (name) => {
      expect(run(recordOf(name))).toMatchObject({ status: 1 });
    });

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

    it.each(someInLane(passkeyProofs.cases))(
      "the program for passkeys says $expect: $name",
      ({ record, expect: want }) => {
        writeFileSync(join(folder, "passkeys.json"), JSON.stringify(passkeyProofs.passkeys));
        const { status, failed, stderr } = start("verify_passkey.py", record, "passkeys.json");
        if (want === "ok")
          expect({ status, failed, stderr }).toEqual({ status: 0, failed: [], stderr: "" });
        // Refused in so many words: a program that breaks off proves nothing either, and is none to
        // copy.
        else
          expect({ status, stderr }).toEqual({
            status: 1,
            stderr: expect.stringMatching(/^refused/) as unknown,
          });
      },
    );

    it("the program for passkeys takes the origins of the passkey's inbox, and no other", () => {
      const origins = [
        ["https://inbox.example.com", true],
        ["https://x.inbox.example.com", false],
        ["http://x7f2.k3v9.localhost:8789", true],
        ["http://x7f2.k3v9.localhost", true],
        ["http://k3v9.localhost:8789", false],
        ["http://a.b.k3v9.localhost:8789", false],
        ["https://x7f2.k3v9.localhost:8789", false],
        ["http://x7f2.other.localhost:8789", false],
        ["http://*.k3v9.localhost", false],
      ] as const;
      const passkey = {
        rpId: "k3v9.localhost",
        origins: ["https://inbox.example.com", "http://*.k3v9.localhost"],
      };
      const code =
        "import json, sys; from verify_passkey import is_inbox; print(json.dumps([is_inbox(*each) for each in json.loads(sys.argv[1])]))";
      const asked = JSON.stringify(origins.map(([origin]) => [origin, passkey]));
      const { stdout } = spawnSync("python3", ["-c", code, asked], {
        cwd: folder,
        encoding: "utf8",
      });
      const taken = origins.map(([origin], at) => [origin, JSON.parse(stdout)[at]]);
      expect(taken).toEqual(origins);
    });

    const refused = [
      ["user verification added afterwards", "NO  the signature is the passkey's"],
      ["no user verification", "NO  the person was there, and was verified"],
      ["another origin", "NO  it was made on the inbox's page"],
      ["another RP ID", "NO  the passkey is for this domain"],
      ["a page within another page", "NO  no other page was around it"],
      ["the assertion of another answer", "NO  its challenge is this very answer"],
      ["a passkey that was revoked before", "NO  the passkey existed then, and was not revoked"],
      ["a passkey that did not exist yet", "NO  the passkey existed then, and was not revoked"],
      ["a registration, not an assertion", "NO  it is an assertion"],
    ] as const;
    it.each(someInLane(refused, 2))(
      "the program for passkeys refuses %s and says why",
      (name, line) => {
        const { record } = passkeyProofs.cases.find((each) => each.name === name) ?? { record: {} };
        writeFileSync(join(folder, "passkeys.json"), JSON.stringify(passkeyProofs.passkeys));
        expect(start("verify_passkey.py", record, "passkeys.json").failed).toEqual([line]);
      },
    );
  },
);
