/**
 * The keys that a verifier trusts: named on the command line, or the home's.
 */
import { resolve } from "node:path";
import { importPublicKey } from "@acp/core/proof";
import type { TrustedKey } from "@acp/core/proof";
import { parsePublicKeys, readPublicKeys, trustedKeysOf } from "@acp/home";
import type { Invocation } from "../command.js";
import { onFile } from "../failure.js";
import { homeOf } from "./home-source.js";
import { readInput } from "../input.js";

const HEX = /^[0-9a-fA-F]{64}$/;
const FILE_BYTES_MAX: number = 1024 * 1024;

/**
 * Reads `--key`, a key or a file with one (or with what `acp keys export` writes); without it the
 * home's keys.
 *
 * @throws ConsentError `key_rejected`, `options_invalid` or `home_invalid`.
 */
export async function readTrustedKeys({
  values,
  io,
}: Pick<Invocation, "values" | "io">): Promise<readonly TrustedKey[]> {
  const { key } = values;
  if (key === undefined) return trustedKeysOf(await readPublicKeys(await homeOf({ values, io })));
  if (HEX.test(key)) return [{ key: importPublicKey(key) }];
  const text = await readInput(key, io, { what: "public key", bytesMax: FILE_BYTES_MAX });
  return onFile(resolve(io.cwd, key), () =>
    HEX.test(text.trim())
      ? [{ key: importPublicKey(text.trim()) }]
      : trustedKeysOf(parsePublicKeys(text)),
  );
}
