import { describe, expect, it } from "vitest";
import { setUp, settled } from "../test/setup.js";

describe("GET /api/history", () => {
  it("tells what ended, newest first, up to the limit", async () => {
    const { ask, signedIn, clock } = setUp();
    const page = await signedIn();
    const asked = [await ask(), await ask()];
    for (const { request, end } of asked) {
      const { ticket } = (
        await page.post("/api/answers/prepare", { request_id: request.id, decision: "denied" })
      ).body;
      await page.post("/api/answers", { ticket });
      end({ status: "denied", reason: "" });
      await settled();
      await clock.advance(1);
    }
    const { body } = await page.get("/api/history");
    expect(body.entries.map(({ request }) => request.id)).toEqual(
      asked.map(({ request }) => request.id).toReversed(),
    );
    expect(body.entries[0]).toMatchObject({
      status: "denied",
      approvers: ["ada"],
      responses: [{ decision: "denied", approver: { id: "ada" } }],
    });
    expect((await page.get("/api/history?limit=1")).body.entries).toHaveLength(1);
  });

  it.each(["0", "501", "-1", "1e2", "x", "", "%20", "99999"])(
    "refuses the limit %j",
    async (limit) => {
      const page = await setUp().signedIn();
      expect(await page.get(`/api/history?limit=${limit}`)).toMatchObject({
        status: 400,
        body: { code: "query_invalid" },
      });
    },
  );

  it("says that it cannot be read", async () => {
    const { signedIn, warnings } = setUp({
      history: async () => Promise.reject(new Error("no log")),
    });
    expect(await (await signedIn()).get("/api/history")).toMatchObject({
      status: 503,
      body: { code: "history_unavailable" },
    });
    expect(warnings.join()).toContain("no log");
  });
});
