/** The suite for sinks catches sinks with one fault each. */
import { auditSinkConformance, firstBroken, sinkMutants } from "@acp/testing";
import { expect, it } from "vitest";
import { memorySink } from "./memory-sink.js";

it("auditSinkConformance() passes the sink that the mutants are made from", async () => {
  expect(await firstBroken(auditSinkConformance(memorySink))).toBeUndefined();
});

it.each(sinkMutants.map((mutant) => [mutant.name, mutant] as const))(
  "auditSinkConformance() catches a sink that %s",
  async (_, mutant) => {
    expect(
      await firstBroken(auditSinkConformance(async () => mutant.mutate(await memorySink()))),
    ).toBeDefined();
  },
);
