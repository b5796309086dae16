/**
 * Seccomp assembler: turns labelled instructions into the bytes of a classic BPF program, in this
 * machine's byte order (little-endian). Pure; knows nothing of system calls. Conditional jumps
 * reach 255 instructions in BPF: those that must go further are spelled with two long ones.
 */
import { ConsentError } from "@acp/core";

/**
 * What a jump asks of the loaded value: the same, at least as large (unsigned), or any of these
 * bits.
 */
export type BpfTest = "equal" | "atLeast" | "anyBit";

/** One line of a program. A jump without `no` goes on with the next line. */
export type BpfLine =
  | { readonly kind: "label"; readonly name: string }
  | { readonly kind: "load"; readonly offset: number }
  | { readonly kind: "mask"; readonly bits: number }
  | {
      readonly kind: "jump";
      readonly test: BpfTest;
      readonly value: number;
      readonly yes: string;
      readonly no?: string;
    }
  | { readonly kind: "goto"; readonly to: string }
  | { readonly kind: "return"; readonly value: number };

/** `BPF_MAXINSNS` of the kernel: a longer program is refused there. */
const INSTRUCTIONS_MAX = 4096;
const BYTES_PER_INSTRUCTION = 8;
const SHORT_JUMP_MAX = 255;

const LOAD_WORD = 0x20;
const MASK = 0x54;
const RETURN = 0x06;
const JUMP_ALWAYS = 0x05;
const JUMP: Readonly<Record<BpfTest, number>> = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 };

interface Placed {
  readonly at: ReadonlyMap<string, number>;
  /** Index of the first instruction of each line. */
  readonly starts: readonly number[];
  readonly total: number;
}

type Jump = Extract<BpfLine, { kind: "jump" }>;

/**
 * Assembles a program.
 *
 * @throws ConsentError `options_invalid` for a label that is missing, given twice or behind its
 *   jump, and for a program that is too long.
 */
export function assembleBpf(lines: readonly BpfLine[]): Uint8Array {
  const long = new Set<number>();
  let placed = place(lines, long);
  // Making one jump long may push another out of reach; the set only grows, so this ends.
  for (let size = -1; size !== long.size; placed = place(lines, long)) {
    size = long.size;
    for (const index of tooFar(lines, placed)) long.add(index);
  }
  if (placed.total > INSTRUCTIONS_MAX) {
    throw new ConsentError(
      "options_invalid",
      `Cannot assemble a filter: ${placed.total} instructions are more than ${INSTRUCTIONS_MAX}`,
    );
  }
  const bytes = new Uint8Array(placed.total * BYTES_PER_INSTRUCTION);
  const view = new DataView(bytes.buffer);
  lines.forEach((line, index) => {
    const start = placed.starts[index] ?? 0;
    encode(line, { placed, start, isLong: long.has(index) }).forEach(
      ([code, yes, no, value], offset) => {
        const byte = (start + offset) * BYTES_PER_INSTRUCTION;
        view.setUint16(byte, code, true);
        view.setUint8(byte + 2, yes);
        view.setUint8(byte + 3, no);
        view.setUint32(byte + 4, value, true);
      },
    );
  });
  return bytes;
}

function place(lines: readonly BpfLine[], long: ReadonlySet<number>): Placed {
  const at = new Map<string, number>();
  let total = 0;
  const starts = lines.map((line, index) => {
    const start = total;
    if (line.kind === "label") {
      if (at.has(line.name))
        throw new ConsentError(
          "options_invalid",
          `Cannot assemble label "${line.name}": it is given twice`,
        );
      at.set(line.name, start);
    } else total += long.has(index) ? 3 : 1;
    return start;
  });
  return { at, starts, total };
}

/** Instructions to skip from `from` to a label: BPF jumps only forward. */
function distance(name: string, from: number, at: ReadonlyMap<string, number>): number {
  const target = at.get(name);
  if (target === undefined)
    throw new ConsentError(
      "options_invalid",
      `Cannot assemble a jump to "${name}": there is no such label`,
    );
  if (target <= from)
    throw new ConsentError(
      "options_invalid",
      `Cannot assemble a jump to "${name}": the label is behind it`,
    );
  return target - from - 1;
}

function shortDistances(
  { yes, no }: Jump,
  start: number,
  at: ReadonlyMap<string, number>,
): readonly [number, number] {
  return [distance(yes, start, at), no === undefined ? 0 : distance(no, start, at)];
}

function tooFar(lines: readonly BpfLine[], { at, starts }: Placed): readonly number[] {
  return lines.flatMap((line, index) => {
    if (line.kind !== "jump") return [];
    return shortDistances(line, starts[index] ?? 0, at).some((skip) => skip > SHORT_JUMP_MAX)
      ? [index]
      : [];
  });
}

type Encoded = readonly [code: number, yes: number, no: number, value: number];

function encode(
  line: BpfLine,
  { placed, start, isLong }: { placed: Placed; start: number; isLong: boolean },
): readonly Encoded[] {
  switch (line.kind) {
    case "label":
      return [];
    case "load":
      return [[LOAD_WORD, 0, 0, line.offset]];
    case "mask":
      return [[MASK, 0, 0, line.bits >>> 0]];
    case "return":
      return [[RETURN, 0, 0, line.value >>> 0]];
    case "goto":
      return [[JUMP_ALWAYS, 0, 0, distance(line.to, start, placed.at)]];
    case "jump": {
      const code = JUMP[line.test];
      const value = line.value >>> 0;
      if (!isLong) return [[code, ...shortDistances(line, start, placed.at), value]];
      return [
        [code, 0, 1, value],
        [JUMP_ALWAYS, 0, 0, distance(line.yes, start + 1, placed.at)],
        [JUMP_ALWAYS, 0, 0, line.no === undefined ? 0 : distance(line.no, start + 2, placed.at)],
      ];
    }
    default:
      return line satisfies never;
  }
}
