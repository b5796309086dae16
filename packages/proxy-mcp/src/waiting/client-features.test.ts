import { describe, expect, it } from "vitest";
import { featuresOfRequest, featuresOfSession } from "./client-features.js";

const KEYS = "io.modelcontextprotocol/";
const request = (capabilities: unknown, version: unknown = "2026-07-28"): object => ({
  _meta: { [`${KEYS}protocolVersion`]: version, [`${KEYS}clientCapabilities`]: capabilities },
});

describe("featuresOfRequest()", () => {
  it.each([
    [{ elicitation: { url: {} } }, { url: true, tasks: false }],
    [{ extensions: { [`${KEYS}tasks`]: {} } }, { url: false, tasks: true }],
    [{ extensions: { [`${KEYS}tasks`]: true } }, { url: false, tasks: false }],
    [{ extensions: { [`${KEYS}ui`]: {} } }, { url: false, tasks: false }],
    [{ extensions: [] }, { url: false, tasks: false }],
    [{ elicitation: { url: "yes" } }, { url: false, tasks: false }],
    [{ elicitation: ["url"] }, { url: false, tasks: false }],
    [{}, { url: false, tasks: false }],
    [undefined, { url: false, tasks: false }],
  ])("reads %o", (capabilities, want) => {
    expect(featuresOfRequest(request(capabilities))).toEqual(want);
    expect(featuresOfRequest(request(capabilities, 1))).toEqual({ url: false, tasks: false });
  });
});

describe("featuresOfSession()", () => {
  it.each([
    ["2025-11-25", true],
    ["2026-03-01", true],
    ["2025-06-18", false],
    ["zzzz", false],
    [undefined, false],
    [20251125, false],
  ])("knows pages and tasks by the version %s", (protocolVersion, isNew) => {
    const params = { capabilities: { elicitation: { url: {} } } };
    const capabilities = { tasks: { requests: { tools: { call: {} } } } };
    const read = (asked: object, told: unknown): object =>
      featuresOfSession(asked, { protocolVersion, capabilities: told });
    expect(read(params, {})).toEqual({ url: isNew, tasks: false });
    expect(read({}, capabilities)).toEqual({ url: false, tasks: isNew });
    for (const told of [undefined, { tasks: {} }, { tasks: { requests: { tools: {} } } }])
      expect(read({}, told)).toEqual({ url: false, tasks: false });
    expect(featuresOfSession(params, undefined)).toEqual({ url: false, tasks: false });
  });
});
