// What every agent of the benchmark talks to, however its connections come: an HTTP server in this
// process.
import { createServer } from "node:http";

const block = Buffer.alloc(256 * 1_024);
const BLOCKS_A_MEGABYTE = 4;

function answer(request, response) {
  const [, megabytes] = /^\/bulk\/([0-9]+)$/.exec(request.url) ?? [];
  if (megabytes === undefined) return response.writeHead(200, { "content-length": "2" }).end("ok");
  let left = Number(megabytes) * BLOCKS_A_MEGABYTE;
  response.writeHead(200, { "content-length": String(left * block.length) });
  const send = () => {
    while (left-- > 0) if (!response.write(block)) return response.once("drain", send);
    return response.end();
  };
  return send();
}

/** One that listens nowhere: connections are given to it, or `listen` is called. */
export function makeServer() {
  const server = createServer(answer);
  server.keepAliveTimeout = 0;
  return server;
}
