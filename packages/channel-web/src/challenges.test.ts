import { manualClock } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { challengeOf, createChallenges } from "./challenges.js";

const [PURPOSE, OTHER] = [{ purpose: "one" }, { purpose: "one" }];

describe("createChallenges()", () => {
  it("takes a challenge once, for what it was made for", () => {
    const challenges = createChallenges(manualClock());
    const challenge = challenges.make(PURPOSE);
    expect(Buffer.from(challenge, "base64url")).toHaveLength(32);
    expect(challenges.take(challenge, OTHER)).toBe(false);
    expect(challenges.take(challenge, PURPOSE)).toBe(true);
    expect(challenges.take(challenge, PURPOSE)).toBe(false);
    expect(challenges.take("x", PURPOSE)).toBe(false);
  });

  it("takes it for two minutes", async () => {
    const clock = manualClock();
    const challenges = createChallenges(clock);
    const [one, other] = [challenges.make(PURPOSE), challenges.make(PURPOSE)];
    await clock.advance(119_999);
    expect(challenges.take(one, PURPOSE)).toBe(true);
    await clock.advance(1);
    expect(challenges.take(other, PURPOSE)).toBe(false);
  });

  it("keeps the newest thousand", () => {
    const challenges = createChallenges(manualClock());
    const made = Array.from({ length: 1_001 }, () => challenges.make(PURPOSE));
    expect(challenges.take(made[0] ?? "", PURPOSE)).toBe(false);
    expect(made.slice(1).every((challenge) => challenges.take(challenge, PURPOSE))).toBe(true);
  });

  it("takes none after clear()", () => {
    const challenges = createChallenges(manualClock());
    const challenge = challenges.make(PURPOSE);
    challenges.clear();
    expect(challenges.take(challenge, PURPOSE)).toBe(false);
  });
});

describe("challengeOf()", () => {
  const said = (text: string) => ({
    response: { clientDataJSON: Buffer.from(text).toString("base64url") },
  });

  it("reads what the browser says", () => {
    expect(challengeOf(said(`{"type":"webauthn.get","challenge":"abc"}`))).toBe("abc");
  });

  it.each([
    ["nothing", {}],
    ["no object", { response: "x" }],
    ["no text", { response: { clientDataJSON: 1 } }],
    ["no JSON", said("{")],
    ["a list", said("[]")],
    ["another type", said(`{"challenge":1}`)],
    ["a key twice", said(`{"challenge":"a","challenge":"b"}`)],
    ["too much", said(`{"challenge":"a","b":"${"x".repeat(9_000)}"}`)],
  ])("reads none from %s", (_what, answer) => {
    expect(challengeOf(answer)).toBeUndefined();
  });
});
