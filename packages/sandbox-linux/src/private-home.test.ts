import { describe, expect, it } from "vitest";
import { createEnvSandbox } from "./env.js";
import { createLandlockSandbox } from "./landlock.js";
import { createPreloadSandbox } from "./preload.js";

describe("refuseCovered()", () => {
  it.each([createEnvSandbox, createLandlockSandbox, createPreloadSandbox])(
    "has covered places refused where none can be mounted (%o)",
    async (create) => {
      const sandbox = create({
        workspace: { path: "/srv", access: "read-write" },
        covered: ["/srv/.env"],
      });
      const options = { env: () => ({}), stdio: "pipe" } as const;
      await expect(sandbox.hold(["/bin/true"], options)).rejects.toMatchObject({
        code: "options_invalid",
        message: `Cannot cover "/srv/.env" in "${sandbox.name}": use namespace`,
      });
    },
  );
});
