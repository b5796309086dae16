/**
 * The program of docs/how-to/verify-a-consent.md and verifyConsentRecord() have one meaning: out of
 * all that one change makes of good records, both take the same, whether the change breaks the
 * signature or the holder of the key signs what it made.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inLane, isDeep } from "../../../tools/deep.js";
import { canonicalJson, type JsonObject, type JsonValue, sha256Digest } from "../src/index.js";
import { sha256Hex } from "../src/crypto/node.js";
import { verifyConsentRecord } from "../src/proof.js";
import { hasPrograms, writePrograms } from "./docs-programs.js";
import { pair, question, signed, trusted } from "./proof-kit.js";

interface Mutant {
  readonly name: string;
  readonly text: string;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A proof over whatever stands there, in the form or not, as the holder of the key could make it;
 * the response as it is where nothing can be signed.
 */
async function signedAnew(request: JsonObject, response: JsonObject): Promise<JsonObject> {
  const { action } = request;
  const { approver, conditions, proof, modifications = null } = response;
  if (!isObject(action) || !isObject(approver) || !isObject(conditions) || !isObject(proof))
    return response;
  const all: Record<string, JsonValue | undefined> = {
    action_hash: sha256Digest(action["parameters"] ?? null),
    approver_id: approver["id"],
    channel: approver["channel"],
    modifications_hash: modifications === null ? null : sha256Digest(modifications),
    request_hash: sha256Digest(request),
    valid_until: conditions["valid_until"],
  };
  for (const key of [
    "decision",
    "nonce",
    "request_id",
    "timestamp",
    "reason",
    "grant",
    "confirmation",
  ])
    all[key] = response[key];
  const payload = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as JsonObject;
  const type = proof["payload_type"];
  const bytes = new TextEncoder().encode(
    (typeof type === "string" ? `${type}\n` : "") + canonicalJson(payload),
  );
  return {
    ...response,
    proof: {
      ...proof,
      signature: Buffer.from(await pair.sign(bytes)).toString("hex"),
      signed_payload_hash: `sha256:${sha256Hex(bytes)}`,
      request_hash: sha256Digest(request),
    },
  };
}

/** The paths of all members and items of a value. */
function pathsOf(value: JsonValue, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

/** A copy with the value at a path replaced; `undefined` takes it out. */
function replaced(
  value: JsonValue,
  [key, ...rest]: readonly string[],
  change: (old: JsonValue) => JsonValue | undefined,
): JsonValue | undefined {
  if (key === undefined) return change(value);
  if (Array.isArray(value))
    return value.flatMap((item, at) =>
      String(at) === key ? (replaced(item, rest, change) ?? []) : [item],
    ) as JsonValue;
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([name, inner]): [string, JsonValue][] => {
    if (name !== key) return [[name, inner]];
    const next = replaced(inner, rest, change);
    return next === undefined ? [] : [[name, next]];
  });
  return Object.fromEntries(entries);
}

/** What becomes of one value. */
const CHANGES: Readonly<Record<string, (old: JsonValue) => JsonValue | undefined>> = {
  "taken out": () => undefined,
  null: () => null,
  "an empty text": () => "",
  "a text": () => "x",
  "a number": () => 7,
  "half of one": () => 0.5,
  true: () => true,
  "a list": () => [],
  "an object": () => ({}),
  "as text": (old) => JSON.stringify(old),
  "in capitals": (old) => (typeof old === "string" ? old.toUpperCase() : old),
  "with a blank": (old) => (typeof old === "string" ? `${old} ` : old),
  "without fractions": (old) => (typeof old === "string" ? old.replace(/\.\d+Z$/, "Z") : old),
  "an hour further east": (old) => (typeof old === "string" ? old.replace(/Z$/, "+01:00") : old),
  "a day that its month lacks": (old) =>
    typeof old === "string" ? old.replace(/^2026-01-15/, "2026-02-30") : old,
  twice: (old) => (Array.isArray(old) ? [...old, ...old] : old),
  "with an unknown key": (old) => (isObject(old) ? { ...old, extra: 1 } : old),
  "too long": (old) => (typeof old === "string" ? old.padEnd(4_097, "x") : old),
};

const TEXT_CHANGES: Readonly<Record<string, (text: string) => string>> = {
  "a key twice": (text) => text.replace('"decision":', '"decision":"denied","decision":'),
  "a byte order mark": (text) => `\ufeff${text}`,
  "more behind it": (text) => `${text}{}`,
  "a comma too many": (text) => text.replace(/\}$/, ",}"),
  NaN: (text) => text.replace('"quorum":1', '"quorum":NaN'),
  "a whole number with a fraction of nothing": (text) => text.replace('"quorum":1', '"quorum":1.0'),
  "an exponent": (text) => text.replace('"quorum":1', '"quorum":1e0'),
  "a number too large for a double": (text) => text.replace('"quorum":1', '"quorum":1e999'),
  "a number that no double holds": (text) =>
    text.replace('"parameters":{', '"parameters":{"n":9007199254740993,'),
  "half a surrogate pair": (text) => text.replace('"reason":"', '"reason":"\\ud800'),
  "an escape that is none": (text) => text.replace('"reason":"', '"reason":"\\x41'),
  "a control character": (text) => text.replace('"reason":"', '"reason":"\u0001'),
  "another spelling of the same text": (text) => text.replace('"decision"', '"\\u0064ecision"'),
  blanks: (text) => text.replaceAll(":", " : "),
};

async function* mutantsOf(name: string, record: JsonObject): AsyncGenerator<Mutant> {
  const whole = JSON.stringify(record);
  yield { name, text: whole };
  for (const [what, change] of Object.entries(TEXT_CHANGES))
    if (change(whole) !== whole) yield { name: `${name}: ${what}`, text: change(whole) };
  for (const path of pathsOf(record))
    for (const [what, change] of Object.entries(CHANGES)) {
      const mutant = replaced(record, path, change);
      if (mutant === undefined || JSON.stringify(mutant) === whole) continue;
      const place = `${name}: ${path.join(".")} ${what}`;
      yield { name: place, text: JSON.stringify(mutant) };
      if (!isObject(mutant) || path[1] === "proof") continue;
      const { request, response } = mutant;
      if (isObject(request) && isObject(response))
        yield {
          name: `${place}, signed anew`,
          text: JSON.stringify({ ...mutant, response: await signedAnew(request, response) }),
        };
    }
}

/** Records with every part of the form. */
async function goodRecords(): Promise<Readonly<Record<string, JsonObject>>> {
  const offers = [
    { id: "o1", scope: { kind: "action", digest: "sha256:00" }, ttlMs: 1_000 },
    {
      id: "o2",
      scope: { kind: "arguments", server: "files", name: "write_file", args: { path: "/a/*" } },
      ttlMs: 1_000,
      uses: 2,
    },
    {
      id: "o3",
      scope: {
        kind: "host",
        host: "example.com",
        port: 443,
        methods: ["GET", "HEAD"],
        twin: "www.example.com",
      },
      ttlMs: 1_000,
    },
  ] as const;
  const rich = await signed(
    { reason: "fine", grantId: "o1" },
    {
      offers,
      approvers: ["alice", "bob"],
      escalation: [{ afterMs: 1_000, approvers: ["bob"] }],
      agent: { id: "demo", name: "demo", command: "", parents: ["root"] },
    },
  );
  const edit = await signed({
    decision: "approved_with_modifications",
    modifications: { path: "b.txt" },
  });
  const no = await signed({ decision: "denied", reason: "no" });
  const two = question({ quorum: 2 });
  const [alice, bob] = [
    await signed({ approverId: "alice" }, two),
    await signed({ approverId: "bob" }, two),
  ];
  const spelled = await signed({ approverId: "\u00a0ALI\u200bce" }, two);
  return {
    yes: { ...(await signed()) },
    rich: { ...rich },
    edit: { ...edit },
    no: { ...no },
    "two of two": { request: alice.request, responses: [alice.response, bob.response] },
    "two answers of one": { request: alice.request, responses: [alice.response, alice.response] },
    "one person in two spellings": {
      request: alice.request,
      responses: [alice.response, spelled.response],
    },
    "one of two": { request: alice.request, response: alice.response },
  };
}

const DRIVER = `import contextlib, io, json, sys
from verify_consent import PROOF, ed25519_checks, main
for line in open(sys.argv[1], encoding="utf-8"):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            main(json.loads(line).encode("utf-8", "surrogatepass"), PROOF, ed25519_checks(sys.argv[2]))
        print("ok")
    except SystemExit as end:
        print(end.code)
`;

const found = hasPrograms();

describe.runIf(found)(
  `docs/how-to/verify-a-consent.md and verifyConsentRecord()${found ? "" : ", skipped: no python3 or openssl 3"}`,
  () => {
    let folder = "";
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "verify-"));
      writePrograms(folder);
      writeFileSync(join(folder, "driver.py"), DRIVER);
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it("take the same records", async () => {
      const all: Mutant[] = [];
      for (const [name, record] of Object.entries(await goodRecords()))
        for await (const mutant of mutantsOf(name, record)) all.push(mutant);
      // Both kinds of record and every kind of change are in every tenth, too.
      const mutants = all.filter((_, at) => isDeep || at % 10 === 0);
      writeFileSync(
        join(folder, "mutants.jsonl"),
        mutants.map(({ text }) => JSON.stringify(text)).join("\n"),
      );
      const { stdout, stderr } = spawnSync(
        "python3",
        ["driver.py", "mutants.jsonl", trusted.key.hex],
        { cwd: folder, encoding: "utf8" },
      );
      expect(stderr).toBe("");
      const theirs = stdout.trimEnd().split("\n");
      const differences: string[] = [];
      let taken = 0;
      for (const [at, { name, text }] of mutants.entries()) {
        const ours = await verifyConsentRecord(text, { trustedKeys: [trusted] });
        if (ours.ok) taken += 1;
        if (ours.ok !== (theirs[at] === "ok"))
          differences.push(
            `${name}: we say ${ours.ok ? "ok" : ours.code}, they say ${theirs[at] ?? "nothing"}`,
          );
      }
      expect(differences).toEqual([]);
      expect(theirs).toHaveLength(mutants.length);
      // Both kinds are there in numbers.
      expect(mutants.length).toBeGreaterThan(inLane(1_000));
      expect(taken).toBeGreaterThan(inLane(50));
    });
  },
);
