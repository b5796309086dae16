/**
 * `acp mcp wrap`, `unwrap` and `status`: puts the gate in front of the MCP servers that a client
 * starts, takes it away, and says which have it. A project's settings are only changed where the
 * project is named.
 */
import { existsSync } from "node:fs";
import { readFile, unlink } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { asError, ConsentError, escapeText, nearest } from "@acp/core";
import { askYes } from "../ask-yes.js";
import { changeClientFile, earlierTexts } from "../clients/change-client-file.js";
import { CLIENT_IDS, placesOfProject, placesOfUser } from "../clients/known-clients.js";
import type { ClientId, ClientPlace } from "../clients/known-clients.js";
import { planUnwrap, planWrap, serversIn } from "../clients/wrap.js";
import type { Front, ServerEntry, ServerState, WrapChange } from "../clients/wrap.js";
import type { Invocation, Run } from "../command.js";
import { homePath } from "../home/home-source.js";
import { ownAddressTest } from "../mcp-http/own-address.js";
import { OWN_PROGRAM } from "../own-program.js";
import { signInStates, signInText } from "../servers/oauth/sign-in-states.js";
import type { SignedIn } from "../servers/oauth/sign-in-states.js";

/** Settings are some kilobytes; the largest hold the history of a client, too. */
const FILE_BYTES_MAX: number = 64 * 1024 * 1024;

/** A file of a client that is there. */
interface Settings {
  readonly place: ClientPlace;
  readonly text: string;
  readonly servers: readonly ServerEntry[];
}

interface Looked {
  readonly settings: readonly Settings[];
  /** What is there and cannot be read. */
  readonly unread: readonly { readonly path: string; readonly why: string }[];
}

/** Runs `acp mcp status`. */
export const mcpStatus: Run = async (invocation) => {
  const { print } = invocation;
  const { settings, unread } = await lookAt(invocation);
  const remote = await signInStates(invocation);
  print.result({ servers: settings.flatMap((each) => each.servers), unread, remote }, () => [
    ...settings.flatMap(({ place, servers: all }) => [
      `${place.client}  ${escapeText(place.path)}${place.isProjects ? "  (of the project)" : ""}`,
      ...(all.length === 0
        ? ["  no MCP servers"]
        : all.map((each) => statusLine(invocation, each))),
    ]),
    ...unread.map(unreadLine),
    ...remote.map((each) => signInLine(invocation, each)),
    ...(settings.length === 0 && unread.length === 0
      ? ["No settings of a known client are here"]
      : []),
  ]);
  const isKnown = remote.every(({ state }) => state !== "unknown");
  return unread.length === 0 && isKnown ? "ok" : "failed";
};

function signInLine({ print }: Invocation, each: SignedIn): string {
  const isGood = each.state === "signed_in" || each.state === "header";
  return `${escapeText(each.server)}  ${escapeText(each.url)}  ${print.tone(isGood ? "green" : "yellow", signInText(each))}`;
}

const STATES: Readonly<Record<ServerState, string>> = {
  gated: "behind the gate",
  open: "NOT behind the gate: acp mcp wrap",
  acp: "ACP itself",
  served: "the address of acp mcp serve",
  remote: "NOT behind the gate: it has an address; name it in config.yml (url)",
  unknown: "NOT behind the gate: it has no command that ACP can read",
};

function statusLine({ print }: Invocation, entry: ServerEntry): string {
  const { name, state, command = [], front } = entry;
  const other = front === undefined ? undefined : otherFront(front);
  const isSafe =
    (state === "gated" && other?.isGone !== true) || state === "acp" || state === "served";
  const words = command.length === 0 ? "" : `  ${escapeText(command.join(" "))}`;
  const text = `${STATES[state]}${other === undefined ? "" : escapeText(other.text)}`;
  return `  ${escapeText(name)}  ${print.tone(isSafe ? "green" : "red", text)}${words}`;
}

/** Where another ACP than this one is in front; people know whether that is theirs. */
function otherFront(
  front: readonly string[],
): { readonly text: string; readonly isGone: boolean } | undefined {
  if (front.join("\0") === OWN_FRONT.join("\0")) return undefined;
  const isGone = front.some((word) => isAbsolute(word) && !existsSync(word));
  return { text: ` of ${front.join(" ")}${isGone ? ", which is gone" : ""}`, isGone };
}

const OWN_FRONT: readonly string[] = [process.execPath, OWN_PROGRAM];

/** Runs `acp mcp wrap`. */
export const mcpWrap: Run = async (invocation) => {
  const front = frontOf(invocation);
  return change(invocation, {
    verb: "wrap",
    plan: async ({ place, text }, isChosen) => planWrap(place, text, { front, isChosen }),
    says: "goes behind the gate:",
    none: "Nothing to change: no server with a command is without the gate",
  });
};

/** Runs `acp mcp unwrap`. */
export const mcpUnwrap: Run = (invocation) =>
  change(invocation, {
    verb: "unwrap",
    async plan({ place, text }, isChosen) {
      const earlier = (await earlierTexts(place.path, "before-acp-wrap")).map((each) => each.text);
      return planUnwrap(place, text, { earlier, isChosen });
    },
    says: "starts without the gate:",
    none: "Nothing to change: no server is behind the gate",
  });

interface Kind {
  readonly verb: "wrap" | "unwrap";
  plan(
    settings: Settings,
    isChosen: (entry: ServerEntry) => boolean,
  ): Promise<WrapChange | undefined>;
  readonly says: string;
  readonly none: string;
}

async function change(invocation: Invocation, kind: Kind): Promise<"ok" | "failed"> {
  const { flags, print } = invocation;
  const { settings, unread } = await lookAt(invocation);
  const isChosen = chosenBy(invocation, settings);
  const changes: WrapChange[] = [];
  const failed = unread.map(unreadLine);
  for (const each of settings)
    try {
      const planned = await kind.plan(each, isChosen);
      if (planned !== undefined) changes.push(planned);
    } catch (error) {
      failed.push(`${each.place.path}: ${asError(error).message}`);
    }
  const described = changes.flatMap(({ path, servers }) => [
    escapeText(path),
    ...servers.map(
      ({ name, command = [] }) =>
        `  ${escapeText(name)} ${kind.says} ${escapeText(command.join(" "))}`,
    ),
  ]);
  const isDry = flags.has("dry-run");
  if (changes.length > 0 && !isDry && !(await isAgreed(invocation, described))) return "failed";
  const changed = isDry ? [] : await makeChanges(changes, kind, failed);
  const remote = kind.verb === "wrap" ? leftOpen(settings, isChosen) : [];
  const servers = changes.flatMap((each) => each.servers);
  print.result({ servers, changed, failed, remote, dry_run: isDry }, () => [
    ...(flags.has("yes") || isDry ? described : []),
    ...(changes.length === 0 ? [kind.none] : []),
    ...changed.map(({ path, kept }) =>
      kept === null
        ? `changed ${escapeText(path)}; it is as it was before acp mcp wrap`
        : `changed ${escapeText(path)}; as it was: ${escapeText(kept)}`,
    ),
    ...remote.map(
      ({ client, name, state }) =>
        `${client} ${escapeText(name)}: ${print.tone("red", STATES[state])}`,
    ),
    ...failed.map((text) => `${print.tone("red", "not changed")} ${escapeText(text)}`),
    ...(changed.length > 0 ? ["Restart the clients to use what changed"] : []),
  ]);
  return failed.length === 0 ? "ok" : "failed";
}

async function isAgreed(
  { io, flags, print }: Invocation,
  lines: readonly string[],
): Promise<boolean> {
  if (flags.has("yes")) return true;
  if (!io.stdin.isTTY)
    throw new ConsentError(
      "options_invalid",
      "Cannot ask you before files are changed: standard input is not a terminal; add --yes to agree, or --dry-run to look",
    );
  for (const line of lines) io.stderr.write(`${line}\n`);
  if (await askYes(io, "Change these files?")) return true;
  print.notice("Nothing was changed");
  return false;
}

interface Changed {
  readonly path: string;
  /** Where the text from before is; `null` where the file is as an earlier copy, which is gone. */
  readonly kept: string | null;
}

async function makeChanges(
  changes: readonly WrapChange[],
  { verb }: Kind,
  failed: string[],
): Promise<readonly Changed[]> {
  const changed: Changed[] = [];
  for (const each of changes)
    try {
      const copies = each.isAsBefore ? await earlierTexts(each.path, "before-acp-wrap") : [];
      const kept = await changeClientFile(each, `before-acp-${verb}`);
      changed.push({ path: each.path, kept: each.isAsBefore ? null : kept });
      if (!each.isAsBefore) continue;
      // Both copies say what the file says, or what acp mcp wrap makes of it.
      const spent = copies.filter(({ text }) => text === each.after).map(({ copy }) => copy);
      for (const copy of [kept, ...spent]) await unlink(copy).catch(() => {});
    } catch (error) {
      failed.push(asError(error).message);
    }
  return changed;
}

/** Servers that were meant and stay without the gate. */
function leftOpen(
  settings: readonly Settings[],
  isChosen: (entry: ServerEntry) => boolean,
): readonly ServerEntry[] {
  return settings
    .flatMap(({ servers }) => servers)
    .filter((entry) => (entry.state === "remote" || entry.state === "unknown") && isChosen(entry));
}

/** @throws ConsentError `options_invalid` for a server that no client has. */
function chosenBy(
  { operands }: Invocation,
  settings: readonly Settings[],
): (entry: ServerEntry) => boolean {
  const names = settings.flatMap(({ servers }) => servers.map(({ name }) => name));
  const missing = operands.find((operand) => !names.includes(operand));
  if (missing !== undefined) {
    const suggestion = nearest(missing, names);
    throw new ConsentError(
      "options_invalid",
      `Cannot find the server "${escapeText(missing)}" in the settings of these clients; acp mcp status shows what there is`,
      suggestion === undefined ? {} : { suggestion },
    );
  }
  return ({ name }) => operands.length === 0 || operands.includes(name);
}

/** @throws ConsentError `options_invalid`. */
function clientsOf({ values }: Invocation): ReadonlySet<ClientId> {
  if (values.client === undefined) return new Set(CLIENT_IDS);
  return new Set(
    values.client.split(",").map((word) => {
      const found = CLIENT_IDS.find((id) => id === word);
      if (found !== undefined) return found;
      const suggestion = nearest(word, CLIENT_IDS);
      throw new ConsentError(
        "options_invalid",
        `Cannot read --client "${escapeText(word)}": write ${CLIENT_IDS.join(", ")}`,
        suggestion === undefined ? {} : { suggestion },
      );
    }),
  );
}

async function lookAt(invocation: Invocation): Promise<Looked> {
  const { io, values } = invocation;
  const { env, userHome, cwd } = io;
  const { platform } = process;
  const clients = clientsOf(invocation);
  const isServed = await ownAddressTest(invocation);
  const places = [
    ...placesOfUser({ platform, userHome, env }),
    ...(values.project === undefined
      ? []
      : placesOfProject(resolve(cwd, values.project), platform)),
  ].filter(({ client }) => clients.has(client));
  const settings: Settings[] = [];
  const unread: { readonly path: string; readonly why: string }[] = [];
  for (const place of places)
    try {
      const text = await readFile(place.path, "utf8");
      if (text.length > FILE_BYTES_MAX) throw new Error("it is too large");
      settings.push({ place, text, servers: serversIn(place, text, isServed) });
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "ENOENT" || code === "ENOTDIR") continue;
      unread.push({ path: place.path, why: asError(error).message });
    }
  return { settings, unread };
}

const unreadLine = ({ path, why }: { readonly path: string; readonly why: string }): string =>
  `${escapeText(path)} cannot be read: ${escapeText(why)}`;

/**
 * Clients start commands without a shell and with another PATH: the program is named by its place.
 *
 * @throws ConsentError `options_invalid` where that place is about to go.
 */
function frontOf(invocation: Invocation): Front {
  if (/[\\/]_npx[\\/]/u.test(OWN_PROGRAM))
    throw new ConsentError(
      "options_invalid",
      "Cannot put this ACP in front of servers: npx will remove it from its cache; install it first: npm install -g @acp/cli",
    );
  const { io } = invocation;
  const home = homePath(invocation);
  const usual = homePath({ ...invocation, values: {}, io: { ...io, env: {} } });
  return {
    program: OWN_FRONT,
    options: [
      ...(home === usual ? [] : ["--home", isAbsolute(home) ? home : resolve(io.cwd, home)]),
      // There is no resident on Windows.
      ...(process.platform === "win32" ? ["--alone"] : []),
    ],
  };
}
