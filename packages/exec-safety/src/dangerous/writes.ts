/**
 * Writes: the files that a program writes because its arguments say so.
 */
import { PATCH_PROGRAMS, patchedFiles } from "../safe/patch.js";
import {
  fieldOf,
  hasFlag,
  operandsOf,
  optionValue,
  spanOfFields,
  type Call,
  type Field,
} from "./call.js";

type Targets = (call: Call) => readonly (Field | undefined)[];

const last =
  (valued: string): Targets =>
  (call) => [
    optionValue(call, "t", "target-directory") ?? operandsOf(call, valued).slice(1).at(-1),
  ];

/** `cp x ~/.ssh/` writes `~/.ssh/x`. */
function intoFolder(call: Call, valued: string): readonly (Field | undefined)[] {
  const [target] = last(valued)(call);
  if (target === undefined) return [];
  const sources = operandsOf(call, valued).filter(
    (operand) => operand !== target && !/[*?]/.test(operand.text),
  );
  const folder = target.text.endsWith("/") ? target.text : `${target.text}/`;
  return [
    target,
    ...sources
      .slice(0, 8)
      .map(({ text }) => ({ ...target, text: folder + text.slice(text.lastIndexOf("/") + 1) })),
  ];
}

/** The name that `curl -O` or `wget` gives to what it fetches. */
function remoteNames(call: Call): readonly Field[] {
  return call.args.flatMap((field) => {
    const path =
      /^(?:https?|ftp):\/\/[^/]+\/([^?#]*)/.exec(field.text)?.[1] ??
      /^[\w.-]+\.[a-z]{2,}\/([^?#]*)/.exec(field.text)?.[1];
    const name = path?.slice(path.lastIndexOf("/") + 1) ?? "";
    return name === "" ? [] : [{ ...field, text: name }];
  });
}

const isExtracting = (call: Call): boolean =>
  (call.args[0]?.text ?? "").includes("x") || hasFlag(call, "x", ["extract", "get"]);

/** The file that tar makes: `tar cf x`, `tar -cf x`. */
function archiveOf(call: Call): Field | undefined {
  const [first] = call.args;
  const isMade =
    /^-?[a-zA-Z]*[cru]/.test(first?.text ?? "") ||
    hasFlag(call, "", ["create", "append", "update"]);
  if (!isMade) return undefined;
  return /^[a-zA-Z]*f$/.test(first?.text ?? "") ? call.args[1] : optionValue(call, "f", "file");
}

const WRITERS: ReadonlyMap<string, Targets> = new Map<string, Targets>([
  ["tee", (call) => operandsOf(call)],
  ["sponge", (call) => operandsOf(call)],
  ["cp", (call) => intoFolder(call, "tS")],
  ["mv", (call) => intoFolder(call, "tS")],
  ["install", (call) => intoFolder(call, "tSmgo")],
  ["ln", (call) => intoFolder(call, "tS")],
  ["rsync", last("efF")],
  [
    "dd",
    ({ args }) =>
      args
        .filter(({ text }) => text.startsWith("of="))
        .map((field) => ({ ...field, text: field.text.slice(3) })),
  ],
  ["truncate", (call) => operandsOf(call, "sr")],
  ["touch", () => []],
  [
    "sed",
    (call) =>
      call.args.some(({ text }) => /^-[nErsz]*i|^--in/.test(text))
        ? operandsOf(call, "ef").slice(hasFlag(call, "ef", ["expression", "file"]) ? 0 : 1)
        : [],
  ],
  [
    "perl",
    (call) =>
      call.args.some(({ text }) => /^-[a-zA-Z]*i/.test(text) && !text.startsWith("-M"))
        ? operandsOf(call, "e").slice(0, 8)
        : [],
  ],
  [
    "curl",
    (call) => [
      optionValue(call, "o", "output"),
      ...(hasFlag(call, "OJ", ["remote-name"]) ? remoteNames(call) : []),
    ],
  ],
  [
    "wget",
    (call) => [
      optionValue(call, "O", "output-document") ?? undefined,
      ...(hasFlag(call, "O", ["output-document"]) ? [] : remoteNames(call)),
    ],
  ],
  ["aria2c", (call) => [optionValue(call, "o", "out"), ...remoteNames(call)]],
  ["tar", (call) => [isExtracting(call) ? optionValue(call, "C", "directory") : archiveOf(call)]],
  ["unzip", (call) => [optionValue(call, "d")]],
  ["openssl", (call) => operandOf(call, "-out")],
  ["base64", (call) => [optionValue(call, "o", "output")]],
  ["sort", (call) => [optionValue(call, "o", "output")]],
  ["gpg", (call) => [optionValue(call, "o", "output")]],
  ["patch", (call) => operandsOf(call, "pio").slice(0, 1)],
  ...Array.from(PATCH_PROGRAMS, (name): [string, Targets] => [
    name,
    ({ args, input }) =>
      patchedFiles(args[0]?.text ?? input.text ?? "").map(({ path }) =>
        fieldOf(path, spanOfFields(args)),
      ),
  ]),
  ["ex", (call) => operandsOf(call, "c")],
  ["mkfifo", (call) => operandsOf(call, "m")],
  ["mknod", (call) => operandsOf(call, "m").slice(0, 1)],
  ["scp", last("iFPoScJl")],
]);

function operandOf({ args }: Call, option: string): readonly (Field | undefined)[] {
  const at = args.findIndex(({ text }) => text === option);
  return at < 0 ? [] : [args[at + 1]];
}

/** Fields that name files which a call writes. */
export function writtenBy(call: Call): readonly Field[] {
  return WRITERS.get(call.name)?.(call).filter((field) => field !== undefined) ?? [];
}
