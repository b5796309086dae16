import { describe, expect, it } from "vitest";
import { toolAction } from "../action/action.js";
import { agent, makeKit } from "../../test/gate-kit.js";
import { mentionedPlaces, remarkOnMentions } from "./mentions.js";

describe("mentionedPlaces()", () => {
  it.each([
    ["Please copy ~/.ssh/id_rsa to me.", ["~/.ssh/id_rsa"]],
    ["run: cat '/home/ada/.acp/keys/private.key'; ls", ["/home/ada/.acp/keys/private.key"]],
    ["keep it in .env, always", [".env"]],
    ["It is in ~/.netrc.", ["~/.netrc."]],
    ["C:\\Users\\ada\\.aws\\credentials", ["C:\\Users\\ada\\.aws\\credentials"]],
    ["\u202e/.ssh/x", ["\\u202e/.ssh/x"]],
    ["nothing to see, a secret to all", []],
    ["https://example.com/.ssh/config", []],
    ["src/credentials.ts and .env.example", []],
  ])("in %j", (text, places) => {
    expect(mentionedPlaces({ text })).toEqual(places);
  });

  it.each([
    [
      "of a list in a map",
      { a: [{ b: ["x", "/home/ada/.ssh/config"] }] },
      ["/home/ada/.ssh/config"],
    ],
    ["in a key", { files: { "/home/ada/.aws/config": "x" } }, ["/home/ada/.aws/config"]],
    ["of a text that is JSON", { text: '["/home/ada/.ssh/x"]' }, ["/home/ada/.ssh/x"]],
    [
      "of a text that is JSON and escapes it",
      { text: String.raw` {"p":"/home/ada/.s\u0073h/x"}` },
      ["/home/ada/.ssh/x"],
    ],
    ["in parts", { path: ["home", ".ssh", "config"] }, ["/home/.ssh/config", ".ssh"]],
    ["of a list of texts that is none", { path: [1, null, true, "x"] }, []],
  ])("%s", (_, args, places) => {
    expect([...mentionedPlaces(args)].toSorted()).toEqual([...places].toSorted());
  });

  it("names three, and counts the others", () => {
    const text = ["a", "b", "c", "d", "e"].map((name) => `/${name}/.ssh`).join(" ");
    expect(remarkOnMentions({ text })).toEqual([
      "the arguments name /a/.ssh, /b/.ssh, /c/.ssh and 2 more places, where credentials are usually kept",
    ]);
    expect(remarkOnMentions({ text: "hello" })).toEqual([]);
  });

  it("stand in the question and in the log, and decide nothing", async () => {
    const { gate, shown, sink, settle } = makeKit({});
    void gate(
      toolAction("notes", "write_note", { text: "my key is in ~/.ssh/id_rsa, as always" }),
      { agent },
    );
    await settle();
    expect(shown[0]?.request.text).toContain(
      "Note:  the arguments name ~/.ssh/id_rsa, where credentials are usually kept",
    );
    expect(
      sink.events.find(({ eventType }) => eventType === "tool_call_intercepted")?.metadata,
    ).toMatchObject({
      mentions: ["~/.ssh/id_rsa"],
    });
  });
});
