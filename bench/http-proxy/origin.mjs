// What everybody is sent to: a port that echoes, one that sends for ever, and one that answers
// HTTP. Costs as little as it can.
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";

const listen = (server) =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
const block = Buffer.alloc(256 * 1024);

const echo = createTcpServer({ noDelay: true }, (socket) =>
  socket.on("error", () => undefined).pipe(socket),
);
// One number comes: so many blocks go.
const source = createTcpServer((socket) => {
  socket
    .on("error", () => undefined)
    .once("data", (chunk) => {
      let left = Number(chunk.toString());
      const send = () => {
        while (left-- > 0) if (!socket.write(block)) return socket.once("drain", send);
        return socket.end();
      };
      send();
    });
});
const web = createServer((_, answer) =>
  answer.writeHead(200, { "content-length": "3" }).end("end"),
);
web.keepAliveTimeout = 0;
console.log(
  JSON.stringify({
    echo: await listen(echo),
    source: await listen(source),
    web: await listen(web),
  }),
);
