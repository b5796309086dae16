import { askDouble, sampleRequest } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { setUp, settled } from "../test/setup.js";

describe("createWebChannel()", () => {
  it("is named web, or as it is called", () => {
    const { inbox } = setUp();
    expect([inbox.channel().name, inbox.channel("web-night").name]).toEqual(["web", "web-night"]);
  });

  it.each(["", "Web", "9web", "we b"])("has no name %j", (name) => {
    expect(() => setUp().inbox.channel(name)).toThrow(
      expect.objectContaining({ code: "options_invalid" }),
    );
  });

  it("shows nothing, and says so, where none of the approvers signs in", async () => {
    const { ask, signedIn } = setUp();
    await expect(ask({ approvers: ["carol"] })).rejects.toMatchObject({
      code: "channel_unavailable",
    });
    await expect(ask({ approvers: [] })).rejects.toMatchObject({ code: "channel_unavailable" });
    expect(await (await (await signedIn()).events()).next()).toMatchObject({ data: { open: [] } });
  });

  it("shows what somebody here may answer later", async () => {
    const { ask } = setUp();
    await expect(
      ask({ approvers: ["ada"], escalation: [{ afterMs: 60_000, approvers: ["ada"] }] }),
    ).resolves.toBeDefined();
  });

  it("shows nothing after the inbox closed", async () => {
    const { inbox, ask } = setUp();
    await inbox.close();
    await expect(ask()).rejects.toMatchObject({ code: "channel_unavailable" });
  });

  it("does not take another gate's question for its own", async () => {
    const { inbox, ask } = setUp();
    const { request } = await ask();
    const other = askDouble(sampleRequest({ id: request.id }));
    await expect(inbox.channel().deliver(other.request, other.session)).rejects.toMatchObject({
      code: "channel_failed",
    });
  });

  it("takes the place of its question from before a restart", async () => {
    const { inbox, ask, signedIn } = setUp();
    const old = await ask();
    const again = askDouble(old.request, { redelivery: true });
    await inbox.channel().deliver(again.request, again.session);
    const page = await signedIn();
    const { ticket } = (
      await page.post("/api/answers/prepare", { request_id: old.request.id, decision: "denied" })
    ).body;
    await page.post("/api/answers", { ticket });
    await settled();
    expect([old.submissions.length, again.ending()?.status]).toEqual([0, "denied"]);
  });

  it("says who answered, as the gate knows them", async () => {
    const { ask, signedIn } = setUp({ people: [{ approver: "ada", subject: "ada@example.com" }] });
    const asked = await ask();
    const page = await signedIn();
    const { ticket } = (
      await page.post("/api/answers/prepare", {
        request_id: asked.request.id,
        decision: "approved",
      })
    ).body;
    await page.post("/api/answers", { ticket });
    expect(asked.submissions).toMatchObject([
      { subject: "ada@example.com", claim: { approver: { id: "ada", channel: "web" } } },
    ]);
  });
});
