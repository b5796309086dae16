/**
 * Runs the instructions of classic BPF that the kernel lets a seccomp filter have; throws for every
 * other one, and for a program that does not end.
 */

/** What the kernel shows a filter of one system call: `struct seccomp_data`. */
export interface Call {
  readonly number: number;
  readonly arch: number;
  /** Up to six 64-bit arguments; those left out are 0. */
  readonly args: readonly bigint[];
}

const SIZE = 64;

function seccompData({ number, arch, args }: Call): DataView {
  const view = new DataView(new ArrayBuffer(SIZE));
  view.setUint32(0, number >>> 0, true);
  view.setUint32(4, arch >>> 0, true);
  args.forEach((value, index) => {
    view.setBigUint64(16 + 8 * index, BigInt.asUintN(64, value), true);
  });
  return view;
}

/** The value that the program returns for a call. */
export function runBpf(program: Uint8Array, call: Call): number {
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength);
  const packet = seccompData(call);
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const operation = code.getUint16(at, true);
    const value = code.getUint32(at + 4, true);
    const skip = (holds: boolean): number => 8 * code.getUint8(at + (holds ? 2 : 3));
    switch (operation) {
      case 0x20: // load a word; the kernel wants it aligned
        if (value % 4 !== 0) throw new Error(`Cannot load at ${value}`);
        accumulator = packet.getUint32(value, true);
        break;
      case 0x54: // and
        accumulator = (accumulator & value) >>> 0;
        break;
      case 0x05: // jump
        at += 8 * value;
        break;
      case 0x15: // jump if equal
        at += skip(accumulator === value);
        break;
      case 0x35: // jump if at least
        at += skip(accumulator >= value);
        break;
      case 0x45: // jump if any bit
        at += skip((accumulator & value) !== 0);
        break;
      case 0x06:
        return value;
      default:
        throw new Error(`Cannot run instruction 0x${operation.toString(16)} at ${at / 8}`);
    }
  }
  throw new Error("Cannot run the program: it ends without a return");
}
