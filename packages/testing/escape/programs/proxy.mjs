// Attempts through the proxy itself: proxy.mjs VERB PORT TARGET TOKEN. `\0` in TARGET stands for
// NUL.
import { connect } from "node:net";

const [verb = "", port = "", spelled = "", token = ""] = process.argv.slice(2);
const target = spelled.replaceAll("\\0", "\0");
/** @type {Record<string, string>} */
const requests = {
  connect: `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`,
  get: `GET http://${target}/${token} HTTP/1.1\r\nHost: ${target}\r\n\r\n`,
  // Says one place in its first line and means another.
  host: `GET http://public.test/${token} HTTP/1.1\r\nHost: ${target}\r\n\r\n`,
  origin: `GET /${token} HTTP/1.1\r\nHost: ${target}\r\n\r\n`,
  connecthost: `CONNECT public.test:80 HTTP/1.1\r\nHost: ${target}\r\n\r\n`,
  // Data that a request carries to whoever listens.
  "leak-query": `GET http://${target}/?k=${token} HTTP/1.1\r\nHost: ${target}\r\n\r\n`,
  "leak-header": `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nX-Note: ${token}\r\n\r\n`,
  "leak-cookie": `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nCookie: k=${token}\r\n\r\n`,
  "leak-user-agent": `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nUser-Agent: ${token}\r\n\r\n`,
  "leak-get-body": `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nContent-Length: ${token.length}\r\n\r\n${token}`,
  "leak-post": `POST http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nContent-Length: ${token.length}\r\n\r\n${token}`,
  "leak-head": `HEAD http://${target}/${token} HTTP/1.1\r\nHost: ${target}\r\n\r\n`,
  // A second request behind the first, before there is an answer.
  second: `GET http://public.test/ HTTP/1.1\r\nHost: public.test\r\n\r\nGET http://${target}/${token} HTTP/1.1\r\nHost: ${target}\r\n\r\n`,
  // A body that one reader takes for a request.
  smuggled:
    `POST http://public.test/ HTTP/1.1\r\nHost: public.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n` +
    `0\r\n\r\nGET http://${target}/${token} HTTP/1.1\r\nHost: ${target}\r\n\r\n`,
};

let answer = "";
let done = false;
/**
 * @param {string} outcome
 * @param {string} detail
 */
const say = (outcome, detail) => {
  if (!done) process.stdout.write(`${JSON.stringify({ outcome, detail })}\n`);
  done = true;
};
const socket = connect(
  { host: "127.0.0.1", port: Number(port) },
  () => void socket.write(requests[verb] ?? ""),
);
const giveUp = () => {
  say("refused", answer.split("\r\n", 1)[0] || "no answer");
  socket.destroy();
};
const timer = setTimeout(giveUp, 3000);
socket.on("error", (error) => say("refused", error.message));
socket.on("close", () => {
  say("refused", answer.split("\r\n", 1)[0] || "closed");
  clearTimeout(timer);
});
socket.on("data", (chunk) => {
  answer += chunk.toString("latin1");
  if (!answer.includes("\r\n\r\n") || done) return;
  const isYes = answer.startsWith("HTTP/1.1 2");
  say(isYes ? "tried" : "refused", answer.split("\r\n", 1).join(""));
  // Behind the answer 200 of a tunnel is whoever it leads to. What has just been sent shall arrive
  // before the connection is cut.
  socket.end(isYes && verb.startsWith("connect") ? token : "");
  setTimeout(() => socket.destroy(), 200);
});
