/**
 * Passkeys file: the public halves of people's passkeys, for every gate and inbox of the home. It
 * is read again for each lookup, so a revoked passkey signs nothing more. A revoked passkey stays
 * in the file, because what it signed before is evidence. Format: spec/home.md §8.
 */
import { ConsentError, type FieldReader, parseJson, readFields } from "@acp/core";
import { causeText, cannot } from "./errors.js";
import { openStateFile, type StateChange, type StateGuard } from "./state-file.js";

const VERSION = "1";
const FILE_BYTES_MAX: number = 4 * 1024 * 1024;
/** Passkeys of all people, revoked ones included. */
const PASSKEYS_MAX = 1_000;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/**
 * One passkey, in the form of an inbox's `Passkey` (`@acp/channel-web`). Format: spec/home.md §8.
 */
export interface PasskeyRecord {
  /** Credential ID, base64url. */
  readonly id: string;
  /** ID of the approver who owns it. */
  readonly approver: string;
  /** Public key as COSE_Key, base64url. */
  readonly publicKey: string;
  /** Relying party ID: the host name that the passkey was created for. */
  readonly rpId: string;
  /**
   * Origins at which it may sign: exact, or `http://*.<rpId>` for each name right below the RP ID.
   */
  readonly origins: readonly string[];
  /** Name by which its owner recognizes it. */
  readonly label: string;
  /** When it was created, in milliseconds since 1970. */
  readonly createdAtMs: number;
  /** When it was revoked, in milliseconds since 1970. Absent: it is active. */
  readonly revokedAtMs?: number;
}

/** Passkeys in a file, usable as an inbox's `PasskeyStore`. */
export interface FilePasskeys {
  /** Returns all passkeys, revoked ones included. */
  list(): Promise<readonly PasskeyRecord[]>;
  /** Adds a passkey. Returns false if one with this ID exists. Rejects at 1,000 passkeys. */
  add(passkey: PasskeyRecord): Promise<boolean>;
  /** Revokes a passkey. Returns false if the approver has no active passkey with this ID. */
  revoke(id: string, approver: string, atMs: number): Promise<boolean>;
}

/** Options of {@link filePasskeys}. */
export interface FilePasskeysOptions {
  /** Judges whether the file is the newest one; unless given, by what this process has seen. */
  readonly guard?: StateGuard;
  /** Called with the reason whenever the file is read and does not count: it has no passkeys then. */
  readonly onOlder?: (why: string) => void;
}

/**
 * Returns passkeys that are kept in a file of the home, which is created if it does not exist.
 *
 * @returns Passkeys whose methods reject with `home_invalid` or `home_busy` if the outcome is not
 * certain. A rejection proves nothing.
 */
export function filePasskeys(
  path: string,
  { guard, onOlder }: FilePasskeysOptions = {},
): FilePasskeys {
  const file = openStateFile<readonly PasskeyRecord[]>({
    path,
    bytesMax: FILE_BYTES_MAX,
    guard,
    onIgnored: onOlder,
    empty: [],
    parse(text) {
      try {
        return parsePasskeys(text);
      } catch (error) {
        throw cannot("read", path)(causeText(error));
      }
    },
    print: (passkeys) => ({
      passkeys: passkeys.map((passkey) => ({ ...passkey, origins: [...passkey.origins] })),
    }),
  });
  const changed =
    (make: (list: readonly PasskeyRecord[]) => readonly PasskeyRecord[] | undefined) =>
    (list: readonly PasskeyRecord[]): Promise<StateChange<readonly PasskeyRecord[], boolean>> => {
      const next = make(list);
      return Promise.resolve(next === undefined ? { answer: false } : { answer: true, next });
    };
  return {
    list: () => file.read(),
    add: (passkey) =>
      file.change(
        changed((list) => {
          if (list.length >= PASSKEYS_MAX)
            throw cannot("change", path)(`it holds ${PASSKEYS_MAX} passkeys already`);
          return list.some(({ id }) => id === passkey.id) ? undefined : [...list, passkey];
        }),
      ),
    revoke: (id, approver, atMs) =>
      file.revoke(
        changed((list) => {
          const isMeant = (each: PasskeyRecord): boolean =>
            each.id === id && each.approver === approver && each.revokedAtMs === undefined;
          return list.some(isMeant)
            ? list.map((each) => (isMeant(each) ? { ...each, revokedAtMs: atMs } : each))
            : undefined;
        }),
      ),
  };
}

/**
 * Returns the text of a passkeys file, as `acp passkeys export` prints it. It contains no secret.
 */
export function printPasskeys(passkeys: readonly PasskeyRecord[]): string {
  return `${JSON.stringify({ version: VERSION, passkeys }, undefined, 2)}\n`;
}

/**
 * Parses what {@link printPasskeys} returns. An unknown field is an error, so that no restriction
 * of a passkey is skipped.
 *
 * @throws ConsentError `home_invalid`.
 */
export function parsePasskeys(text: string): readonly PasskeyRecord[] {
  try {
    const fields = readFields(parseJson(text, { bytesMax: FILE_BYTES_MAX }), "passkeys");
    fields.oneOf("version", [VERSION]);
    const list = fields.objects("passkeys").map(readPasskey);
    // What a file of a home says of itself; spec/home.md §11.
    for (const name of ["counter", "seal"]) fields.ignore(name);
    fields.done();
    if (new Set(list.map(({ id }) => id)).size !== list.length)
      throw new TypeError("it contains an ID twice");
    return list;
  } catch (error) {
    throw new ConsentError("home_invalid", `Cannot read passkeys: ${causeText(error)}`, {
      cause: error,
    });
  }
}

function readPasskey(fields: FieldReader): PasskeyRecord {
  const revokedAtMs = fields.optionalInteger("revokedAtMs", 0, Number.MAX_SAFE_INTEGER);
  const passkey: PasskeyRecord = {
    id: fields.text("id", 2_000),
    approver: fields.text("approver", 200),
    publicKey: fields.text("publicKey", 4_000),
    rpId: fields.text("rpId", 300),
    origins: fields.texts("origins"),
    label: fields.text("label", 200),
    createdAtMs: fields.integer("createdAtMs", 0, Number.MAX_SAFE_INTEGER),
    ...(revokedAtMs === undefined ? {} : { revokedAtMs }),
  };
  fields.done();
  if (!BASE64URL.test(passkey.id) || !BASE64URL.test(passkey.publicKey))
    throw new TypeError("an id or a key is not base64url");
  return passkey;
}
