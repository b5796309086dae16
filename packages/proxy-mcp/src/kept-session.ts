/**
 * Kept session: what a client told a server that the next process of it has to hear too: its
 * `initialize` with its bytes, that it is initialized, the level of log messages, subscriptions.
 * Nothing else is ever sent again.
 */
import { randomUUID } from "node:crypto";
import type { Ruling } from "@acp/core";
import { SUBSCRIPTIONS_MAX } from "./limits.js";
import { logText } from "./log-text.js";
import { isRecord, readServerLine, resultOf } from "./message.js";
import { requestLine } from "./rpc.js";
import type { RpcId } from "./rpc.js";

/** What a client sends, as far as it may have to be heard again. */
export interface KeptMessage {
  readonly method: string;
  readonly params: unknown;
  readonly line: Buffer;
  /** Of a request, as its server knows it. */
  readonly id?: RpcId;
}

/** The client's `initialize`. */
export interface Greeting {
  readonly id: RpcId;
  readonly line: Buffer;
  /** What was agreed on; `undefined` until the server answered. */
  version: string | undefined;
}

/** What one server was told. */
export interface KeptSession {
  /** `undefined` until the client sent it. */
  greeting(): Greeting | undefined;
  /** The client's `notifications/initialized`. */
  initialized(): Buffer | undefined;
  /** Forgets the greeting, since another one follows. */
  forgetGreeting(): void;
  /** Takes what is sent; most of it is not kept. */
  keep(message: KeptMessage): void;
  /** Reads the agreed version from an answer to `initialize`; gives its result. */
  learn(line: Buffer): Readonly<Record<string, unknown>> | undefined;
  /** All but the greeting, for another server that is to hear it. */
  messages(): readonly KeptMessage[];
  /** The level, and the subscriptions that the rules still allow, as requests of our own. */
  requests(): readonly { readonly id: RpcId; readonly line: Buffer }[];
}

/** MCP's versions are dates; whatever else a server calls one is nothing to repeat to a model. */
const VERSION = /^\d{4}-\d\d-\d\d$/;

/** The result of an answer to `initialize` and the version that it names. */
export function greetingResult(
  line: Buffer,
): { readonly result: Readonly<Record<string, unknown>>; readonly version: string } | undefined {
  const result = resultOf(line);
  if (!isRecord(result) || typeof result.protocolVersion !== "string") return undefined;
  const { protocolVersion: named } = result;
  return { result, version: VERSION.test(named) ? named : "a version that is not one" };
}

/** What the rules say of a subscription to a resource now. */
export type SubscribeEffect = (uri: string) => Ruling["effect"];

interface Subscription {
  /** What the rules said when it was made: where they asked, a person has agreed. */
  readonly effect: Ruling["effect"];
}

/** What a subscription is held against before it is made again. */
export interface SubscribeRules {
  readonly subscribeEffect: SubscribeEffect;
  /** Whether the resource is not presented as it was when it was pinned. */
  readonly isHeldBack: (uri: string) => boolean;
  readonly log: (line: string) => void;
}

/** Nothing was told yet. */
export function createKeptSession(rules: SubscribeRules): KeptSession {
  let greeting: Greeting | undefined;
  let initialized: Buffer | undefined;
  let level: unknown;
  const subscriptions = new Map<string, Subscription>();
  const subscribe = (params: unknown, isOn: boolean): void => {
    const uri: unknown = isRecord(params) ? params.uri : undefined;
    if (typeof uri === "string")
      note(subscriptions, uri, isOn ? { effect: rules.subscribeEffect(uri) } : undefined);
  };
  const asked = (): readonly (readonly [string, unknown])[] => [
    ...(level === undefined ? [] : [["logging/setLevel", { level }] as const]),
    ...stillAllowed(subscriptions, rules).map((uri) => ["resources/subscribe", { uri }] as const),
  ];
  return {
    greeting: () => greeting,
    initialized: () => initialized,
    forgetGreeting(): void {
      greeting = undefined;
    },
    keep({ method, params, line, id }) {
      if (method === "initialize") {
        // A second one is its server's to refuse.
        if (id !== undefined && greeting?.version === undefined)
          greeting = { id, line: Buffer.from(line), version: undefined };
      } else if (method === "notifications/initialized") initialized = Buffer.from(line);
      else if (method === "logging/setLevel") level = isRecord(params) ? params.level : undefined;
      else if (method === "resources/subscribe") subscribe(params, true);
      else if (method === "resources/unsubscribe") subscribe(params, false);
    },
    learn(line) {
      if (greeting === undefined || greeting.version !== undefined) return undefined;
      const { kind, id } = readServerLine(line);
      if (kind !== "response" || id !== greeting.id) return undefined;
      const answer = greetingResult(line);
      greeting.version = answer?.version;
      return answer?.result;
    },
    messages() {
      const line = Buffer.alloc(0);
      const all = asked().map(([method, params]) => ({ method, params, line }));
      if (initialized === undefined) return all;
      const method = "notifications/initialized";
      return [{ method, params: undefined, line: initialized }, ...all];
    },
    requests: () =>
      asked().map(([method, params]) => {
        const id = `acp-again-${randomUUID()}`;
        return { id, line: requestLine(id, method, params) };
      }),
  };
}

/** The last ones are kept, up to a bound. */
function note(
  subscriptions: Map<string, Subscription>,
  uri: string,
  made: Subscription | undefined,
): void {
  subscriptions.delete(uri);
  if (made !== undefined) subscriptions.set(uri, made);
  const [oldest] = subscriptions.size > SUBSCRIPTIONS_MAX ? subscriptions.keys() : [];
  if (oldest !== undefined) subscriptions.delete(oldest);
}

/**
 * Those that the rules still allow; the others are forgotten. Nobody is asked again: what a person
 * agreed to stays, and what rules allowed and ask about now does not.
 */
function stillAllowed(
  subscriptions: Map<string, Subscription>,
  { subscribeEffect, isHeldBack, log }: SubscribeRules,
): readonly string[] {
  for (const [uri, { effect: before }] of subscriptions) {
    const now = subscribeEffect(uri);
    if (now === "allow" || (now === "ask" && before === "ask")) continue;
    subscriptions.delete(uri);
    log(
      `The policy no longer allows the subscription to ${logText(JSON.stringify(uri))}; it is not made again`,
    );
  }
  return [...subscriptions.keys()].filter((uri) => {
    if (!isHeldBack(uri)) return true;
    log(
      `The subscription to ${logText(JSON.stringify(uri))} is not made again: the resource is not presented as it was when it was pinned; run: acp mcp review`,
    );
    return false;
  });
}
