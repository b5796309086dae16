/**
 * What pages introduce in words before a snippet uses it. No function of ours stands here: a
 * snippet imports it, so that whoever copies it can run it.
 */
import type { RequestListener } from "node:http";
import type { PasskeyStore } from "@acp/channel-web";
import type {
  Action,
  Agent,
  Allowed,
  Approver,
  AuditSink,
  Channel,
  ConsentGate,
  JsonObject,
  JsonValue,
  Release,
  Store,
} from "@acp/core";
import type { ExecApprovalConfig } from "@acp/core/exec";
import type { Policy, ResolvedPath } from "@acp/core/policy";
import type { KeyPair } from "@acp/core/proof";
import type { ExecApprovalHub, GatewayClient } from "@acp/exec-approval";
import type { HttpConsentProxy } from "@acp/proxy-http";
import type { LoggedEvent } from "@acp/suggest";
import type { channelConformance } from "@acp/testing";
import type { Hono as HonoApp } from "../../packages/channel-webhook/node_modules/hono/dist/types/index.d.ts";

declare global {
  // The parts of a gate.
  const policy: Policy;
  const channel: Channel;
  const audit: AuditSink;
  const gate: ConsentGate;
  const approvers: readonly Approver[];
  const passkeys: PasskeyStore;
  const store: Store;
  const recordKey: Uint8Array;
  const [web, telegram, sms, mail]: readonly [Channel, Channel, Channel, Channel];

  // A call, and what comes of it.
  const action: Action;
  const agent: Agent;
  const signal: AbortSignal;
  const inputSchema: JsonObject;
  const verdict: Allowed;
  const perform: (release: Release) => Promise<unknown>;
  const send: (action: Action) => Promise<unknown>;
  const deliver: (parameters: JsonValue) => Promise<string>;
  const doIt: (action: Action) => Promise<unknown>;

  // Of this machine.
  const keys: KeyPair;
  const logPath: string;
  const events: AsyncIterable<LoggedEvent>;
  const policyText: string;
  const directory: string;
  const projectRoot: string;
  const resolve: (path: string) => ResolvedPath;
  const [home, url, secret, token]: readonly [string, string, string, string];
  const [value, passphrase]: readonly [string, string];

  // Shell commands.
  const command: string;
  const config: ExecApprovalConfig;
  const hub: ExecApprovalHub;
  const hubHash: string;
  const client: GatewayClient;
  const approvalId: string;
  const output: Uint8Array[];
  const digest: string;
  const showApproval: (payload: unknown) => void;

  // Other servers and parts.
  const proxy: HttpConsentProxy;
  const express: () => { use(path: string, handler: RequestListener): void };
  const Hono: typeof HonoApp;
  const startInMySandbox: (argv: readonly string[], workspace: string) => Promise<void>;
  const makeMyChannel: Parameters<typeof channelConformance>[0];
}
