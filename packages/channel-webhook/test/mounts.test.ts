/** The handler in the servers that people have: each for real, over a socket. */
import { type Server, createServer } from "node:http";
import { makeResponse } from "@acp/core";
import { askDouble } from "@acp/testing";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { type FetchHandler, createWebhookChannel, toNodeHandler } from "../src/index.js";
import { openPage, sendForm } from "./browser.js";
import {
  OTHER_SECRET,
  type Receiver,
  SECRET,
  linksOf,
  listen,
  signed,
  startReceiver,
  stopServer,
} from "./receiver.js";

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** A module as Workers and other edge platforms run it, behind a server that gives it requests. */
function workersServer(handler: FetchHandler): Server {
  const worker = { fetch: (request: Request) => handler(request) };
  return createServer(toNodeHandler((request) => worker.fetch(request)));
}

const servers: readonly (readonly [string, (handler: FetchHandler) => Server])[] = [
  ["node:http", (handler) => createServer(toNodeHandler(handler))],
  [
    "Express",
    (handler) => createServer(express().use("/acp", toNodeHandler(handler)).use(express.json())),
  ],
  [
    "Express, one route",
    (handler) => createServer(express().all("/acp/{*rest}", toNodeHandler(handler))),
  ],
  [
    "Hono on Node",
    (handler) => hono(new Hono().all("/acp/*", (context) => handler(context.req.raw))),
  ],
  ["Hono, mounted", (handler) => hono(new Hono().mount("/acp", handler))],
  ["a module with fetch", workersServer],
];

function hono(app: Hono): Server {
  const server = createAdaptorServer({ fetch: app.fetch, createServer });
  if (!("closeAllConnections" in server)) throw new Error("it is no server of node:http");
  return server;
}

async function mount(makeServer: (handler: FetchHandler) => Server) {
  const receiver: Receiver = await startReceiver();
  // The channel needs the port before the server has its handler.
  let handle: FetchHandler = () => Promise.reject(new Error("not yet"));
  const server = makeServer((request) => handle(request));
  const base = `http://127.0.0.1:${await listen(server)}/acp`;
  const channel = createWebhookChannel({
    url: receiver.url,
    secret: SECRET,
    approvers: ["alice"],
    linkUrl: base,
  });
  handle = channel.handler;
  stops.push(
    () => receiver.close(),
    () => stopServer(server),
    () => channel.close(),
  );
  const ask = askDouble();
  await channel.deliver(ask.request, ask.session);
  const answer = JSON.stringify(
    makeResponse(ask.request, {
      decision: "approved",
      nowMs: Date.now(),
      channel: "webhook",
      approverId: "alice",
      reason: "grüße",
    }),
  );
  const call = (message: ReturnType<typeof signed>): Promise<Response> =>
    fetch(`${base}/callback`, { method: "POST", ...message });
  return { ask, base, answer, call, link: linksOf(receiver, ask.request.id)["alice"] ?? "" };
}

describe.each(servers)("handler in %s", (_name, makeServer) => {
  it("takes a callback, byte for byte as it was signed", async () => {
    const { ask, answer, call } = await mount(makeServer);
    expect((await call(signed(answer, { secret: OTHER_SECRET }))).status).toBe(401);
    expect(ask.ending()).toBeUndefined();
    const taken = await call(signed(answer));
    expect([taken.status, await taken.json()]).toEqual([
      200,
      { status: "final", outcome: "approved" },
    ]);
    expect(ask.ending()).toEqual({ status: "approved", reason: "grüße" });
  });

  it("serves a link, and takes its form", async () => {
    const { ask, link } = await mount(makeServer);
    expect((await fetch(link, { method: "HEAD" })).status).toBe(200);
    const page = await openPage(link);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining("write_file") });
    expect(ask.submissions).toEqual([]);
    const sent = await sendForm(link, {
      key: page.key,
      decision: "denied",
      reason: "not now",
      grant: "",
      confirmation: "",
    });
    expect(sent).toMatchObject({ status: 200, text: expect.stringContaining("It was denied.") });
    expect(ask.ending()).toEqual({ status: "denied", reason: "not now" });
  });
});

describe("toNodeHandler() behind a body parser", () => {
  it("takes no answer, and says why", async () => {
    const parsed = (handler: FetchHandler): Server =>
      createServer(express().use(express.json()).use("/acp", toNodeHandler(handler)));
    const { ask, answer, call } = await mount(parsed);
    const refused = await call(signed(answer));
    expect([refused.status, await refused.text()]).toEqual([
      500,
      "mount this handler before body parsers\n",
    ]);
    expect(ask.ending()).toBeUndefined();
  });
});
