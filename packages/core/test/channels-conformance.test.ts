/** Channels that are made of others are channels: they pass what every channel passes. */
import { type ChannelUnderTest, channelConformance } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { escalate, firstOf, toAll } from "../src/channels.js";
import type { Channel } from "../src/index.js";
import { type MemoryChannel, memoryChannel } from "./memory-channel.js";

/**
 * The person is at `person`; the others are channels of theirs that show nothing, or show it too.
 */
function underTest(
  person: MemoryChannel,
  others: readonly MemoryChannel[],
  channel: Channel,
): ChannelUnderTest {
  return {
    channel,
    shown: async () => [...person.shown.keys()],
    answer: async (id, kind) => void (await person.answer(id, kind)),
    async breakTransport() {
      for (const each of [person, ...others]) each.mode = "fails";
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

const OPTIONS = {
  kinds: ["approve", "deny", "confirm", "wrong_nonce", "stranger"],
  knownAs: "person",
} as const;

const kinds: readonly (readonly [string, () => ChannelUnderTest])[] = [
  [
    "firstOf() with one that fails in front",
    () => {
      const [down, person] = [memoryChannel("down"), memoryChannel("person")];
      down.mode = "fails";
      return underTest(person, [down], firstOf(down, person));
    },
  ],
  [
    "toAll()",
    () => {
      const [person, other] = [memoryChannel("person"), memoryChannel("other")];
      return underTest(person, [other], toAll(other, person));
    },
  ],
  [
    "escalate()",
    () => {
      const [person, later] = [memoryChannel("person"), memoryChannel("later")];
      return underTest(
        person,
        [later],
        escalate([{ channel: person }, { channel: later, afterMs: 30_000 }]),
      );
    },
  ],
  [
    "escalate() of toAll() of firstOf(), whose first stage fails",
    () => {
      const [person, down, other] = [
        memoryChannel("person"),
        memoryChannel("down"),
        memoryChannel("other"),
      ];
      down.mode = "is alone";
      const stages = [
        { channel: down },
        { channel: toAll(other, firstOf(down, person)), afterMs: 30_000 },
      ];
      return underTest(person, [down, other], escalate(stages));
    },
  ],
];

describe.each(kinds)("%s: conformance", (_name, make) => {
  it.each(
    channelConformance(async () => make(), OPTIONS).map((each) => [each.name, each] as const),
  )("%s", async (_case, each) => {
    await expect(each.run()).resolves.toBeUndefined();
  });
});
