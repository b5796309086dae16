// The floor of every HTTP hop: a process that starts the server, writes each body as a line and
// answers with the line that comes back. It reads nothing but ids.
import { spawn } from "node:child_process";
import { createServer } from "node:http";

const child = spawn(process.execPath, [process.argv[2]], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let rest = "";
child.stdout.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id } = JSON.parse(line);
    waiting.get(id)?.(line);
    waiting.delete(id);
  }
});
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const { id } = JSON.parse(body.toString());
    child.stdin.write(`${body.toString()}\n`);
    if (id === undefined) return response.writeHead(202).end();
    return waiting.set(id, (line) =>
      response.writeHead(200, { "content-type": "application/json" }).end(line),
    );
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
