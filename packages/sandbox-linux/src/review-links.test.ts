import { describe, expect, it } from "vitest";
import { leadsOut } from "./review-links.js";

const LINKS: Readonly<Record<string, string>> = {
  in: "folder/file",
  up: "../etc/passwd",
  "folder/up": "../file",
  "folder/out": "../../file",
  absolute: "/etc/passwd",
  own: "/w/folder/file",
  beside: "/w2/file",
  dots: "/w/../etc",
  out: "/home",
  through: "out/me",
  chain: "through",
  loop: "loop",
  top: "/w",
  "pkg/bin": "../store/real/bin.js",
  hop: "folder/up/../../x",
};

describe("leadsOut()", () => {
  it.each([
    ["in", false],
    ["folder/up", false],
    ["own", false],
    ["top", false],
    ["pkg/bin", false],
    ["up", true],
    ["folder/out", true],
    ["absolute", true],
    ["beside", true],
    ["dots", true],
    ["through", true],
    ["chain", true],
    ["loop", true],
    ["hop", true],
  ])("of %s is %s", (path, expected) => {
    expect(leadsOut(path, { workspace: "/w", targetOf: (each) => LINKS[each] })).toBe(expected);
  });
});
