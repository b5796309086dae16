/**
 * Without ACP: the settings of a client as they were before ACP was put into them. A wrapped server
 * gets its own command back; servers and hooks that are ACP themselves go. Pure.
 */
import { win32 } from "node:path";
import { isJsonList, isJsonObject } from "@acp/core";
import type { JsonObject, JsonValue } from "@acp/core";
import { inOneForm } from "../inline-command.js";

/** One change. Plain JSON data. */
export interface Unwrapped {
  /** Where it is, such as `mcpServers.files`. */
  readonly at: string;
  /** A server that starts without the gate from then on, or something of ACP that goes. */
  readonly kind: "unwrapped" | "server_removed" | "hook_removed";
  /** The command that stays, or that goes. */
  readonly command: readonly string[];
}

/** Settings without acp, and what was changed. */
export interface WithoutAcp {
  readonly value: JsonValue;
  readonly changes: readonly Unwrapped[];
}

/** Programs that start ACP with the words after them. */
const STARTERS: ReadonlySet<string> = new Set(["npx", "node", "bunx", "pnpm", "yarn"]);
/** Separators of either kind: settings may come from Windows. */
const basename = (path: string): string => win32.basename(path).replace(/\.(?:exe|cmd)$/iu, "");
const PROGRAM = /^(?:acp|acp\.cjs|@acp\/cli(?:@[\w.-]+)?)$/;
/** Variables that only ACP reads. */
const OWN_VARIABLE = /^ACP_/;

/** The words after `acp`; `undefined` where a command is another one. */
export function acpWords(command: readonly string[]): readonly string[] | undefined {
  const [program = "", ...rest] = command;
  const isAcp = (word: string): boolean => PROGRAM.test(word) || PROGRAM.test(basename(word));
  if (isAcp(program)) return rest;
  if (!STARTERS.has(basename(program))) return undefined;
  const at = rest.findIndex((word) => !word.startsWith("-") && word !== "exec" && word !== "dlx");
  const started = rest[at];
  return started !== undefined && isAcp(started) ? rest.slice(at + 1) : undefined;
}

/** The server's command behind the words after `acp`; none where there is no such. */
export function serverWords(own: readonly string[]): readonly string[] {
  const whole = inOneForm(own);
  const end = whole.indexOf("--");
  return whole[0] !== "mcp" || end === -1 ? [] : whole.slice(end + 1);
}

/** Takes ACP out of settings; everything else stays as it is. */
export function withoutAcp(value: JsonValue): WithoutAcp {
  const changes: Unwrapped[] = [];
  const at = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);
  /** `undefined`: it goes. */
  const walk = (each: JsonValue, path: string): JsonValue | undefined => {
    if (isJsonList(each)) return walkList(each, path);
    if (!isJsonObject(each)) return each;
    const own = ownEntry(each, path, changes);
    if (own !== "none") return own;
    const entries = Object.entries(each).flatMap(
      ([key, member]): readonly [string, JsonValue][] => {
        const kept = walk(member, at(path, key));
        return kept === undefined ? [] : [[key, kept]];
      },
    );
    return Object.fromEntries(entries);
  };
  const walkList = (list: readonly JsonValue[], path: string): JsonValue | undefined => {
    const rest = list.flatMap((each, index) => {
      const before = changes.length;
      const kept = walk(each, at(path, String(index)));
      // A matcher that lost its hooks would only be noise.
      const isEmptied = kept !== undefined && changes.length > before && isNoise(kept);
      return kept === undefined || isEmptied ? [] : [kept];
    });
    return rest.length === 0 && list.length > 0 ? undefined : rest;
  };
  const kept = walk(value, "");
  return { value: kept === undefined ? {} : kept, changes };
}

const isNoise = (value: JsonValue): boolean =>
  isJsonObject(value) && Object.keys(value).every((key) => key === "matcher");

/** What stays of a server or hook of ACP; `none` where it is neither. */
function ownEntry(
  entry: JsonObject,
  path: string,
  changes: Unwrapped[],
): JsonObject | undefined | "none" {
  const { command, args, env, ...rest } = entry;
  if (typeof command !== "string") return "none";
  const isList = isJsonList(args) && args.every((word) => typeof word === "string");
  const words = isList ? [command, ...args.map(String)] : command.split(/\s+/);
  const own = acpWords(words);
  if (own === undefined) return "none";
  if (own[0] === "exec" && own[1] === "hook") {
    changes.push({ at: path, kind: "hook_removed", command: words });
    return undefined;
  }
  if (own[0] !== "mcp") return "none";
  const after = serverWords(own);
  const [program, ...programArgs] = after;
  if (program === undefined) {
    changes.push({ at: path, kind: "server_removed", command: words });
    return undefined;
  }
  changes.push({ at: path, kind: "unwrapped", command: after });
  const kept = isJsonObject(env)
    ? Object.fromEntries(Object.entries(env).filter(([name]) => !OWN_VARIABLE.test(name)))
    : {};
  const hasEnv = env !== undefined && (!isJsonObject(env) || Object.keys(kept).length > 0);
  return {
    ...rest,
    command: program,
    args: programArgs,
    ...(hasEnv && { env: isJsonObject(env) ? kept : env }),
  };
}
