/** What the fixture's tools, prompts and resources say: the texts that the suite looks for. */
import { deflateSync } from "node:zlib";
import type { CallToolResult, ContentBlock, JSONObject } from "@modelcontextprotocol/server";

/** One pixel, as small as a picture can be. */
export const PICTURE: string = Buffer.concat([
  Buffer.from("89504e470d0a1a0a", "hex"),
  chunk("IHDR", Buffer.from("00000001000000010802000000", "hex")),
  chunk("IDAT", deflateSync(Buffer.from([0, 255, 0, 0]))),
  chunk("IEND", Buffer.alloc(0)),
]).toString("base64");

/** A WAV file without a sample. */
export const SOUND: string = Buffer.concat([
  Buffer.from("RIFF"),
  Buffer.from([36, 0, 0, 0]),
  Buffer.from("WAVEfmt "),
  Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 64, 31, 0, 0, 64, 31, 0, 0, 1, 0, 8, 0]),
  Buffer.from("data"),
  Buffer.alloc(4),
]).toString("base64");

export const text = (value: string): ContentBlock => ({ type: "text", text: value });
export const says = (...content: readonly ContentBlock[]): CallToolResult => ({
  content: [...content],
});
export const embedded = (uri: string, mimeType: string, value: string): ContentBlock => ({
  type: "resource",
  resource: { uri, mimeType, text: value },
});
export const picture: ContentBlock = { type: "image", data: PICTURE, mimeType: "image/png" };

/** A schema with what readers of schemas like to lose (SEP-1613, SEP-2106). */
export const WIDE_SCHEMA: JSONObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Defaults of every simple type (SEP-1034). */
export const DEFAULTS = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
} as const;

const titled = (noun: string): { const: string; title: string }[] =>
  ["First", "Second", "Third"].map((nth, index) => ({
    const: `value${index + 1}`,
    title: `${nth} ${noun}`,
  }));

/** Choices in all five ways to write them (SEP-1330). */
export const CHOICES = {
  untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
  titledSingle: { type: "string", oneOf: titled("Option") },
  legacyEnum: {
    type: "string",
    enum: ["opt1", "opt2", "opt3"],
    enumNames: ["Option One", "Option Two", "Option Three"],
  },
  untitledMulti: {
    type: "array",
    items: { type: "string", enum: ["option1", "option2", "option3"] },
  },
  titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
} as const;

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}

/** CRC-32 as PNG has it; Node has one of its own from 22.2 on. */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
