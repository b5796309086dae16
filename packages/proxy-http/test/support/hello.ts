/** Client hellos: of Node's own TLS, and of bytes put together to be wrong in one place. */
import { Duplex } from "node:stream";
import { connect } from "node:tls";

/** What Node's TLS client says first. */
export function realHello(servername: string | undefined): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        resolve(chunk);
        done();
      },
    });
    const tls = connect({ socket, ...(servername === undefined ? {} : { servername }) });
    tls.on("error", () => {});
  });
}

export function vector(lengthBytes: number, bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(bytes.length, 0, lengthBytes);
  return Buffer.concat([length, bytes]);
}

export const extension = (type: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([type >> 8, type & 255]), vector(2, bytes)]);
export const nameEntry = (name: string, type = 0): Buffer =>
  Buffer.concat([Buffer.from([type]), vector(2, Buffer.from(name, "latin1"))]);
export const serverName = (name: string): Buffer => extension(0, vector(2, nameEntry(name)));

/** A client hello message with these extensions, without its record. */
export function helloMessage(
  extensions: readonly Uint8Array[] | undefined,
  tail: Uint8Array = Buffer.alloc(0),
): Buffer {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(32, 1)),
    vector(2, Buffer.from([0x13, 1, 0x13, 2])),
    vector(1, Buffer.from([0])),
    extensions === undefined ? Buffer.alloc(0) : vector(2, Buffer.concat(extensions)),
    tail,
  ]);
  return Buffer.concat([Buffer.from([1]), vector(3, body)]);
}

/** A message in records of at most so many bytes. */
export function inRecords(message: Uint8Array, bytesMax = 16_384): Buffer {
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += bytesMax)
    records.push(
      Buffer.concat([Buffer.from([22, 3, 1]), vector(2, message.subarray(at, at + bytesMax))]),
    );
  return Buffer.concat(records);
}
