// The order of test files: what takes the most CPU time in the deep lane begins first, so that no
// long file runs by itself at the end. The rest keeps Vitest's order.
import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";
import { costOf } from "./lanes.mjs";

/** Vitest takes a class here. */
export class DearFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const cost = ({ moduleId }: TestSpecification): number =>
      costOf(relative(this.ctx.config.root, moduleId));
    return sorted.toSorted((a, b) => cost(b) - cost(a));
  }
}
