/**
 * Tool pins file: what each MCP server presented when it was first seen, or when a person accepted
 * it, for every gate of the home. A file that is older than the log notes is an error, and never an
 * empty one: with that, whatever changed would look new. Format: spec/tool-pins.md §4.
 */
import { createHash } from "node:crypto";
import { appendFile, chmod } from "node:fs/promises";
import { join } from "node:path";
import { parseJson, readFields } from "@acp/core";
import type { FieldReader, JsonObject, JsonValue } from "@acp/core";
import { writeFileAtomic } from "./atomic.js";
import { causeText, cannot } from "./errors.js";
import { createKeptReading } from "./kept-reading.js";
import type { HomePaths } from "./paths.js";
import { isMissing, makePrivateDirectory, readPrivateFile } from "./private-file.js";
import { openStateFile, type StateGuard } from "./state-file.js";

const VERSION = "1";
const FILE_BYTES_MAX: number = 16 * 1024 * 1024;
const TEXTS_BYTES_MAX: number = 64 * 1024 * 1024;
const TEXTS_KEPT_BYTES: number = 24 * 1024 * 1024;
/** Servers that a file of pins has at most. */
export const PINNED_SERVERS_MAX: number = 1_000;
const NAME_CHARS_MAX = 256;
const HASH = /^sha256:[0-9a-f]{64}$/;
const KINDS = ["tool", "prompt", "resource", "template", "instructions"] as const;

/** What was pinned of one definition, or of a server's instructions. */
export interface ToolPin {
  /** A definition of a list, or what the server says about itself in `initialize`. */
  readonly kind: "tool" | "prompt" | "resource" | "template" | "instructions";
  /**
   * A tool's or prompt's name, a resource's URI or a template (their pin where they have more than
   * 256 characters); empty for instructions.
   */
  readonly name: string;
  /** `sha256:<hex>` of its canonical JSON. */
  readonly pin: string;
  /** When it was pinned, in milliseconds since 1970. */
  readonly atMs: number;
  /** `first`: when it was first seen. `person`: a person accepted it. */
  readonly by: "first" | "person";
  /** What was presented last instead of it, and is held back. */
  readonly found?: string;
  /** What a person refused: it is held back, and not shown to them again. */
  readonly refused?: string;
}

/** What is pinned of one MCP server, by its identity. */
export interface ServerPins {
  /** Identity of the server, `sha256:<hex>`: spec/tool-pins.md §2. */
  readonly id: string;
  /** What the configuration called it last. */
  readonly server: string;
  /** One for each definition, and one for the instructions; at most 10,001, and 1,000 of resources. */
  readonly pins: readonly ToolPin[];
}

/** The pins of a home. */
export interface FileToolPins {
  /** All pins; kept while the file is untouched. @throws ConsentError `home_invalid`. */
  read(): Promise<readonly ServerPins[]>;
  /**
   * Changes them while the home is locked.
   *
   * @param make - Returns the servers as they are then, or `undefined` to change nothing.
   */
  change<R>(
    make: (servers: readonly ServerPins[]) => {
      readonly next?: readonly ServerPins[] | undefined;
      readonly answer: R;
    },
  ): Promise<R>;
  /**
   * Keeps texts of a server beside the file, so that a person can be shown what changed. Nothing is
   * decided by them: each counts only as what its hash says.
   *
   * @param kept - Pins whose texts must stay where room is made.
   */
  keepTexts(id: string, texts: readonly string[], kept: ReadonlySet<string>): Promise<void>;
  /** Texts of a server by their pins, `sha256:<hex>`. */
  texts(id: string): Promise<ReadonlyMap<string, string>>;
}

/** Options of {@link fileToolPins}. */
export interface FileToolPinsOptions {
  /** Judges whether the file is the newest one; unless given, by what this process has seen. */
  readonly guard?: StateGuard;
}

/** Returns the pins that are kept in a file of the home, which is created if it does not exist. */
export function fileToolPins(
  { toolPinsPath: path, toolTextsDir }: Pick<HomePaths, "toolPinsPath" | "toolTextsDir">,
  { guard }: FileToolPinsOptions = {},
): FileToolPins {
  const file = openStateFile<readonly ServerPins[]>({
    path,
    bytesMax: FILE_BYTES_MAX,
    guard,
    onIgnored(why) {
      throw cannot("use", path)(`${why}; run: acp doctor --fix pins_rolled_back`);
    },
    empty: [],
    parse(text) {
      try {
        return parseToolPins(text);
      } catch (error) {
        throw cannot("read", path)(`${causeText(error)}; run: acp doctor --fix pins_broken`);
      }
    },
    print(servers) {
      if (servers.length > PINNED_SERVERS_MAX)
        throw cannot(
          "pin another server in",
          path,
        )(
          `it has ${PINNED_SERVERS_MAX}; to pin all of them again, run: acp doctor --fix pins_broken`,
        );
      return printed(path, servers);
    },
  });
  const textsOf = (id: string): string => join(toolTextsDir, `${id.replace("sha256:", "")}.jsonl`);
  return {
    read: createKeptReading(path, () => file.read()),
    change: (make) =>
      file.change((servers) => {
        const { next, answer } = make(servers);
        return Promise.resolve(next === undefined ? { answer } : { answer, next });
      }),
    async keepTexts(id, texts, kept) {
      await makePrivateDirectory(toolTextsDir);
      const all = texts.map((text) => `\n${text}\n`).join("");
      const before = (await isMissing(textsOf(id))) ? "" : await readTexts(textsOf(id));
      if (before.length + all.length <= TEXTS_KEPT_BYTES) {
        // A line that a crash cut off ends at the break that the next one begins with.
        await appendFile(textsOf(id), all, { mode: 0o600 });
        return await chmod(textsOf(id), 0o600);
      }
      const stays = [...byHash(before)].flatMap(([pin, text]) => (kept.has(pin) ? [text] : []));
      const whole = `${[...stays, ...texts].join("\n")}\n`;
      // What would not be read again is not written: the pins hold without it.
      if (whole.length <= TEXTS_BYTES_MAX) await writeFileAtomic(textsOf(id), whole);
    },
    async texts(id) {
      return (await isMissing(textsOf(id))) ? new Map() : byHash(await readTexts(textsOf(id)));
    },
  };
}

/** What could not be read again is not written: one server must not end the others' pins. */
function printed(path: string, servers: readonly ServerPins[]): JsonObject {
  const body = {
    servers: servers.map(({ id, server, pins }) => ({
      id,
      server,
      pins: pins.map((pin) => ({ ...pin })),
    })),
  };
  try {
    parseToolPins(JSON.stringify({ version: VERSION, ...body }));
  } catch (error) {
    throw cannot("write", path)(causeText(error));
  }
  return body;
}

const readTexts = (path: string): Promise<string> => readPrivateFile(path, TEXTS_BYTES_MAX);

function byHash(lines: string): ReadonlyMap<string, string> {
  const texts = lines.split("\n").filter((line) => line !== "");
  return new Map(
    texts.map((text) => [`sha256:${createHash("sha256").update(text).digest("hex")}`, text]),
  );
}

/**
 * Parses the text of a tool pins file.
 *
 * @throws TypeError or ConsentError for a text that is none.
 */
export function parseToolPins(text: string): readonly ServerPins[] {
  const fields = readFields(parseJson(text, { bytesMax: FILE_BYTES_MAX }), "pins");
  fields.oneOf("version", [VERSION]);
  const servers = fields.objects("servers").map(readServer);
  for (const name of ["counter", "seal"]) fields.ignore(name);
  fields.done();
  if (servers.length > PINNED_SERVERS_MAX)
    throw new TypeError(`it has more than ${PINNED_SERVERS_MAX} servers`);
  if (new Set(servers.map(({ id }) => id)).size !== servers.length)
    throw new TypeError("it contains a server twice");
  return servers;
}

function readServer(fields: FieldReader): ServerPins {
  const server = {
    id: hashIn(fields.text("id")),
    server: fields.text("server", NAME_CHARS_MAX),
    pins: fields.raws("pins").map(readPin),
  };
  fields.done();
  if (new Set(server.pins.map(({ kind, name }) => `${kind} ${name}`)).size !== server.pins.length)
    throw new TypeError("it contains a pin twice");
  return server;
}

/** By hand: a server may have thousands, and a reader of fields takes longer than all else. */
function readPin(raw: JsonObject): ToolPin {
  const { kind: named, name, pin, atMs, by, found, refused, ...more } = raw;
  const kind = KINDS.find((each) => each === named);
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw new TypeError("a pin has a member that is not known");
  if (kind === undefined || (by !== "first" && by !== "person"))
    throw new TypeError("a pin is of nothing that is pinned, or by nobody");
  if (typeof name !== "string" || name.length > NAME_CHARS_MAX)
    throw new TypeError("the name of a pin is not one");
  if (typeof atMs !== "number" || !Number.isSafeInteger(atMs) || atMs < 0)
    throw new TypeError("the time of a pin is not one");
  return {
    kind,
    name,
    pin: hashIn(pin),
    atMs,
    by,
    ...(found === undefined ? {} : { found: hashIn(found) }),
    ...(refused === undefined ? {} : { refused: hashIn(refused) }),
  };
}

function hashIn(value: JsonValue | undefined): string {
  if (typeof value !== "string" || !HASH.test(value))
    throw new TypeError("a hash is not sha256 in hex");
  return value;
}
