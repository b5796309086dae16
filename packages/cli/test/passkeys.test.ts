/**
 * A yes signed with a passkey, from the question of a real gate to `acp proof verify` somewhere
 * else. The passkey is one in software; browsers and authenticators are tested where the inbox is.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  encodeRequest,
  makeResponse,
  type AnswerReceipt,
  type ConsentRequest,
  type JsonObject,
} from "@acp/core";
import { consentPayload, PAYLOAD_TYPE } from "@acp/core/proof";
import { filePasskeys } from "@acp/home";
import { createSoftwarePasskey, type SoftwarePasskey } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { acpHere } from "./acp-here.js";
import { scratch } from "./environment.js";
import { attachHome, firstQuestion } from "./http-world.js";
import { startGated } from "./mcp-client.js";

const ORIGIN = "http://localhost:8789";
const POLICY = `version: "1"
default_action: deny
rules:
  - match: { tool: "write_file" }
    action: ask
    approval: passkey
`;

/** The answer of a person on the approve socket, with the proof that their passkey makes. */
function signedYes(request: ConsentRequest, key: SoftwarePasskey): JsonObject {
  const response = makeResponse(request, {
    decision: "approved",
    nowMs: Date.now(),
    channel: "terminal",
    approverId: "local",
  });
  const { hash, requestHash } = consentPayload(response, encodeRequest(request));
  const challenge = Buffer.from(hash.slice("sha256:".length), "hex").toString("base64url");
  const assertion = key.assert({ challenge, rpId: "localhost" })["response"] as Readonly<
    Record<string, string>
  >;
  return {
    ...response,
    proof: {
      algorithm: "WebAuthn",
      payload_type: PAYLOAD_TYPE,
      credential_id: key.id,
      authenticator_data: assertion["authenticatorData"] ?? "",
      client_data_json: assertion["clientDataJSON"] ?? "",
      signature: assertion["signature"] ?? "",
      signed_payload_hash: hash,
      request_hash: requestHash,
    },
  };
}

/**
 * Hands in, for the first question, a yes without a passkey, one by another's passkey, and one by
 * this.
 */
async function answerWith(home: string, key: SoftwarePasskey): Promise<readonly AnswerReceipt[]> {
  await using gates = await attachHome(home);
  const { request } = await firstQuestion(gates);
  const plain = makeResponse(request, {
    decision: "approved",
    nowMs: Date.now(),
    channel: "terminal",
  });
  const receipts: AnswerReceipt[] = [];
  for (const claim of [
    plain,
    signedYes(request, createSoftwarePasskey(ORIGIN)),
    signedYes(request, key),
  ])
    receipts.push(await gates.answer(claim));
  return receipts;
}

describe("a rule that wants a passkey", () => {
  it("takes one, and what it signed is proven on another machine, also after it was revoked", async () => {
    await using at = await scratch();
    const [home, folder] = [join(at.path, "h"), join(at.path, "files")];
    await mkdir(folder);
    expect(await acpHere(["init"], { home })).toMatchObject({ code: 0 });
    await writeFile(join(home, "policy.yml"), POLICY, { mode: 0o600 });
    const key = createSoftwarePasskey(ORIGIN);
    const passkey = {
      id: key.id,
      publicKey: key.publicKey,
      approver: "local",
      rpId: "localhost",
      origins: [ORIGIN],
      label: "phone",
    };
    await filePasskeys(join(home, "passkeys.json")).add({ ...passkey, createdAtMs: Date.now() });
    const file = join(folder, "b.txt");
    {
      await using gated = await startGated({ home, folder });
      const call = gated.call("write_file", { path: file, content: "as signed" });
      const receipts = await answerWith(home, key);
      expect(receipts).toMatchObject([
        { status: "refused", code: "evidence_required" },
        { status: "refused", code: "evidence_invalid" },
        { status: "final", outcome: "approved" },
      ]);
      expect(await call).toMatchObject({ isError: false });
    }
    expect(await readFile(file, "utf8")).toBe("as signed");

    const [id = ""] = /cr_[\w-]+/.exec((await acpHere(["audit", "show"], { home })).stdout) ?? [];
    const [record, keys] = [join(at.path, "record.json"), join(at.path, "passkeys.json")];
    await writeFile(record, (await acpHere(["proof", "export", id], { home })).stdout);
    await writeFile(keys, (await acpHere(["passkeys", "export"], { home })).stdout);
    const elsewhere = { home: join(at.path, "none") };
    expect(await acpHere(["proof", "verify", record, "--passkeys", keys], elsewhere)).toMatchObject(
      {
        code: 0,
        stdout: expect.stringContaining(`proven: approved ${id}`) as unknown,
      },
    );
    await writeFile(keys, JSON.stringify({ version: "1", passkeys: [] }));
    expect(await acpHere(["proof", "verify", record, "--passkeys", keys], elsewhere)).toMatchObject(
      {
        code: 6,
      },
    );
    const publicKeys = join(at.path, "public.key");
    await writeFile(publicKeys, (await acpHere(["keys", "export"], { home })).stdout);
    expect(
      await acpHere(["proof", "verify", record, "--key", publicKeys], elsewhere),
    ).toMatchObject({
      code: 6,
    });

    expect(await acpHere(["passkeys", "revoke", key.id], { home })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("revoked") as unknown,
    });
    expect(await acpHere(["passkeys", "revoke", key.id], { home })).toMatchObject({ code: 5 });
    expect((await acpHere(["passkeys", "list"], { home })).stdout).toContain("revoked 20");
    expect((await acpHere(["audit", "show"], { home })).stdout).toContain(
      `The passkey ${key.id} of local was revoked`,
    );
    expect(await acpHere(["proof", "verify", record], { home })).toMatchObject({ code: 0 });
  });
});
