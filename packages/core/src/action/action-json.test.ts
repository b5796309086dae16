import { describe, expect, it } from "vitest";
import { actionToJson, parametersOf, parseAction, withParameters } from "./action-json.js";
import { httpAction, isAction, shellAction, toolAction } from "./action.js";
import type { Action } from "./action.js";
import { actionDigest } from "./digest.js";
import type { ConsentErrorCode } from "../errors.js";

const refusal = (code: ConsentErrorCode): unknown => expect.objectContaining({ code });
const tool = toolAction("files", "write", { path: "a" });
const request = httpAction("POST", "https://a.example/x", { headers: { "x-key": "{{secret:K}}" } });
const tunnel = httpAction("CONNECT", "a.example:443");
const command = shellAction("ls -l", { cwd: "/work", shell: "/bin/sh" });

describe("parseAction()", () => {
  it("parseAction() returns an Action as it is", () => {
    expect(parseAction(tool)).toBe(tool);
  });

  it("parseAction() makes an Action of its own from a copy", () => {
    const copy = { ...tool };
    const parsed = parseAction(copy);
    expect(parsed).not.toBe(copy);
    expect(isAction(parsed)).toBe(true);
    expect(actionDigest(parsed)).toBe(actionDigest(tool));
  });

  it.each<[string, unknown, ConsentErrorCode]>([
    ["undefined", undefined, "json_not_data"],
    ["a function", () => tool, "json_not_data"],
    [
      "a getter",
      Object.defineProperty({ name: "t", args: {} }, "meta", {
        get: () => tool.meta,
        enumerable: true,
      }),
      "json_not_data",
    ],
    ["a symbol key", { ...tool, [Symbol("s")]: 1 }, "json_not_data"],
    ["something inherited", Object.create(tool), "json_not_data"],
  ])("parseAction() refuses %s", (_, value, code) => {
    expect(() => parseAction(value)).toThrow(refusal(code));
  });
});

describe("actionToJson() and parametersOf()", () => {
  it.each<Action>([tool, request, tunnel, command])(
    "actionToJson() and parametersOf() leave nothing of %j out",
    (action) => {
      expect(actionDigest(parseAction(actionToJson(action)))).toBe(actionDigest(action));
      expect(actionDigest(withParameters(action, parametersOf(action).parameters))).toBe(
        actionDigest(action),
      );
    },
  );
});

describe("withParameters()", () => {
  it("withParameters() replaces a tool call's arguments as a whole and keeps its tool and server", () => {
    expect(withParameters(tool, { content: "x" })).toEqual(
      toolAction("files", "write", { content: "x" }),
    );
  });

  it("withParameters() edits a request, normalised", () => {
    const edited = withParameters(request, {
      method: "put",
      url: "https://B.example:8443/y",
      host: "B.example.",
      port: 8443,
    });
    expect(edited).toEqual(httpAction("PUT", "https://b.example:8443/y"));
  });

  it("withParameters() edits a tunnel and a command", () => {
    expect(withParameters(tunnel, { method: "CONNECT", host: "b.example", port: 8443 })).toEqual(
      httpAction("CONNECT", "b.example:8443"),
    );
    expect(withParameters(command, { command: "ls; pwd" })).toEqual(shellAction("ls; pwd"));
  });

  it.each<[string, Action, unknown]>([
    ["what is not an object", tool, null],
    ["a list", tool, [1]],
    ["what is not JSON", tool, { path: undefined }],
    ["an unpaired surrogate", tool, { path: "\ud800" }],
    [
      "a host that is not the URL's",
      request,
      { method: "POST", url: "https://b.example/", host: "a.example", port: 443 },
    ],
    [
      "a port that is not the URL's",
      request,
      { method: "POST", url: "https://a.example:8443/", host: "a.example", port: 443 },
    ],
    ["no host beside the URL", request, { method: "POST", url: "https://a.example/", port: 443 }],
    ["no method", request, { url: "https://a.example/", host: "a.example", port: 443 }],
    ["a bad host", request, { method: "POST", url: "https://a b/", host: "a b", port: 443 }],
    [
      "an unknown key",
      request,
      { method: "POST", url: "https://a.example/", host: "a.example", port: 443, body: "x" },
    ],
    [
      "a header without a placeholder",
      request,
      {
        method: "POST",
        url: "https://a.example/",
        host: "a.example",
        port: 443,
        headers: { a: "b" },
      },
    ],
    [
      "a tunnel in place of a request",
      request,
      { method: "CONNECT", host: "a.example", port: 443 },
    ],
    [
      "a request in place of a tunnel",
      tunnel,
      { method: "GET", url: "https://a.example/", host: "a.example", port: 443 },
    ],
    [
      "a URL in a tunnel",
      tunnel,
      { method: "CONNECT", url: "https://a.example/", host: "a.example", port: 443 },
    ],
    ["no command", command, { cwd: "/work" }],
    ["a command that is empty", command, { command: "" }],
    ["an unknown key of a command", command, { command: "ls", env: {} }],
  ])("withParameters() refuses %s", (_, action, parameters) => {
    expect(() => withParameters(action, parameters)).toThrow(refusal("action_invalid"));
  });

  it("withParameters() refuses to edit what no constructor made", () => {
    expect(() => withParameters({ ...tool }, { path: "b" })).toThrow(refusal("action_invalid"));
  });

  it("withParameters() names the deeper cause", () => {
    const host = { method: "CONNECT", host: "a b", port: 1 };
    expect(() => withParameters(tunnel, host)).toThrow(
      expect.objectContaining({ cause: refusal("host_invalid") }),
    );
  });
});
