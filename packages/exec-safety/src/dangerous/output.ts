/**
 * Output: what a program prints, as far as it is known before it runs. Only programs whose whole
 * work is to print or to decode are followed.
 */
import { hasFlag, operandsOf, verbsOf, type Call, type Field } from "./call.js";
import { decodeBase64, decodeEscapes, decodeHex } from "./decode.js";
import { hasUnknown, TEXT_CHARS_MAX, UNKNOWN, worse, type Feed, type Source } from "./feed.js";
import { foundBy } from "./rules/delete.js";
import { isSecretFile } from "./secret-file.js";
import { resolvePath } from "./site.js";

type Print = (call: Call) => Feed;

const set = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** Programs that print what another machine sends. */
const FETCHERS = set(
  "curl wget http https xh fetch aria2c lynx links w3m elinks nc ncat netcat socat telnet ftp lftp tftp dig nslookup host ssh httpie lwp-request get",
);
/** Programs that always decode. */
const DECODERS = set(
  "rev gunzip zcat gzcat bunzip2 bzcat unxz xzcat lzcat unlzma zstdcat unzstd uncompress uudecode unlz4 lz4cat funzip base58 atob",
);
/** Programs that decode with an option. */
const DECODING: ReadonlyMap<string, (call: Call) => boolean> = new Map([
  ...["base64", "gbase64", "base32", "basenc"].map(
    (name) => [name, (call: Call) => hasFlag(call, "dD", ["decode"])] as const,
  ),
  ["xxd", (call) => hasFlag(call, "r", ["revert"])],
  [
    "openssl",
    (call) =>
      hasFlag(call, "", []) ||
      call.args.some(({ text }) => text === "-d" || text === "-decrypt") ||
      verbsOf(call)[0] === "zlib",
  ],
  ...["gzip", "bzip2", "xz", "zstd", "lz4", "lzma", "pigz", "brotli", "compress"].map(
    (name) => [name, (call: Call) => hasFlag(call, "d", ["decompress", "uncompress"])] as const,
  ),
  ["unzip", (call) => hasFlag(call, "pc")],
  ["gpg", (call) => hasFlag(call, "d", ["decrypt"])],
  ["gpg2", (call) => hasFlag(call, "d", ["decrypt"])],
  ["age", (call) => hasFlag(call, "d", ["decrypt"])],
  ["ccrypt", (call) => hasFlag(call, "dc", ["decrypt"])],
  ["tr", isShift],
  ["uuencode", () => false],
]);
/** Programs that pass their input or their files on. */
const PASSING = set(
  "cat tac head tail tee nl less more bat sort uniq sed awk grep fold fmt dd pv sponge stdbuf paste column cut",
);

/**
 * `tr a-z n-za-m`: letters for other letters; not upper and lower case; what deletes letters has
 * one operand.
 */
function isShift(call: Call): boolean {
  const [from = "", to = ""] = operandsOf(call).map(({ text }) => text);
  return (
    /[a-z]/i.test(from) &&
    /[a-z]/i.test(to) &&
    !from.includes("[:") &&
    from.toLowerCase() !== to.toLowerCase()
  );
}

/** What a call prints. */
export function outputOf(call: Call): Feed {
  const printed = PRINTING.get(call.name)?.(call);
  if (printed !== undefined) return printed;
  const isSecret = call.input.isSecret === true || readsSecret(call);
  if (FETCHERS.has(call.name)) return { source: "remote", isSecret };
  if (DECODERS.has(call.name) || DECODING.get(call.name)?.(call) === true)
    return { ...decode(call), isSecret };
  if (PASSING.has(call.name)) return pass(call, isSecret);
  return { source: worse(call.input.source, "program"), isSecret };
}

const NEWLINE = "\n";
const joined = (fields: readonly Field[]): string => fields.map(({ text }) => text).join(" ");
const isSecretAmong = (fields: readonly Field[]): boolean =>
  fields.some(({ isSecret }) => isSecret);
const leadOf = (fields: readonly Field[]): Source =>
  fields.reduce<Source>((lead, field) => (lead === "none" ? field.lead : lead), "none");
const textFeed = (text: string, fields: readonly Field[] = []): Feed => ({
  source: worse("text", leadOf(fields)),
  isSecret: isSecretAmong(fields),
  ...(text.length > TEXT_CHARS_MAX ? {} : { text }),
});

/** What `dirname` prints. */
function folderOf(path: string): string {
  if (hasUnknown(path)) return UNKNOWN;
  const cut = path.replace(/\/+$/, "");
  const slash = cut.lastIndexOf("/");
  if (slash > 0) return cut.slice(0, slash);
  return slash < 0 && (cut !== "" || path === "") ? "." : "/";
}

/** Programs whose output can be told. */
const PRINTING: ReadonlyMap<string, Print> = new Map<string, Print>([
  ["echo", printEcho],
  ["printf", printFormatted],
  ["find", (call) => textFeed(foundBy(call).join(NEWLINE))],
  ["ls", (call) => (operandsOf(call).length === 0 ? textFeed("*") : { source: "program" })],
  [
    "realpath",
    (call) => textFeed(resolvePath(operandsOf(call)[0]?.text ?? "", call.site) ?? UNKNOWN),
  ],
  [
    "readlink",
    (call) =>
      textFeed(
        hasFlag(call, "fem", ["canonicalize"])
          ? (resolvePath(operandsOf(call)[0]?.text ?? "", call.site) ?? UNKNOWN)
          : UNKNOWN,
      ),
  ],
  ["dirname", (call) => textFeed(folderOf(operandsOf(call)[0]?.text ?? ""))],
  [
    "command",
    (call) =>
      hasFlag(call, "vV")
        ? textFeed(
            operandsOf(call)
              .map(({ text }) => `/usr/bin/${text}`)
              .join(NEWLINE),
          )
        : { source: "program" },
  ],
  ["pwd", ({ site }) => textFeed(site.directory ?? UNKNOWN)],
  [
    "which",
    (call) =>
      textFeed(
        operandsOf(call)
          .map(({ text }) => `/usr/bin/${text}`)
          .join(NEWLINE),
      ),
  ],
  [
    "git",
    (call) =>
      call.args.some(({ text }) => text === "--show-toplevel")
        ? textFeed(call.site.project)
        : { source: "program" },
  ],
  ["env", printEnvironment],
  ["printenv", printEnvironment],
  ["export", printEnvironment],
  ["set", printEnvironment],
  ["true", () => textFeed("")],
  [":", () => textFeed("")],
  ["cd", () => textFeed("")],
]);

function printEnvironment(call: Call): Feed {
  return {
    source: "program",
    isSecret:
      operandsOf(call).length === 0 ||
      operandsOf(call).some(({ text }) => /TOKEN|SECRET|PASS|KEY/.test(text)),
  };
}

function printEcho({ args }: Call): Feed {
  let start = 0;
  let isEscaped = false;
  while (/^-[neE]+$/.test(args[start]?.text ?? "")) {
    isEscaped ||= args[start]?.text.includes("e") === true;
    start += 1;
  }
  const fields = args.slice(start);
  const text = joined(fields);
  return textFeed((isEscaped ? decodeEscapes(text) : text) + NEWLINE, fields);
}

function printFormatted({ args }: Call): Feed {
  const [format, ...values] = args[0]?.text === "--" ? args.slice(1) : args;
  if (format === undefined || format.text === "-v") return textFeed("");
  let next = 0;
  const rounds = Math.min(
    64,
    Math.max(1, Math.ceil(values.length / Math.max(1, format.text.split("%").length - 1))),
  );
  let text = "";
  for (let round = 0; round < rounds && text.length <= TEXT_CHARS_MAX; round += 1) {
    text += decodeEscapes(format.text).replace(
      /%(%|[-+ #0]*\d*(?:\.\d+)?([a-zA-Z]))/g,
      (_, body: string, kind?: string) => {
        if (body === "%") return "%";
        const value = values[next]?.text ?? "";
        next += 1;
        return kind === "b" ? decodeEscapes(value) : value;
      },
    );
    if (values.length === 0) break;
  }
  return textFeed(text, args);
}

/** Operands that are looked at for credentials. */
const OPERANDS_MAX = 64;

function readsSecret(call: Call): boolean {
  const operands = operandsOf(call).slice(0, OPERANDS_MAX);
  return operands.some(({ text, isSecret }) => {
    if (isSecret) return true;
    const path = resolvePath(text, call.site);
    return path !== undefined && text.length > 1 && isSecretFile(path);
  });
}

function decode(call: Call): Feed {
  const { text } = call.input;
  const hasFile = operandsOf(call).length > 0 && call.name !== "tr" && call.name !== "openssl";
  const source = call.input.source === "remote" ? "remote" : "decoded";
  if (text === undefined || hasFile || hasUnknown(text)) return { source };
  const decoded = textOf(call.name, text);
  return decoded === undefined ? { source } : { source, text: decoded };
}

function textOf(name: string, text: string): string | undefined {
  if (name === "rev")
    return text
      .split(NEWLINE)
      .map((line) => [...line].toReversed().join(""))
      .join(NEWLINE);
  if (name === "base64" || name === "gbase64") return decodeBase64(text);
  return name === "xxd" ? decodeHex(text) : undefined;
}

function pass(call: Call, isSecret: boolean): Feed {
  const operands = operandsOf(call);
  const isFilter =
    call.name !== "cat" && call.name !== "tac" && call.name !== "tee" && call.name !== "bat";
  const isFromInput = isFilter
    ? call.input.source !== "none"
    : operands.length === 0 || operands.some(({ text }) => text === "-") || call.name === "tee";
  if (
    isFromInput &&
    (call.name === "cat" || call.name === "tee") &&
    call.args.every(({ text }) => !text.startsWith("-") || text === "-" || text === "-a")
  ) {
    return { ...call.input, isSecret, isPiped: false };
  }
  const stream = operands.find((operand) => operand.stream !== undefined)?.stream;
  if (stream !== undefined) return { ...stream, isSecret };
  return isFromInput ? { source: call.input.source, isSecret } : { source: "file", isSecret };
}
