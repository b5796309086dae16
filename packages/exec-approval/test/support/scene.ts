/**
 * A hub with its people in the middle of a real network: gateway, clients and shell are the ones
 * that ship.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryAuditSink } from "@acp/audit";
import type { Verdict } from "@acp/core";
import { parseExecApprovalConfig } from "@acp/core/exec";
import { manualClock, type ManualClock } from "@acp/testing";
import { expect } from "vitest";
import { type ApprovalInbox, createApprovalInbox } from "../../src/approval-inbox.js";
import type { GatewayClient } from "../../src/gateway-client.js";
import { createHubLink } from "../../src/hub-link.js";
import type { ExecApprovalHub } from "../../src/hub-options.js";
import { createExecApprovalHub } from "../../src/hub.js";
import type { ApprovalDecision, ExecApprovalRequestPayload } from "../../src/protocol.js";
import { createWorld, until, type World, type WorldOptions } from "./world.js";

/** A line for each time the command ran. */
export const COMMAND = "echo ran >> ran.txt";

/** A hub on its gateway. */
export interface Scene extends AsyncDisposable {
  readonly world: World;
  readonly hub: ExecApprovalHub;
  readonly hubClient: GatewayClient;
  readonly clock: ManualClock;
  readonly audit: ReturnType<typeof memoryAuditSink>;
  /** Asks for the command, and runs it where that is allowed. */
  exec(command?: string): Promise<Verdict>;
  /** How often the command ran. */
  runs(): Promise<number>;
  /** Lets the request's time pass. */
  expire(): Promise<void>;
}

/** A hub that asks `phone` and `laptop`, with a clock of its own; the network keeps real time. */
export async function createScene(options: WorldOptions = {}): Promise<Scene> {
  const world = await createWorld(options);
  const project = await realpath(await mkdtemp(join(tmpdir(), "acp-faults-")));
  const clock = manualClock();
  const audit = memoryAuditSink();
  const hubClient = world.device("hub");
  const link = createHubLink({ client: hubClient, clients: ["phone", "laptop"] });
  const hub = createExecApprovalHub({
    config: parseExecApprovalConfig({}),
    clients: ["phone", "laptop"],
    send: link.send,
    audit,
    clock,
    projectRoot: project,
  });
  link.serve(hub);
  await hubClient.connect();
  const file = join(project, "ran.txt");
  return {
    world,
    hub,
    hubClient,
    clock,
    audit,
    async exec(command = COMMAND) {
      const verdict = await hub.onApprovalNeeded(command, { agentId: "agent" });
      if (verdict.decision === "allow") await hub.runApproved(verdict);
      return verdict;
    },
    runs: async () =>
      existsSync(file) ? (await readFile(file, "utf8")).split("\n").length - 1 : 0,
    expire: () => clock.advance(60_000),
    async [Symbol.asyncDispose]() {
      await hub.close();
      link.close();
      await world[Symbol.asyncDispose]();
      await rm(project, { recursive: true, force: true });
    },
  };
}

/** A person at a device. */
export interface Person extends Disposable {
  readonly client: GatewayClient;
  readonly inbox: ApprovalInbox;
  /** The one request that this person sees, once it is there. */
  request(): Promise<ExecApprovalRequestPayload>;
  answer(decision: ApprovalDecision): Promise<string>;
}

/** A person at a device; `via` is the way there. */
export async function person(
  { world, clock }: Scene,
  deviceId: string,
  via?: { readonly url: string },
): Promise<Person> {
  const client = world.device(deviceId, via === undefined ? {} : { url: via.url });
  const inbox = createApprovalInbox({ client, hubDeviceId: "hub", clock });
  await client.connect();
  const request = async (): Promise<ExecApprovalRequestPayload> => {
    await until(() => expect(inbox.open()).toHaveLength(1));
    return inbox.open()[0] as ExecApprovalRequestPayload;
  };
  return {
    client,
    inbox,
    request,
    async answer(decision) {
      const { approvalId } = await request();
      const outcome = await inbox.answer({ approvalId, decision });
      return outcome.ok ? "ok" : outcome.error.code;
    },
    [Symbol.dispose]: () => inbox.close(),
  };
}
