/**
 * The gateway over real sockets: who gets in, who may say what to whom, and what a device that
 * misbehaves costs.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { encodeMessage } from "../src/codec.js";
import { hashDeviceToken, makeDeviceToken } from "../src/device-token.js";
import { GatewayClient } from "../src/gateway-client.js";
import { createGateway } from "../src/gateway.js";
import { ask, call, parsed } from "./support/messages.js";
import { createWorld, openRaw, until } from "./support/world.js";

describe("the handshake", () => {
  it("lets a device in by the header, and a browser by the subprotocol; the token is never said back", async () => {
    await using world = await createWorld();
    const phone = await world.raw("phone");
    const token = world.tokenOf("laptop");
    const laptop = await openRaw(world.url, {}, ["acp-exec.v1", `bearer.${token}`]);
    expect(world.gateway.connected()).toEqual(["phone", "laptop"]);
    expect(laptop.socket.protocol).toBe("acp-exec.v1");
    for (const { socket } of [phone, laptop]) socket.close();
  });

  it.each([
    ["no token", {}, []],
    ["a token that no device has", { authorization: `Bearer ${makeDeviceToken()}` }, []],
    ["a short token", { authorization: "Bearer abc" }, []],
    ["another scheme", { authorization: `Basic ${makeDeviceToken()}` }, []],
    [
      "two tokens",
      {},
      ["acp-exec.v1", `bearer.${makeDeviceToken()}`, `bearer.${makeDeviceToken()}`],
    ],
  ])("turns away %s", async (_name, headers, protocols) => {
    await using world = await createWorld();
    await expect(openRaw(world.url, headers as Record<string, string>, protocols)).rejects.toThrow(
      "status 401",
    );
    expect(world.events).toEqual([{ type: "refused", status: 401 }]);
  });

  it("takes no token from the URL", async () => {
    await using world = await createWorld();
    const token = world.tokenOf("phone");
    await expect(openRaw(`${world.url}/?token=${token}&access_token=${token}`, {})).rejects.toThrow(
      "status 401",
    );
  });

  it("does not fall back on the subprotocol where the header is wrong", async () => {
    await using world = await createWorld();
    const offers = ["acp-exec.v1", `bearer.${world.tokenOf("phone")}`];
    await expect(
      openRaw(world.url, { authorization: `Bearer ${makeDeviceToken()}` }, offers),
    ).rejects.toThrow("status 401");
  });

  it("answers a plain request with 426", async () => {
    await using world = await createWorld();
    const status = await new Promise((resolve) =>
      request(world.url.replace("ws:", "http:"), (answer) => resolve(answer.statusCode)).end(),
    );
    expect(status).toBe(426);
  });
});

describe("where it listens", () => {
  it("is this machine alone unless told otherwise", async () => {
    await using gateway = createGateway({ devices: [] });
    expect((await gateway.listen()).url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
    await expect(gateway.listen()).rejects.toMatchObject({ code: "options_invalid" });
  });

  const outside = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === "IPv4" && !each.internal)?.address;

  it.skipIf(outside === undefined)(
    `refuses a handshake in the clear that comes over a network address, unless told otherwise${outside === undefined ? " (skipped: this machine has none)" : ""}`,
    async () => {
      const token = makeDeviceToken();
      const devices = [{ id: "hub", tokenHash: hashDeviceToken(token), role: "hub" }] as const;
      const headers = { authorization: `Bearer ${token}` };
      await using gateway = createGateway({ devices });
      const server = createHttpServer();
      gateway.attach(server);
      const port = await new Promise<number>((resolve) => {
        server.listen(0, () => {
          const address = server.address();
          resolve(typeof address === "object" && address !== null ? address.port : 0);
        });
      });
      await expect(openRaw(`ws://${outside}:${port}`, headers)).rejects.toThrow("status 403");
      (await openRaw(`ws://127.0.0.1:${port}`, headers)).socket.terminate();
      server.close();
      server.closeAllConnections();

      await using open = createGateway({ devices });
      const { port: openPort } = await open.listen({ dangerouslyListenOn: "0.0.0.0" });
      (await openRaw(`ws://${outside}:${openPort}`, headers)).socket.terminate();
    },
  );

  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

  it.skipIf(!hasOpenssl)(
    `speaks TLS over an https server, which a client checks${hasOpenssl ? "" : " (skipped: no openssl)"}`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "acp-"));
      const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(folder, name)) as [
        string,
        string,
      ];
      const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
      execFileSync(
        "openssl",
        [
          "req",
          "-x509",
          "-newkey",
          "ec",
          "-pkeyopt",
          "ec_paramgen_curve:P-256",
          "-nodes",
          "-days",
          "2",
          "-keyout",
          key,
          "-out",
          cert,
          ...subject,
        ],
        { stdio: "ignore" },
      );
      const ca = readFileSync(cert, "utf8");
      const server = createHttpsServer({ key: readFileSync(key), cert: ca });
      rmSync(folder, { recursive: true });
      const token = makeDeviceToken();
      await using gateway = createGateway({
        devices: [{ id: "hub", tokenHash: hashDeviceToken(token), role: "hub" }],
      });
      gateway.attach(server);
      const port = await new Promise<number>((resolve) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address();
          resolve(typeof address === "object" && address !== null ? address.port : 0);
        });
      });
      const url = `wss://localhost:${port}`;
      await using trusting = new GatewayClient({ url, deviceId: "hub", token, ca });
      await trusting.connect();
      expect(gateway.connected()).toEqual(["hub"]);
      await using wary = new GatewayClient({ url, deviceId: "hub", token });
      const reasons: string[] = [];
      wary.onEvent((event) => {
        if (event.type === "disconnected") reasons.push(event.reason);
      });
      wary.connect().catch(() => undefined);
      await until(() => expect(reasons[0]).toMatch(/self-signed certificate/));
      await trusting.close();
      server.close();
      server.closeAllConnections();
    },
  );
});

describe("what it carries", () => {
  it("hands a hub's request to the one client it is for, as it came, and gives the hub a receipt", async () => {
    await using world = await createWorld();
    const [hub, phone, laptop] = await Promise.all([
      world.raw("hub"),
      world.raw("phone"),
      world.raw("laptop"),
    ]);
    const text = JSON.stringify(ask("hub", "phone"), null, 2);
    hub.socket.send(text);
    await until(() => expect(phone.received).toContain(text));
    await until(() =>
      expect(parsed(hub.received)).toContainEqual(
        expect.objectContaining({
          from: "gateway",
          action: "receipt",
          payload: { messageId: "m-1", ok: true },
        }),
      ),
    );
    expect(parsed(laptop.received).map(({ action }) => action)).not.toContain(
      "exec-approval-request",
    );
  });

  it.each(["nobody", "tablet", "stranger-hub", "hub", "gateway"])(
    "tells a hub that %s is not there, in the same words",
    async (to) => {
      await using world = await createWorld({ clients: ["phone", "tablet"] });
      const hub = await world.raw("hub");
      await world.raw("stranger-hub");
      hub.socket.send(encodeMessage(ask("hub", to)));
      const payload = {
        messageId: "m-1",
        ok: false,
        error: { code: "UNREACHABLE", message: "No such device is connected" },
      };
      await until(() =>
        expect(parsed(hub.received)).toContainEqual(
          expect.objectContaining({ action: "receipt", payload }),
        ),
      );
    },
  );

  it.each(["hub", "stranger-hub", "laptop"])(
    "answers a client's call that does not reach %s as a call is answered",
    async (to) => {
      await using world = await createWorld();
      const phone = await world.raw("phone");
      for (const id of ["stranger-hub", "laptop"]) await world.raw(id);
      phone.socket.send(encodeMessage(call("phone", to)));
      const payload = {
        requestId: "r-1",
        ok: false,
        error: { code: "UNREACHABLE", message: "No such device is connected" },
      };
      await until(() =>
        expect(parsed(phone.received)).toContainEqual(
          expect.objectContaining({ from: "gateway", action: "response", payload }),
        ),
      );
    },
  );

  it("tells devices that may talk of each other's coming and going, and nobody else", async () => {
    await using world = await createWorld();
    const stranger = await world.raw("stranger-hub");
    const phone = await world.raw("phone");
    const hub = await world.raw("hub");
    const laptop = await world.raw("laptop");
    const presences = (texts: readonly string[]): readonly unknown[] =>
      parsed(texts).map(({ payload }) => payload);
    await until(() =>
      expect(presences(hub.received)).toEqual([
        { deviceId: "phone", online: true },
        { deviceId: "laptop", online: true },
      ]),
    );
    await until(() =>
      expect(presences(laptop.received)).toEqual([{ deviceId: "hub", online: true }]),
    );
    phone.socket.close();
    await until(() =>
      expect(presences(hub.received)).toContainEqual({ deviceId: "phone", online: false }),
    );
    expect(stranger.received).toEqual([]);
  });

  it("gives a device that connects again its new connection alone", async () => {
    await using world = await createWorld();
    const hub = await world.raw("hub");
    const first = await world.raw("phone");
    const second = await world.raw("phone");
    expect(await first.closed).toEqual({ code: 4001, reason: "the device connected again" });
    hub.socket.send(encodeMessage(ask("hub", "phone")));
    await until(() =>
      expect(parsed(second.received).map(({ action }) => action)).toContain(
        "exec-approval-request",
      ),
    );
    expect(parsed(first.received).map(({ action }) => action)).not.toContain(
      "exec-approval-request",
    );
    expect(
      parsed(hub.received).filter(({ payload }) => JSON.stringify(payload).includes("false")),
    ).toEqual([]);
  });
});

describe("Gateway.close()", () => {
  it("says goodbye, cuts whoever does not answer, and takes nobody any more", async () => {
    const clock = manualClock();
    await using world = await createWorld({ clock });
    const polite = await world.raw("phone");
    const deaf = await world.raw("laptop");
    deaf.socket.pause();
    const closing = world.gateway.close();
    expect(await polite.closed).toEqual({ code: 1001, reason: "the gateway is closing" });
    await expect(world.raw("phone")).rejects.toThrow("status 503");
    await clock.advance(2_000);
    await closing;
    expect(world.gateway.connected()).toEqual([]);
    await expect(world.gateway.listen()).rejects.toMatchObject({ code: "options_invalid" });
    await world.gateway.close();
  });
});

describe("createGateway()", () => {
  const [one, other] = [makeDeviceToken(), makeDeviceToken()].map(hashDeviceToken) as [
    string,
    string,
  ];

  it.each([
    ["an id with a blank", [{ id: "a b", tokenHash: one, role: "hub" }], "its id is not"],
    [
      "the gateway's id",
      [{ id: "gateway", tokenHash: one, role: "hub" }],
      "this id is the gateway's own",
    ],
    [
      "an id twice",
      [
        { id: "a", tokenHash: one, role: "hub" },
        { id: "a", tokenHash: other, role: "hub" },
      ],
      "it is listed twice",
    ],
    [
      "a token twice",
      [
        { id: "a", tokenHash: one, role: "hub" },
        { id: "b", tokenHash: one, role: "hub" },
      ],
      "another device has the same token",
    ],
    [
      "a token in the place of its hash",
      [{ id: "a", tokenHash: makeDeviceToken(), role: "hub" }],
      "its tokenHash is not",
    ],
    [
      "a hub that is not listed",
      [{ id: "a", tokenHash: one, role: "client", hubs: ["b"] }],
      '"b" is not one of the hubs',
    ],
    [
      "a client for a hub",
      [{ id: "a", tokenHash: one, role: "client", hubs: ["a"] }],
      '"a" is not one of the hubs',
    ],
  ] as const)("refuses %s", (_name, devices, state) => {
    expect(() => createGateway({ devices })).toThrow(
      expect.objectContaining({ code: "options_invalid", message: expect.stringContaining(state) }),
    );
  });
});
