/**
 * What goes wrong on the way between a hub and its people, with the real hub, gateway and shell.
 * Whatever happens: a command runs once for a yes that counted, and never otherwise.
 */
import type { Verdict } from "@acp/core";
import { describe, expect, it } from "vitest";
import { encodeMessage } from "../src/codec.js";
import { makeDeviceToken } from "../src/device-token.js";
import { createLossy } from "./support/lossy.js";
import { COMMAND, createScene, person } from "./support/scene.js";
import { openRaw, until, watch } from "./support/world.js";

const codeOf = (verdict: Verdict): string => (verdict.decision === "deny" ? verdict.code : "allow");

describe("nothing goes wrong", () => {
  it("runs what one person allows, once, and tells the others", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    using laptop = await person(scene, "laptop");
    const ends: unknown[] = [];
    laptop.inbox.onChange((change) => {
      if (change.type === "ended") ends.push(change.outcome);
    });
    const asked = scene.exec();
    await laptop.request();
    expect(await phone.request()).toMatchObject({
      command: COMMAND,
      agentId: "agent",
      riskLevel: "needs-review",
    });
    expect(await phone.answer("allow-once")).toBe("ok");
    expect(codeOf(await asked)).toBe("allow");
    expect(await scene.runs()).toBe(1);
    await until(() => expect(ends).toEqual(["allowed"]));
  });

  it("does not run what one person denies", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    const asked = scene.exec();
    expect(await phone.answer("deny")).toBe("ok");
    expect(codeOf(await asked)).toBe("consent_denied");
    expect(await scene.runs()).toBe(0);
  });
});

describe("a request that does not arrive", () => {
  it("is denied at once where no client is connected", async () => {
    await using scene = await createScene();
    expect(codeOf(await scene.exec())).toBe("channel_unavailable");
    expect(await scene.runs()).toBe(0);
  });

  it("is denied at once where the hub has lost its gateway", async () => {
    await using scene = await createScene();
    using _phone = await person(scene, "phone");
    const events = watch(scene.hubClient);
    await scene.world.stopGateway();
    await until(() => expect(events.map(({ type }) => type)).toContain("disconnected"));
    expect(codeOf(await scene.exec())).toBe("channel_unavailable");
    expect(await scene.runs()).toBe(0);
  });

  it("is denied where it is too long for a message, and not cut", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    const verdict = await scene.exec(`echo ${"x".repeat(100_001)}`);
    expect(verdict.decision).toBe("deny");
    expect(phone.inbox.open()).toEqual([]);
    expect(await scene.runs()).toBe(0);
  });

  it("expires where it is lost on the last stretch", async () => {
    await using scene = await createScene();
    await using lossy = await createLossy(scene.world.url);
    let lost = 0;
    lossy.weather = (direction, text) => {
      if (direction === "up" || !text.includes("exec-approval-request")) return [text];
      lost++;
      return [];
    };
    using phone = await person(scene, "phone", lossy);
    const asked = scene.exec();
    await until(() => expect(lost).toBe(1));
    await until(() =>
      expect(scene.audit.events().map(({ eventType }) => eventType)).toContain("consent_delivered"),
    );
    await scene.expire();
    expect(codeOf(await asked)).toBe("consent_expired");
    expect(phone.inbox.open()).toEqual([]);
    expect(await scene.runs()).toBe(0);
  });

  it("expires where its device reads nothing", async () => {
    await using scene = await createScene();
    const deaf = await scene.world.raw("phone");
    deaf.socket.pause();
    const asked = scene.exec();
    await until(() => expect(scene.hub.openApprovals()).toHaveLength(1));
    await until(() =>
      expect(scene.audit.events().map(({ eventType }) => eventType)).toContain("consent_delivered"),
    );
    await scene.expire();
    expect(codeOf(await asked)).toBe("consent_expired");
    expect(await scene.runs()).toBe(0);
  });
});

describe("an answer", () => {
  it("that is lost counts for nothing", async () => {
    await using scene = await createScene();
    await using lossy = await createLossy(scene.world.url);
    using phone = await person(scene, "phone", lossy);
    const asked = scene.exec();
    const { approvalId } = await phone.request();
    let lost = 0;
    lossy.weather = (direction, text) => {
      if (direction === "down") return [text];
      lost++;
      return [];
    };
    const unanswered = phone.client
      .request("hub", "resolveExecApproval", { approvalId, decision: "allow-once" })
      .catch((error: unknown) => error);
    await until(() => expect(lost).toBe(1));
    await scene.expire();
    expect(codeOf(await asked)).toBe("consent_expired");
    await phone.client.close();
    expect(await unanswered).toMatchObject({ code: "channel_unavailable" });
    expect(await scene.runs()).toBe(0);
  });

  it("whose reply is lost with the connection is answered again when the client is back, and counts once", async () => {
    await using scene = await createScene();
    await using lossy = await createLossy(scene.world.url);
    using phone = await person(scene, "phone", lossy);
    const asked = scene.exec();
    await phone.request();
    let replies = 0;
    lossy.weather = (direction, text) => {
      if (direction === "up" || !text.includes('"response"') || replies++ > 0) return [text];
      lossy.cut();
      return [];
    };
    expect(await phone.answer("allow-once")).toBe("ok");
    expect(replies).toBe(2);
    expect(codeOf(await asked)).toBe("allow");
    expect(await scene.runs()).toBe(1);
    expect(
      scene.audit.events().filter(({ eventType }) => eventType === "consent_approved"),
    ).toHaveLength(1);
  });

  it("that comes twice counts once", async () => {
    await using scene = await createScene();
    await using lossy = await createLossy(scene.world.url);
    lossy.weather = (direction, text) => (direction === "up" ? [text, text, text] : [text]);
    using phone = await person(scene, "phone", lossy);
    const asked = scene.exec();
    expect(await phone.answer("allow-once")).toBe("ok");
    expect(codeOf(await asked)).toBe("allow");
    expect(await scene.runs()).toBe(1);
    expect(
      scene.audit.events().filter(({ eventType }) => eventType === "consent_approved"),
    ).toHaveLength(1);
  });

  it("that is said again, as a new call, is NOT_FOUND", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    const asked = scene.exec();
    const { approvalId } = await phone.request();
    expect(await phone.answer("deny")).toBe("ok");
    expect(await phone.inbox.answer({ approvalId, decision: "allow-once" })).toEqual({
      ok: false,
      error: { code: "NOT_FOUND", message: "Approval request not found or already resolved" },
    });
    expect(codeOf(await asked)).toBe("consent_denied");
    expect(await scene.runs()).toBe(0);
  });

  it("that comes late is NOT_FOUND", async () => {
    await using scene = await createScene();
    await using lossy = await createLossy(scene.world.url);
    using phone = await person(scene, "phone", lossy);
    const asked = scene.exec();
    const { approvalId } = await phone.request();
    const held: string[] = [];
    lossy.weather = (direction, text) => {
      if (direction === "down") return [text];
      held.push(text);
      return [];
    };
    const answered = phone.inbox.answer({ approvalId, decision: "allow-once" });
    await until(() => expect(held).toHaveLength(1));
    await scene.expire();
    expect(codeOf(await asked)).toBe("consent_expired");
    lossy.deliver("up", held[0] ?? "");
    expect(await answered).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
    expect(await scene.runs()).toBe(0);
  });

  it.each([
    ["no JSON", '{"id":"m","from":"phone"'],
    ["another sender", "FORGED"],
    ["an unknown parameter", "PARAMETER"],
    ["a decision that is none", "DECISION"],
  ])("with %s counts for nothing", async (_name, kind) => {
    await using scene = await createScene();
    using laptop = await person(scene, "laptop");
    const device = await scene.world.raw("phone");
    const asked = scene.exec();
    const { approvalId } = await laptop.request();
    const say = (from: string, params: Record<string, string>): string =>
      encodeMessage({
        id: "m",
        from,
        to: "hub",
        action: "request",
        payload: { requestId: "r", method: "resolveExecApproval", params },
      });
    const texts: Readonly<Record<string, string>> = {
      FORGED: say("laptop", { approvalId, decision: "allow-once" }),
      PARAMETER: say("phone", { approvalId, decision: "allow-once", force: "yes" }),
      DECISION: say("phone", { approvalId, decision: "allow" }),
    };
    device.socket.send(texts[kind] ?? kind);
    if (kind === "PARAMETER" || kind === "DECISION")
      await until(() => expect(device.received.join("\n")).toContain("INVALID_PARAMS"));
    else expect([1007, 1008]).toContain((await device.closed).code);
    expect(scene.hub.openApprovals()).toHaveLength(1);
    await scene.expire();
    expect(codeOf(await asked)).toBe("consent_expired");
    expect(await scene.runs()).toBe(0);
  });

  it("of a device that is not asked is NOT_FOUND, though it knows the id", async () => {
    await using scene = await createScene({ clients: ["phone", "tablet"] });
    using phone = await person(scene, "phone");
    using tablet = await person(scene, "tablet");
    const asked = scene.exec();
    const { approvalId } = await phone.request();
    expect(await tablet.inbox.answer({ approvalId, decision: "allow-once" })).toMatchObject({
      ok: false,
      error: { code: "NOT_FOUND" },
    });
    expect(tablet.inbox.open()).toEqual([]);
    expect(await phone.answer("deny")).toBe("ok");
    expect(codeOf(await asked)).toBe("consent_denied");
    expect(await scene.runs()).toBe(0);
  });

  it("of a wrong token is not even heard", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    const asked = scene.exec();
    await phone.request();
    await expect(
      openRaw(scene.world.url, { authorization: `Bearer ${makeDeviceToken()}` }),
    ).rejects.toThrow("status 401");
    await scene.expire();
    expect(codeOf(await asked)).toBe("consent_expired");
    expect(await scene.runs()).toBe(0);
  });

  it("for a request that there is not is NOT_FOUND", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    for (const approvalId of ["x", "", "019444a0-1234-7abc-8000-abcdef123456"]) {
      expect(await phone.inbox.answer({ approvalId, decision: "allow-once" })).toMatchObject({
        ok: false,
        error: { code: "NOT_FOUND" },
      });
    }
  });

  it("of two people at once: exactly one counts, 20 times", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    using laptop = await person(scene, "laptop");
    let allowed = 0;
    for (let round = 0; round < 20; round++) {
      const asked = scene.exec();
      const [one, other] = await Promise.all([phone.request(), laptop.request()]);
      expect(one.approvalId).toBe(other.approvalId);
      const answers = await Promise.all([phone.answer("allow-once"), laptop.answer("deny")]);
      expect([...answers].sort()).toEqual(["NOT_FOUND", "ok"]);
      const isAllowed = answers[0] === "ok";
      expect(codeOf(await asked)).toBe(isAllowed ? "allow" : "consent_denied");
      if (isAllowed) allowed++;
      expect(await scene.runs()).toBe(allowed);
      await until(() => expect([...phone.inbox.open(), ...laptop.inbox.open()]).toEqual([]));
    }
  });
});

describe("while a request is open", () => {
  it("a client that leaves and comes back gets it again, and its answer counts once", async () => {
    await using scene = await createScene();
    await using lossy = await createLossy(scene.world.url);
    using phone = await person(scene, "phone", lossy);
    const asked = scene.exec();
    const { approvalId } = await phone.request();
    let again = 0;
    lossy.weather = (direction, text) => {
      if (direction === "down" && text.includes(approvalId)) again++;
      return [text];
    };
    lossy.cut();
    await until(() => expect(again).toBe(1));
    expect(phone.inbox.open()).toHaveLength(1);
    expect(await phone.answer("allow-once")).toBe("ok");
    expect(codeOf(await asked)).toBe("allow");
    expect(await scene.runs()).toBe(1);
  });

  it("a client that comes first now gets it too", async () => {
    await using scene = await createScene();
    using _phone = await person(scene, "phone");
    const asked = scene.exec();
    await until(() => expect(scene.hub.openApprovals()).toHaveLength(1));
    using laptop = await person(scene, "laptop");
    expect(await laptop.answer("deny")).toBe("ok");
    expect(codeOf(await asked)).toBe("consent_denied");
  });

  it("a device that is not asked is shown nothing when it comes", async () => {
    await using scene = await createScene({ clients: ["phone", "laptop", "tablet"] });
    using phone = await person(scene, "phone");
    const asked = scene.exec();
    const { approvalId } = await phone.request();
    const tablet = await scene.world.raw("tablet");
    using laptop = await person(scene, "laptop");
    // The laptop came later, and has it by now.
    await laptop.request();
    expect(tablet.received.join("\n")).not.toContain(approvalId);
    expect(await phone.answer("deny")).toBe("ok");
    expect(codeOf(await asked)).toBe("consent_denied");
  });

  it("a client that leaves for good leaves it to its time", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    const asked = scene.exec();
    await phone.request();
    await phone.client.close();
    await scene.expire();
    expect(codeOf(await asked)).toBe("consent_expired");
    expect(await scene.runs()).toBe(0);
  });

  it("the gateway may be replaced: everybody comes back, and the answer counts", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    const asked = scene.exec();
    await phone.request();
    await scene.world.restart();
    expect(await phone.answer("allow-once")).toBe("ok");
    expect(codeOf(await asked)).toBe("allow");
    expect(await scene.runs()).toBe(1);
  });

  it("a hub that closes takes it back, and tells", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    const ends: unknown[] = [];
    phone.inbox.onChange((change) => {
      if (change.type === "ended") ends.push(change.outcome);
    });
    const asked = scene.exec();
    await phone.request();
    await scene.hub.close();
    expect((await asked).decision).toBe("deny");
    await until(() => expect(ends).toEqual(["cancelled"]));
    expect(await scene.runs()).toBe(0);
  });

  it("an agent that is closed takes its requests back", async () => {
    await using scene = await createScene();
    using phone = await person(scene, "phone");
    const asked = scene.exec();
    const { approvalId } = await phone.request();
    expect(await scene.hub.cancelPending("agent")).toBe(1);
    expect(codeOf(await asked)).toBe("consent_cancelled");
    expect(await phone.inbox.answer({ approvalId, decision: "allow-once" })).toMatchObject({
      ok: false,
      error: { code: "NOT_FOUND" },
    });
    expect(await scene.runs()).toBe(0);
  });
});
