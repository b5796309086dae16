import { memoryStore, type Store } from "@acp/core";
import { expect, it } from "vitest";
import { storeConformance } from "../store-conformance.js";
import { firstBroken } from "./mutant.js";
import { storeMutants } from "./store-mutants.js";

it("storeConformance() passes the store that the mutants are made from", async () => {
  expect(await firstBroken(storeConformance(memoryStore))).toBeUndefined();
});

it.each(storeMutants.map((mutant) => [mutant.name, mutant] as const))(
  "storeConformance() catches a store that %s",
  async (_, mutant) => {
    expect(
      await firstBroken(
        storeConformance((clock): Store => mutant.mutate(memoryStore(clock)), {
          patienceMs: 2_000,
        }),
      ),
    ).toBeDefined();
  },
);
