import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { type Session, createSessions, hasKey } from "./session.js";

const ada = { approver: "ada", subject: "ada" };
const bob = { approver: "bob", subject: "bob" };
const HOUR_MS = 3_600_000;

const withCookie = (cookie: string): Request =>
  new Request("http://localhost/", { headers: { cookie } });
const valueOf = (cookie: string): string => cookie.split(";")[0] ?? "";
const make = (clock = manualClock()) => createSessions({ clock, isSecure: false });

describe("createSessions()", () => {
  it("finds a session by its cookie, however many others somebody planted", () => {
    const sessions = make();
    const { session, cookie } = sessions.start(ada);
    expect(sessions.find(withCookie(valueOf(cookie)))).toBe(session);
    const planted = Array.from(
      { length: 100 },
      (_, at) => `acp_inbox=planted${at}; acp_inbox_${at}=planted`,
    ).join("; ");
    expect(sessions.find(withCookie(`${planted}; ${valueOf(cookie)}`))).toBe(session);
  });

  it("has a cookie of a name that no other inbox has", () => {
    const names = [make(), make()].map((sessions) => sessions.start(ada).cookie.split("=")[0]);
    expect(new Set(names).size).toBe(2);
  });

  it.each(["", "acp_inbox=", "acp_inbox", "acp_inbox=x", "other=1", `acp_inbox=${"A".repeat(43)}`])(
    "finds none by %j",
    (cookie) => {
      const sessions = make();
      sessions.start(ada);
      expect(sessions.find(withCookie(cookie))).toBeUndefined();
    },
  );

  it("is found by no value that it keeps", () => {
    const sessions = make();
    const { session, key } = sessions.start(ada);
    for (const value of [
      key,
      Buffer.from(session.keyHash).toString("hex"),
      Buffer.from(session.keyHash).toString("base64url"),
    ])
      expect(
        sessions.find(withCookie(`${sessions.forgetting.split("=")[0] ?? ""}=${value}`)),
      ).toBeUndefined();
  });

  it("writes a cookie that no script and no other site's request gets", () => {
    expect(make().start(ada).cookie).toMatch(
      /^acp_inbox_[\w-]{22}=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const secure = createSessions({ clock: manualClock(), isSecure: true });
    expect(secure.start(ada).cookie).toMatch(/; Secure$/);
    expect(secure.forgetting).toMatch(
      /^acp_inbox_[\w-]{22}=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  it("ends a session after twelve hours, also where the wall clock went back", async () => {
    const clock = manualClock();
    const sessions = make(clock);
    const { session, cookie } = sessions.start(ada);
    clock.jump(-HOUR_MS);
    await clock.advance(12 * HOUR_MS - 1);
    expect(sessions.holds(session)).toBe(true);
    await clock.advance(1);
    expect(sessions.find(withCookie(valueOf(cookie)))).toBeUndefined();
    expect(sessions.holds(session)).toBe(false);
    expect(session.over.aborted).toBe(true);
  });

  it("ends the oldest of seventeen of one person", () => {
    const sessions = make();
    const others = sessions.start(bob).session;
    const [first, ...rest] = Array.from({ length: 17 }, () => sessions.start(ada).session);
    expect(first?.over.aborted).toBe(true);
    expect([...rest, others].every((each: Session) => sessions.holds(each))).toBe(true);
  });

  it("end() ends one; endAll() what a passkey signed in to, or all", () => {
    const sessions = make();
    const [one, byKey, other] = [
      sessions.start(ada).session,
      sessions.start(ada, "k1").session,
      sessions.start(bob).session,
    ];
    sessions.endAll("k1");
    expect([one, byKey, other].map((each) => sessions.holds(each))).toEqual([true, false, true]);
    sessions.end(one);
    expect([one, other].map((each) => sessions.holds(each))).toEqual([false, true]);
    sessions.endAll();
    expect(other.over.aborted).toBe(true);
  });

  it("remembers when a passkey was used, by its sign-in or later", async () => {
    const clock = manualClock();
    const sessions = make(clock);
    const [byCode, byKey] = [sessions.start(ada).session, sessions.start(ada, "k1").session];
    expect([byCode, byKey].map((each) => sessions.usedPasskey(each, 1_000))).toEqual([false, true]);
    await clock.advance(1_000);
    sessions.notePasskey(byCode);
    expect([byCode, byKey].map((each) => sessions.usedPasskey(each, 1_000))).toEqual([true, false]);
    sessions.end(byCode);
    sessions.notePasskey(byCode);
    expect(sessions.usedPasskey(byCode, 1_000)).toBe(false);
  });
});

describe("hasKey()", () => {
  it("takes the session's own key alone", () => {
    const sessions = make();
    const [one, other] = [sessions.start(ada), sessions.start(ada)];
    const withKey = (key: string): Request =>
      new Request("http://localhost/", { headers: { "x-acp-inbox": key } });
    expect(hasKey(withKey(one.key), one.session)).toBe(true);
    for (const key of [other.key, "1", "", valueOf(one.cookie).slice(one.cookie.indexOf("=") + 1)])
      expect(hasKey(withKey(key), one.session)).toBe(false);
    expect(hasKey(new Request("http://localhost/"), one.session)).toBe(false);
  });
});
