/**
 * Client hello: the server name in the first TLS message of a connection, however its bytes arrive
 * and however many records it is cut into. Reads only; what it does not understand is no name.
 * Source: RFC 8446 §4.1.2 and §5.1, RFC 6066 §3.
 */

/** What the first bytes of a connection are. */
export type Hello =
  /** TLS, with the server name where it has one. */
  | { readonly kind: "tls"; readonly serverName: string | undefined }
  /** Another protocol. */
  | { readonly kind: "other" }
  /** TLS that cannot be read: why. */
  | { readonly kind: "malformed"; readonly why: string };

/** Takes the bytes as they come. */
export interface HelloReader {
  /** What it is, or `undefined` while more bytes are needed. */
  push(chunk: Uint8Array): Hello | undefined;
  /** Every byte so far. */
  taken(): Buffer;
}

const HANDSHAKE_RECORD = 0x16;
const CLIENT_HELLO = 1;
const RECORD_HEAD_BYTES = 5;
const RECORD_BYTES_MAX: number = 16 * 1024;
const MESSAGE_HEAD_BYTES = 4;
const SERVER_NAME_EXTENSION = 0;
const HOST_NAME = 0;
const RANDOM_BYTES = 32;
const SESSION_ID_BYTES_MAX = 32;
/**
 * A server name is ASCII without controls and blanks; what kind of host it is, the comparison with
 * the approved host says.
 */
const NAME = /^[\x21-\x7e]+$/;

class MalformedError extends Error {}

/** Reads fields in their order; never beyond the end. */
interface Fields {
  take(bytes: number): Buffer;
  number(bytes: number): number;
  /** A field with its length before it. */
  vector(lengthBytes: number): Buffer;
  isEmpty(): boolean;
}

function fieldsOf(bytes: Buffer): Fields {
  let at = 0;
  const take = (count: number): Buffer => {
    if (at + count > bytes.length) throw new MalformedError("a field ends after its message");
    at += count;
    return bytes.subarray(at - count, at);
  };
  const number = (count: number): number => take(count).readUIntBE(0, count);
  return {
    take,
    number,
    vector: (lengthBytes) => take(number(lengthBytes)),
    isEmpty: () => at === bytes.length,
  };
}

function nameIn(extension: Buffer): string {
  const outer = fieldsOf(extension);
  const list = fieldsOf(outer.vector(2));
  const type = list.number(1);
  const name = list.vector(2).toString("latin1");
  if (!outer.isEmpty() || !list.isEmpty() || type !== HOST_NAME)
    throw new MalformedError("its server name is not one host name");
  if (!NAME.test(name)) throw new MalformedError("its server name is not a host name");
  return name;
}

function serverNameOf(message: Buffer): string | undefined {
  const fields = fieldsOf(message);
  fields.take(2 + RANDOM_BYTES);
  if (fields.vector(1).length > SESSION_ID_BYTES_MAX)
    throw new MalformedError("its session id is too long");
  fields.vector(2);
  fields.vector(1);
  if (fields.isEmpty()) return undefined;
  const extensions = fieldsOf(fields.vector(2));
  if (!fields.isEmpty()) throw new MalformedError("something follows its extensions");
  let found: string | undefined;
  while (!extensions.isEmpty()) {
    const type = extensions.number(2);
    const extension = extensions.vector(2);
    if (type !== SERVER_NAME_EXTENSION) continue;
    if (found !== undefined) throw new MalformedError("it has two server names");
    found = nameIn(extension);
  }
  return found;
}

/** The hello, or how many bytes are needed before it is worth to look again. */
function read(bytes: Buffer, bytesMax: number): Hello | number {
  const payloads: Buffer[] = [];
  let have = 0;
  let want = MESSAGE_HEAD_BYTES;
  let at = 0;
  while (have < want) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE_RECORD) {
      if (at === 0) return { kind: "other" };
      throw new MalformedError("another record stands inside the client hello");
    }
    if (bytes.length < at + RECORD_HEAD_BYTES) return at + RECORD_HEAD_BYTES;
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at + 1] !== 3) throw new MalformedError("its record has an unknown version");
    if (length === 0 || length > RECORD_BYTES_MAX)
      throw new MalformedError("its record is empty or too long");
    const end = at + RECORD_HEAD_BYTES + length;
    if (end > bytesMax)
      throw new MalformedError(`its client hello has more than ${bytesMax} bytes`);
    if (bytes.length < end) return end;
    payloads.push(bytes.subarray(at + RECORD_HEAD_BYTES, end));
    have += length;
    at = end;
    if (want === MESSAGE_HEAD_BYTES && have >= want) {
      const head = Buffer.concat(payloads);
      if (head[0] !== CLIENT_HELLO)
        throw new MalformedError("its first message is not a client hello");
      want += head.readUIntBE(1, 3);
    }
  }
  return {
    kind: "tls",
    serverName: serverNameOf(Buffer.concat(payloads).subarray(MESSAGE_HEAD_BYTES, want)),
  };
}

/**
 * Makes a reader for one connection.
 *
 * @param bytesMax - What needs more bytes than that is malformed.
 */
export function createHelloReader(bytesMax: number): HelloReader {
  const chunks: Uint8Array[] = [];
  let total = 0;
  let needed = 1;
  const look = (): Hello | undefined => {
    if (total < needed) return undefined;
    const result = read(Buffer.concat(chunks), bytesMax);
    if (typeof result !== "number") return result;
    needed = result;
    return undefined;
  };
  return {
    push(chunk) {
      chunks.push(chunk);
      total += chunk.byteLength;
      try {
        return look();
      } catch (error) {
        if (!(error instanceof MalformedError)) throw error;
        return { kind: "malformed", why: error.message };
      }
    },
    taken: () => Buffer.concat(chunks),
  };
}
