// A client of MCP over HTTP that costs little: one request a call on connections that stay open, the
// answer as JSON or as the first event of a stream with its id.
import { Agent, request as httpRequest } from "node:http";

/**
 * Completes the handshake with a server at an address.
 *
 * @param headers - What each request carries besides, such as a token.
 */
export async function connectHttp(url, { headers = {} } = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  let nextId = 0;
  let session = {};
  const post = (message) =>
    new Promise((resolve, reject) => {
      const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
      const request = httpRequest(url, {
        method: "POST",
        agent,
        headers: {
          ...headers,
          ...session,
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "content-length": body.length,
        },
      });
      request.on("error", reject);
      request.on("response", (response) => {
        const id = response.headers["mcp-session-id"];
        if (id !== undefined)
          session = { "mcp-session-id": id, "mcp-protocol-version": "2025-06-18" };
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
        response.on("error", reject);
        response.on("end", () => {
          if (response.statusCode >= 300)
            return reject(new Error(`HTTP ${response.statusCode}: ${text}`));
          return resolve(message.id === undefined ? undefined : answerIn(text, message.id));
        });
      });
      request.end(body);
    });
  const call = async (text) => {
    const params = { name: "echo", arguments: { text } };
    const { result } = await post({ id: nextId++, method: "tools/call", params });
    if (result?.content?.[0]?.text !== text || result.isError === true)
      throw new Error(`the call came back as ${JSON.stringify(result)}`);
  };
  await post({
    id: nextId++,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    },
  });
  await post({ method: "notifications/initialized" });
  await post({ id: nextId++, method: "tools/list", params: {} });
  return { call, end: () => Promise.resolve(agent.destroy()) };
}

/** The message with the id, in JSON or in a stream of events. */
function answerIn(text, id) {
  const datas = text.startsWith("{")
    ? [text]
    : text.split("\n").flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []));
  for (const data of datas) {
    if (data.trim() === "") continue;
    const message = JSON.parse(data);
    if (message.id === id && message.method === undefined) return message;
  }
  throw new Error(`no answer in ${text}`);
}
