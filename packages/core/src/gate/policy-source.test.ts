import { describe, expect, it } from "vitest";
import { agent, allowAll, denyAll, makeKit } from "../../test/gate-kit.js";
import { toolAction } from "../index.js";
import { parsePolicy, rules } from "../policy.js";

const write = toolAction("files", "write_file", { path: "a.txt" });
const plain = { version: "1", default_action: "allow" };
/** What looks like a policy in every member. */
const forged = { ...allowAll };

const NOT_COMPILED: readonly (readonly [string, unknown, string])[] = [
  ["a plain object", plain, "is a plain object; compile it with parsePolicy()"],
  ["the text of one", "default: allow", "read it with readPolicy()"],
  ["a promise of one", Promise.resolve(allowAll), "is a promise"],
  ["a copy of a compiled one", forged, "was not made by parsePolicy()"],
  ["an object that inherits from one", Object.create(allowAll), "was not made by parsePolicy()"],
  ["null", null, "is null"],
  ["a number", 1, "is a number"],
];

describe("the policy of a gate", () => {
  it.each(NOT_COMPILED)("is refused at once where it is %s", (_, policy, why) => {
    const refused = expect.objectContaining({
      code: "options_invalid",
      message: expect.stringContaining(why),
    });
    expect(() => makeKit({ policy: policy as never })).toThrow(refused);
    expect(() => makeKit({ observe: policy as never })).toThrow(refused);
  });

  it.each(NOT_COMPILED)(
    "denies with policy_failed where a function gives %s",
    async (_, policy, why) => {
      const { gate } = makeKit({ policy: () => policy as never });
      expect(await gate(write, { agent })).toMatchObject({
        code: "policy_failed",
        reason: expect.stringContaining(why),
      });
      const observing = makeKit({ policy: allowAll, observe: () => policy as never });
      expect(await observing.gate(write, { agent })).toMatchObject({ code: "policy_failed" });
    },
  );

  it("may change while the gate runs, and be none: then nothing is allowed", async () => {
    let policy: typeof allowAll | undefined = allowAll;
    const { gate } = makeKit({ policy: () => policy as never });
    expect(await gate(write, { agent })).toMatchObject({ decision: "allow" });
    policy = denyAll;
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_denied" });
    policy = undefined;
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_denied" });
  });

  it("may be one layer among others", async () => {
    const { gate } = makeKit({
      policy: allowAll,
      layers: [
        rules(
          parsePolicy({ version: "1", rules: [{ match: { tool: "write_*" }, action: "deny" }] }),
        ),
      ],
    });
    expect(await gate(write, { agent })).toMatchObject({ code: "policy_denied" });
  });
});
