// The peer: proxy-chain, the usual package for a forward proxy. It gates nothing either.
import { Server } from "proxy-chain";

const server = new Server({ port: 0, host: "127.0.0.1", verbose: false });
await server.listen();
console.log(JSON.stringify({ port: server.port }));
