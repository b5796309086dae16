/**
 * Wrap: puts `acp mcp --` in front of the servers in a client's settings, and takes it away. Pure:
 * it makes texts of texts. What it does twice is the same as once, and what is put in front can be
 * taken away to the byte where the text from before is at hand.
 */
import { isConsentError } from "@acp/core";
import type { ClientId, ClientPlace, ServersAt } from "./known-clients.js";
import { editSettings, isSettings, readSettings } from "./settings-text.js";
import type { Edit, Settings } from "./settings-text.js";
import { acpWords, serverWords } from "./without-acp.js";

/**
 * What a server of a client is: `gated` behind the gate, `open` not, `acp` ACP itself, `served` the
 * address of `acp mcp serve`, `remote` reached by another one, which belongs into config.yml, or
 * `unknown`.
 */
export type ServerState = "gated" | "open" | "acp" | "served" | "remote" | "unknown";

/** A server in a client's settings. Plain JSON data. */
export interface ServerEntry {
  readonly client: ClientId;
  /** The file. */
  readonly path: string;
  /** Its name there. */
  readonly name: string;
  /** The keys that lead to it, its name last. */
  readonly at: readonly string[];
  readonly state: ServerState;
  /** The server's own command, without ACP; left out where there is none. */
  readonly command?: readonly string[];
  /** What starts the gate, where there is one in front: the words before `mcp`. */
  readonly front?: readonly string[];
}

/** What is put in front of servers. */
export interface Front {
  /** The program with the words of its own, such as `node …/acp.cjs`. */
  readonly program: readonly string[];
  /** Words after `mcp`, such as `--home DIR`. */
  readonly options: readonly string[];
}

/** A change of a file. Plain JSON data. */
export interface WrapChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** The servers that change. */
  readonly servers: readonly ServerEntry[];
  /** Whether the text is byte for byte as it was before ACP. */
  readonly isAsBefore: boolean;
}

interface Found extends ServerEntry {
  /** Where its program and the words after it stand. */
  readonly programAt: readonly string[];
  readonly argsAt: readonly string[];
  /** The whole command, as it stands; empty where there is none. */
  readonly words: readonly string[];
  /** Its address, as it stands. */
  readonly url?: string;
}

/**
 * The servers in a client's settings.
 *
 * @param isServed - Whether an address is that of `acp mcp serve`.
 * @throws ConsentError `options_invalid` where the settings cannot be read.
 */
export function serversIn(
  place: ClientPlace,
  text: string,
  isServed: (url: string) => boolean = () => false,
): readonly ServerEntry[] {
  return findServers(place, text).map((found) => {
    const { url } = found;
    const entry = entryOf(found);
    return url !== undefined && isServed(url) ? { ...entry, state: "served" } : entry;
  });
}

/**
 * Puts the gate in front of the open servers that are chosen; `undefined` where there is none.
 *
 * @throws ConsentError `options_invalid` where the settings cannot be read, or not be changed without
 *   changing more.
 */
export function planWrap(
  place: ClientPlace,
  text: string,
  { front, isChosen }: { readonly front: Front; isChosen(entry: ServerEntry): boolean },
): WrapChange | undefined {
  const chosen = findServers(place, text).filter(
    (entry) => entry.state === "open" && isChosen(entry),
  );
  if (chosen.length === 0) return undefined;
  const taken = new Set<string>();
  const edits = chosen.flatMap((found) =>
    editsOf(found, [...frontWords(found, front, taken), ...found.words]),
  );
  const after = editSettings(text, place.format, edits);
  return { path: place.path, before: text, after, servers: chosen.map(entryOf), isAsBefore: false };
}

/**
 * Takes the gate away from the servers that are chosen; `undefined` where it is in front of none.
 *
 * @param earlier - Texts of the file from before, the newest first: where wrapping one gives this
 *   very text, that one is what comes back.
 * @throws ConsentError as {@link planWrap}.
 */
export function planUnwrap(
  place: ClientPlace,
  text: string,
  {
    earlier,
    isChosen,
  }: { readonly earlier: readonly string[]; isChosen(entry: ServerEntry): boolean },
): WrapChange | undefined {
  const chosen = findServers(place, text).filter(
    (entry) => entry.state === "gated" && isChosen(entry),
  );
  if (chosen.length === 0) return undefined;
  const before = earlier.find((each) => isTextBefore(place, each, { text, chosen }));
  const edits = chosen.flatMap((found) => editsOf(found, found.command ?? []));
  return {
    path: place.path,
    before: text,
    after: before ?? editSettings(text, place.format, edits),
    servers: chosen.map(entryOf),
    isAsBefore: before !== undefined,
  };
}

/** Whether an earlier text becomes this one where the chosen servers get the words they have here. */
function isTextBefore(
  place: ClientPlace,
  earlier: string,
  { text, chosen }: { readonly text: string; readonly chosen: readonly Found[] },
): boolean {
  try {
    const there = findServers(place, earlier);
    const isOpen = chosen.every(({ at, command = [] }) =>
      there.some(
        (each) => each.state === "open" && isSame(each.at, at) && isSame(each.words, command),
      ),
    );
    const edits = chosen.flatMap((found) => editsOf(found, found.words));
    return isOpen && editSettings(earlier, place.format, edits) === text;
  } catch (error) {
    if (isConsentError(error)) return false;
    throw error;
  }
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((word, index) => word === other[index]);

function entryOf({
  programAt: _program,
  argsAt: _args,
  words: _words,
  url: _url,
  ...entry
}: Found): ServerEntry {
  return entry;
}

const editsOf = (
  { programAt, argsAt }: Found,
  [program = "", ...args]: readonly string[],
): readonly Edit[] => [
  { path: programAt, value: program },
  { path: argsAt, value: args },
];

function frontWords(
  { client, name }: Found,
  { program, options }: Front,
  taken: Set<string>,
): readonly string[] {
  const server = serverName(name, taken);
  return [...program, "mcp", "--agent", client, "--server", server, ...options, "--"];
}

/** What a server may be called in a policy, near to what the client calls it. */
function serverName(name: string, taken: Set<string>): string {
  const allowed = name
    .replaceAll(/[^A-Za-z0-9_-]+/gu, "-")
    .replaceAll(/_{2,}/gu, "_")
    .replaceAll(/^[_-]+|[_-]+$/gu, "")
    .slice(0, 56)
    .replaceAll(/[_-]+$/gu, "");
  const plain = allowed === "" ? "server" : allowed;
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? plain : `${plain}-${number}`;
    if (taken.has(candidate)) continue;
    taken.add(candidate);
    return candidate;
  }
}

function findServers(
  { client, path, format, servers }: ClientPlace,
  text: string,
): readonly Found[] {
  const settings = readSettings(text, format);
  return servers.flatMap((at) =>
    tablesAt(settings, at).flatMap(([keys, table]) =>
      Object.entries(table).flatMap(([name, entry]) =>
        isSettings(entry) ? [{ client, path, name, ...readEntry(entry, [...keys, name]) }] : [],
      ),
    ),
  );
}

/** The tables of servers, with the keys that lead to each. */
function tablesAt(
  settings: Settings,
  [key, ...rest]: ServersAt,
  above: readonly string[] = [],
): readonly (readonly [readonly string[], Settings])[] {
  if (key === undefined) return [[above, settings]];
  const names = key === "*" ? Object.keys(settings) : [key];
  return names.flatMap((name) => {
    const own = Object.hasOwn(settings, name) ? settings[name] : undefined;
    return isSettings(own) ? tablesAt(own, rest, [...above, name]) : [];
  });
}

const ADDRESSES = ["url", "httpUrl", "serverUrl"];

/** Zed has also had `command` as an object, with `path` and `args` in it. */
function readEntry(
  entry: Settings,
  at: readonly string[],
): Pick<Found, "at" | "state" | "command" | "url" | "front" | "programAt" | "argsAt" | "words"> {
  const { command } = entry;
  const isNested = isSettings(command);
  const [holder, key] = isNested ? [command, "path"] : [entry, "command"];
  const place = isNested ? [...at, "command"] : at;
  const places = { at, programAt: [...place, key], argsAt: [...place, "args"] };
  const { [key]: program, args = [] } = holder;
  const isList = Array.isArray(args) && args.every((word) => typeof word === "string");
  if (typeof program !== "string" || program === "" || !isList) {
    const address = program === undefined ? ADDRESSES.find((name) => name in entry) : undefined;
    if (address === undefined) return { ...places, words: [], state: "unknown" };
    const { [address]: url } = entry;
    return { ...places, words: [], state: "remote", ...(typeof url === "string" && { url }) };
  }
  const words: readonly string[] = [program, ...args.map(String)];
  const own = acpWords(words);
  if (own === undefined) return { ...places, words, state: "open", command: words };
  const behind = serverWords(own);
  return behind.length === 0
    ? { ...places, words, state: "acp" }
    : {
        ...places,
        words,
        state: "gated",
        command: behind,
        front: words.slice(0, words.length - own.length),
      };
}
