/**
 * Where the story happens: a folder with a project, and a gateway, a hub and a person's client that
 * talk over real sockets.
 */
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AuditLog, openAuditLog } from "@acp/audit";
import {
  createExecApprovalHub,
  createGateway,
  createHubLink,
  GatewayClient,
  hashDeviceToken,
  makeDeviceToken,
  openExecProfile,
} from "@acp/exec-approval";
import type { ExecApprovalHub } from "@acp/exec-approval";

/** The id of the hub's device. */
export const HUB = "hub";
/** The id of the person's device. */
export const PHONE = "phone";

/** Everything of the story. */
export interface World extends AsyncDisposable {
  readonly hub: ExecApprovalHub;
  /** The person's end of the gateway; not connected yet. */
  readonly phone: GatewayClient;
  readonly project: string;
  readonly auditPath: string;
}

/** Puts a project with a file, and one beside it that nobody should touch, into a folder. */
async function makeProject(folder: string): Promise<string> {
  const project = join(await realpath(folder), "project");
  await mkdir(project);
  await writeFile(join(project, "notes.txt"), "first line\nsecond line\n");
  await mkdir(join(project, "..", "photos"));
  await writeFile(join(project, "..", "photos", "1.jpg"), "irreplaceable");
  return project;
}

/** Starts everything in a folder of its own. */
export async function createWorld(folder: string): Promise<World> {
  const project = await makeProject(folder);
  const auditPath = join(folder, "audit.jsonl");
  const audit: AuditLog = await openAuditLog({ path: auditPath });

  // The gateway knows each device by the hash of a token; the tokens go to the devices, and into no
  // file of the gateway.
  const tokens = { [HUB]: makeDeviceToken(), [PHONE]: makeDeviceToken() };
  const gateway = createGateway({
    devices: [
      { id: HUB, tokenHash: hashDeviceToken(tokens[HUB]), role: "hub" },
      { id: PHONE, tokenHash: hashDeviceToken(tokens[PHONE]), role: "client", hubs: [HUB] },
    ],
  });
  const { url } = await gateway.listen();

  const hubClient = new GatewayClient({ url, deviceId: HUB, token: tokens[HUB] });
  const link = createHubLink({ client: hubClient, clients: [PHONE] });
  const hub = createExecApprovalHub({
    config: openExecProfile({ home: join(folder, "home"), profileId: "coder" }),
    clients: [PHONE],
    send: link.send,
    audit,
    projectRoot: project,
  });
  link.serve(hub);
  await hubClient.connect();

  const phone = new GatewayClient({ url, deviceId: PHONE, token: tokens[PHONE] });
  return {
    hub,
    phone,
    project,
    auditPath,
    async [Symbol.asyncDispose]() {
      await hub.close();
      link.close();
      await phone.close();
      await hubClient.close();
      await gateway.close();
      await audit.close();
    },
  };
}
