import { expect, it } from "vitest";
import { ALLOW_ALL, proxied, scripted } from "./support/proxied.js";

const KEY = "file:///home/ada/.acp/keys/private.key";
const screen = (method: string, params: object): string | undefined =>
  JSON.stringify(params).includes(".acp") ? `${method} is closed` : undefined;

it.each([
  ["one server", [{ name: "fs", command: scripted() }]],
  ["several", ["fs", "more"].map((name) => ({ name, command: scripted({ name }) }))],
])(
  "refuses a resource that the host closes, and passes on the others: %s",
  async (_, upstreams) => {
    const p = proxied({ policy: ALLOW_ALL, upstreams, screen });
    await p.client.handshake();
    for (const method of ["resources/read", "resources/subscribe", "anything/else"]) {
      const { error } = await p.client.request(`no-${method}`, method, { uri: KEY });
      expect(error).toMatchObject({
        code: -32600,
        message: `Cannot pass on "${method}": ${method} is closed`,
      });
    }
    const { result } = await p.client.request("yes", "tools/list", {});
    expect(result).toBeDefined();
    await p.proxy.close();
  },
);

it("refuses what its host cannot look at", async () => {
  const p = proxied({
    policy: ALLOW_ALL,
    screen: () => {
      throw new Error("broken");
    },
  });
  await p.client.handshake().catch(() => {});
  const { error } = await p.client.request("r", "resources/read", { uri: "fs://doc" });
  expect(error?.message).toContain("could not be inspected");
  await p.proxy.close();
});
