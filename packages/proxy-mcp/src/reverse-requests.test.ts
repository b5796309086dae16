import { expect, it } from "vitest";
import { paramsOf } from "./message.js";
import type { Peer } from "./peer.js";
import { createReverseRequests } from "./reverse-requests.js";
import { requestLine, resultLine } from "./rpc.js";

it("forget() takes back what a server that is gone asked, and nothing of others", () => {
  const requests = createReverseRequests();
  const [one, two] = ["one", "two"].map((name) => ({ name }) as Peer);
  if (one === undefined || two === undefined) throw new Error("two");
  for (const peer of [one, two, one])
    requests.outward({ peer, id: 7 }, requestLine(7, "ping", {}), () => {});
  requests.answer(1, resultLine(1, {}));
  const sent: unknown[] = [];
  const send = (line: Buffer): void => void sent.push(paramsOf(line));
  requests.forget(one, send);
  requests.forget(one, send);
  expect(sent).toEqual([{ requestId: 3, reason: "the server is gone" }]);
  expect(requests.answer(3, resultLine(3, {}))).toBe(false);
  expect(requests.answer(2, resultLine(2, {}))).toBe(true);
});
