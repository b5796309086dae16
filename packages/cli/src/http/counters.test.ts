import { describe, expect, it } from "vitest";
import { createCounters, serveCounters } from "./counters.js";

describe("createCounters()", () => {
  it("adds up by name and labels, and writes what Prometheus reads", () => {
    const counters = createCounters();
    counters.count({ name: "requests", by: 1, labels: { outcome: "performed" } });
    counters.count({ name: "requests", by: 2, labels: { outcome: "performed" } });
    counters.count({ name: "requests", by: 1, labels: { outcome: "refused" } });
    counters.count({ name: "bytes_up", by: 12, labels: {} });
    expect(counters.render()).toBe(
      [
        "# HELP acp_http_requests_total Requests other than CONNECT",
        "# TYPE acp_http_requests_total counter",
        'acp_http_requests_total{outcome="performed"} 3',
        'acp_http_requests_total{outcome="refused"} 1',
        "# HELP acp_http_bytes_up_total Bytes from agents to hosts",
        "# TYPE acp_http_bytes_up_total counter",
        "acp_http_bytes_up_total 12",
        "",
      ].join("\n"),
    );
  });

  it("writes no label that could end its line or its quotes", () => {
    const counters = createCounters();
    counters.count({ name: "refusals", by: 1, labels: { code: 'a"\n\\b' } });
    expect(counters.render()).toContain('acp_http_refusals_total{code="a___b"} 1\n');
  });
});

describe("serveCounters()", () => {
  it("answers GET /metrics and nothing else, and says so where its port is taken", async () => {
    const counters = createCounters();
    counters.count({ name: "connections", by: 1, labels: { kind: "accepted" } });
    await using served = await serveCounters(counters, 0);
    const url = `http://127.0.0.1:${served.port}/metrics`;
    const answer = await fetch(url);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await answer.text()).toBe(counters.render());
    expect((await fetch(url, { method: "POST" })).status).toBe(404);
    await expect(serveCounters(counters, served.port)).rejects.toMatchObject({
      code: "options_invalid",
    });
  });
});
