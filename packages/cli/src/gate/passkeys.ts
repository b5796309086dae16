/**
 * Passkeys of the command line: the verifiers that stand on them. The code that reads WebAuthn is
 * loaded when there is a proof to judge.
 */
import { resolve } from "node:path";
import type { EvidenceVerifier } from "@acp/core";
import { parsePasskeys } from "@acp/home";
import type { Home, PasskeyRecord } from "@acp/home";
import type { Invocation } from "../command.js";
import { onFile } from "../failure.js";
import { homeOf } from "../home/home-source.js";
import { readInput } from "../input.js";
import { guardedPasskeys } from "../logs/logged-passkeys.js";
import { createRollbackGuard } from "../rollback/state-guard.js";

const FILE_BYTES_MAX: number = 4 * 1024 * 1024;

/** A verifier of passkey proofs by these passkeys, read for each proof. */
export function passkeyVerifier(list: () => Promise<readonly PasskeyRecord[]>): EvidenceVerifier {
  return {
    algorithm: "WebAuthn",
    // oxlint-disable-next-line max-params -- the port's call, with its optional last one
    async verify(response, request, keys, use) {
      const { createPasskeyVerifier } = await import("@acp/channel-web");
      return createPasskeyVerifier({ passkeys: list }).verify(response, request, keys, use);
    },
  };
}

async function homePasskeys(home: Home): Promise<readonly PasskeyRecord[]> {
  return guardedPasskeys(home, createRollbackGuard(home)).list();
}

/**
 * The passkeys that a record is held against: those of `--passkeys`, else the home's; with `--key`
 * alone it takes no home.
 */
export async function readTrustedPasskeys(
  invocation: Pick<Invocation, "values" | "io">,
): Promise<readonly PasskeyRecord[]> {
  const { values, io } = invocation;
  if (values.passkeys === undefined)
    return values.key === undefined ? homePasskeys(await homeOf(invocation)) : [];
  const text = await readInput(values.passkeys, io, {
    what: "file of passkeys",
    bytesMax: FILE_BYTES_MAX,
  });
  return onFile(resolve(io.cwd, values.passkeys), () => parsePasskeys(text));
}
