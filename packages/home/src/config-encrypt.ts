/// <reference lib="es2024.string" />
/**
 * Config, encrypting: puts a secret into `config.yml` encrypted, or encrypts the one that stands
 * there. What else the file says, comments too, stays.
 */
import { lstat } from "node:fs/promises";
import { ConsentError, type JsonValue, POLICY_BYTES_MAX, isJsonObject, quoteText } from "@acp/core";
import type { KeyPair } from "@acp/core/proof";
import { isSealedField, sealField } from "@acp/core/vault";
import { readYaml, setYamlText, type Step, type Subject } from "@acp/core/yaml";
import { writeFileAtomic } from "./atomic.js";
import { secretFieldSteps } from "./config-secrets.js";
import { SECRET_CHARS_MAX } from "./config-values.js";
import { openConfigField } from "./encrypted-field.js";
import { cannot } from "./errors.js";
import { readPublicKeys } from "./keys.js";
import type { HomePaths } from "./paths.js";
import { readOwnFile } from "./text-file.js";
import { whileWriting } from "./writer-lock.js";

/** Content of a field that can hold a secret: nothing, plain text, or encrypted text. */
export type FieldState = "missing" | "plain" | "encrypted";

/** What {@link encryptConfigField} did. */
export type FieldChange =
  /** The value that was given stands there, encrypted. */
  | "set"
  /** The value that stood there is encrypted now. */
  | "sealed"
  /** It was encrypted already, and opens. */
  | "kept";

const SUBJECT: Subject = { name: "config", code: "config_invalid" };

/**
 * Reports whether a field of the home's `config.yml` holds a secret, and whether it is encrypted.
 *
 * @param field - A path such as `telegram.bot_token`; the fields are listed in spec/home.md §2.
 * @throws ConsentError `options_invalid` for any other field or a server that does not exist;
 * `config_invalid`; `home_invalid`.
 */
export async function readConfigField(home: HomePaths, field: string): Promise<FieldState> {
  const steps = secretFieldSteps(field);
  const found = findText(await readForChange(home), { field, steps });
  if (found === undefined) return "missing";
  return isSealedField(found) ? "encrypted" : "plain";
}

/**
 * Encrypts a field of the home's `config.yml`, in one step. The rest of the file does not change.
 *
 * @param value - The new value. Absent: the value in the file.
 * @throws What {@link readConfigField} throws; `options_invalid` if there is no value or the field
 * cannot hold it; `vault_invalid` if the value in the file does not open; `home_busy`. The file is
 * then unchanged.
 */
export async function encryptConfigField(
  home: HomePaths,
  keys: KeyPair,
  { field, value }: { readonly field: string; readonly value: string | undefined },
): Promise<FieldChange> {
  const steps = secretFieldSteps(field);
  return whileWriting(home.dir, async () => {
    await checkInUse(home, keys);
    const text = await readForChange(home);
    const found = findText(text, { field, steps });
    if (value === undefined && found !== undefined && isSealedField(found)) {
      openConfigField(found, field, keys);
      return "kept";
    }
    const sealed = sealField(checkValue(value ?? found, field), field, keys.exportSeed());
    await writeFileAtomic(
      home.configPath,
      setYamlText(text, steps, { value: sealed, subject: SUBJECT }),
    );
    return value === undefined ? "sealed" : "set";
  });
}

/** Sealed for a key that is out of use it would never open again. */
async function checkInUse(home: HomePaths, keys: KeyPair): Promise<void> {
  const [current] = await readPublicKeys(home);
  if (current?.publicKey !== keys.publicKey)
    throw cannot("change", home.configPath)("the keys were rotated meanwhile; try again");
}

/** A file that is linked to stays readable where it lies, the plain value with it. */
async function readForChange({ configPath }: HomePaths): Promise<string> {
  const found = await lstat(configPath).catch(() => undefined);
  if (found?.isSymbolicLink() === true)
    throw cannot("change", configPath)("it is a symbolic link; replace it with the file itself");
  return (await readOwnFile(configPath, POLICY_BYTES_MAX)).text;
}

/** A field that may hold a secret, and the way to it. */
interface SecretField {
  readonly field: string;
  readonly steps: readonly Step[];
}

/** The text in a field; an empty one counts as none. */
function findText(text: string, { field, steps }: SecretField): string | undefined {
  let at: JsonValue | undefined = readYaml(text, SUBJECT).value;
  for (const step of steps) {
    if (typeof step === "number") {
      const list: readonly JsonValue[] = Array.isArray(at) ? at : [];
      if (list[step] === undefined)
        throw new ConsentError(
          "options_invalid",
          `Cannot encrypt ${quoteText(field)}: the file has ${serversText(list.length)}, counted from 0`,
        );
      at = list[step];
    } else at = isJsonObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  }
  if (at === undefined || at === null || at === "") return undefined;
  if (typeof at === "string") return at;
  throw new ConsentError(
    "config_invalid",
    `Cannot encrypt ${quoteText(field)}: its value is not a string; put it in quotes`,
  );
}

function serversText(count: number): string {
  return `${count === 0 ? "no" : count} ${count === 1 ? "server" : "servers"}`;
}

function checkValue(value: string | undefined, field: string): string {
  const refuse = (why: string): ConsentError =>
    new ConsentError("options_invalid", `Cannot encrypt ${quoteText(field)}: ${why}`);
  if (value === undefined || value === "")
    throw refuse("there is no value; type it, or pass it on standard input");
  if (value.length > SECRET_CHARS_MAX)
    throw refuse(`the value has more than ${SECRET_CHARS_MAX} characters`);
  if (value.includes("\0")) throw refuse("the value has a NUL character");
  if (!value.isWellFormed()) throw refuse("the value has an unpaired surrogate");
  if (isSealedField(value)) throw refuse("the value is encrypted already; enter the secret itself");
  return value;
}
