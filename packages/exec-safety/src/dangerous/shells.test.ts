import { expect, it } from "vitest";
import { fieldOf } from "./call.js";
import { shellProgram } from "./shells.js";

const fields = (texts: readonly string[]): Parameters<typeof shellProgram>[0] =>
  texts.map((text) => fieldOf(text, { start: 0, end: 0 }));

it.each([
  [["-c", "x"], { script: "x", readsInput: false }],
  [["-lc", "x", "a"], { script: "x", readsInput: false }],
  [["-c", "-x", "x"], { script: "x", readsInput: false }],
  [["-o", "pipefail", "-c", "x"], { script: "x", readsInput: false }],
  [["--norc", "-c", "x"], { script: "x", readsInput: false }],
  [["--rcfile", "r", "-c", "x"], { script: "x", readsInput: false }],
  [["+x", "a.sh"], { file: "a.sh", readsInput: false }],
  [["a.sh", "-c", "x"], { file: "a.sh", readsInput: false }],
  [["--", "a.sh"], { file: "a.sh", readsInput: false }],
  [[], { readsInput: true }],
  [["-"], { readsInput: true }],
  [["-x"], { readsInput: true }],
  [["-s", "a"], { readsInput: true }],
  [["-euo", "pipefail"], { readsInput: true }],
  [["/dev/stdin"], { readsInput: true }],
  [["/dev/fd/0", "a"], { readsInput: true }],
  [["--version"], { readsInput: false }],
])("shellProgram() reads %j", (texts, expected) => {
  const { script, file, readsInput } = shellProgram(fields(texts));
  expect({
    ...(script && { script: script.text }),
    ...(file && { file: file.text }),
    readsInput,
  }).toEqual(expected);
});
