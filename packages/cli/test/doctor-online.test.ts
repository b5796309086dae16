/** What `acp doctor --online` finds out from the services of the channels, and what it never says. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { channelsExamination } from "../src/doctor/look/channels.js";
import { doctorWorld, removeTemplate } from "./doctor-world.js";

afterAll(removeTemplate);

const TOKEN = "123456:abcdefghijklmnopqrstuvwxyz";

interface Service {
  readonly root: string;
  readonly asked: string[];
  close(): Promise<void>;
}

/** A service that answers with a status; 0 breaks the connection. */
async function service(status: number): Promise<Service> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (status === 0) response.destroy();
    else response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return { root: `http://127.0.0.1:${port}`, asked, close };
}

const telegram = (root: string): string =>
  `version: "1"\nchannel: telegram\ntelegram:\n  bot_token: "${TOKEN}"\n  chat_id: "7"\n  api_root: ${root}\n`;
const webhook = (url: string): string =>
  `version: "1"\nchannel: webhook\nwebhook:\n  url: ${url}/hook\n  secret: whsec_${Buffer.alloc(32).toString("base64")}\n  listen: 8799\n`;

/** Codes and texts of the findings. */
async function find(
  config: string,
  isOnline: boolean,
): Promise<readonly (readonly [string, string])[]> {
  const { home, context } = await doctorWorld();
  await writeFile(home.configPath, config, { mode: 0o600 });
  const found = await channelsExamination.look(context({ isOnline }));
  return found.map(({ finding }) => [finding.code, finding.found]);
}

describe("acp doctor --online", () => {
  it.each([
    [200, []],
    [401, ["channel_refused"]],
    [404, ["channel_refused"]],
    [500, ["channel_unreachable"]],
    [302, ["channel_unreachable"]],
    [0, ["channel_unreachable"]],
  ] as const)("of a bot's service that answers %i finds %j", async (status, codes) => {
    const { root, asked } = await service(status);
    const found = await find(telegram(root), true);
    expect(found.map(([code]) => code)).toEqual(codes);
    expect(asked).toEqual([`/bot${TOKEN}/getMe`]);
    expect(JSON.stringify(found)).not.toContain(TOKEN);
  });

  it("finds a service that is not there", async () => {
    const { root, close } = await service(200);
    await close();
    for (const config of [telegram(root), webhook(root)])
      expect(await find(config, true)).toEqual([
        ["channel_unreachable", `${root.slice("http://".length)} cannot be reached`],
      ]);
  });

  it("connects to a webhook's host, and asks it nothing", async () => {
    const { root, asked } = await service(200);
    expect([await find(webhook(root), true), asked]).toEqual([[], []]);
  });

  it("is the only way to be asked anything", async () => {
    const { root, asked } = await service(401);
    expect([await find(telegram(root), false), asked]).toEqual([[], []]);
  });
});
