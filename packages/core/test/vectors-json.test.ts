import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { canonicalJson, isConsentError, parseJson } from "../src/index.js";
import { describeVectors, tally, vectorBytes, vectorNames, vectorText } from "./vectors.js";

/** The code of the refusal, or the canonical text of the value. */
function outcome(bytes: Uint8Array): { readonly code?: string; readonly text?: string } {
  try {
    return { text: canonicalJson(parseJson(bytes)) };
  } catch (error) {
    if (isConsentError(error)) return { code: error.code };
    throw error;
  }
}

describeVectors("RFC 8785", "jcs", () => {
  it("canonicalJson() writes the bytes of every input/output pair", () => {
    const counted = tally();
    for (const name of vectorNames("jcs/input")) {
      const bytes = Buffer.from(canonicalJson(parseJson(vectorBytes(`jcs/input/${name}`))), "utf8");
      const hex = vectorText(`jcs/outhex/${name.replace(".json", ".txt")}`).replaceAll(/\s/g, "");
      const same = bytes.toString("hex") === hex && bytes.equals(vectorBytes(`jcs/output/${name}`));
      if (same) counted.pass();
      else counted.fail(name);
    }
    expect(counted.end("JCS input/output/outhex")).toEqual({ passed: 6, failed: [], excluded: {} });
  });

  it.each([
    ["es6testfile10k.txt.gz", 10_000],
    ["es6testfile100k.txt.gz", 100_000],
  ])("canonicalJson() writes every number of %s, and parseJson() reads it back", (file, count) => {
    const counted = tally();
    const view = new DataView(new ArrayBuffer(8));
    for (const line of gunzipSync(vectorBytes(`jcs/${file}`))
      .toString("ascii")
      .trimEnd()
      .split("\n")) {
      const [hex = "", text = ""] = line.split(",");
      view.setBigUint64(0, BigInt(`0x${hex}`));
      const number = view.getFloat64(0);
      const read = parseJson(text, { integers: "canonical" });
      if (canonicalJson(number) === text && read === number) counted.pass();
      else counted.fail(line);
    }
    expect(counted.end(`JCS numbers ${file}`)).toEqual({ passed: count, failed: [], excluded: {} });
  });
});

/** RFC 8259 leaves these to the reader; what we do is part of spec/canonical-json.md. */
const LEFT_OPEN: Readonly<Record<string, string>> = {
  "i_number_double_huge_neg_exp.json": "[0]",
  "i_number_huge_exp.json": "json_invalid",
  "i_number_neg_int_huge_exp.json": "json_invalid",
  "i_number_pos_double_huge_exp.json": "json_invalid",
  "i_number_real_neg_overflow.json": "json_invalid",
  "i_number_real_pos_overflow.json": "json_invalid",
  "i_number_real_underflow.json": "[0]",
  "i_number_too_big_neg_int.json": "json_unsafe_integer",
  "i_number_too_big_pos_int.json": "json_unsafe_integer",
  "i_number_very_big_negative_int.json": "json_unsafe_integer",
  "i_object_key_lone_2nd_surrogate.json": "json_lone_surrogate",
  "i_string_1st_surrogate_but_2nd_missing.json": "json_lone_surrogate",
  "i_string_1st_valid_surrogate_2nd_invalid.json": "json_lone_surrogate",
  "i_string_UTF-16LE_with_BOM.json": "json_invalid",
  "i_string_UTF-8_invalid_sequence.json": "json_invalid",
  "i_string_UTF8_surrogate_U+D800.json": "json_invalid",
  "i_string_incomplete_surrogate_and_escape_valid.json": "json_lone_surrogate",
  "i_string_incomplete_surrogate_pair.json": "json_lone_surrogate",
  "i_string_incomplete_surrogates_escape_valid.json": "json_lone_surrogate",
  "i_string_invalid_lonely_surrogate.json": "json_lone_surrogate",
  "i_string_invalid_surrogate.json": "json_lone_surrogate",
  "i_string_invalid_utf-8.json": "json_invalid",
  "i_string_inverted_surrogates_U+1D11E.json": "json_lone_surrogate",
  "i_string_iso_latin_1.json": "json_invalid",
  "i_string_lone_second_surrogate.json": "json_lone_surrogate",
  "i_string_lone_utf8_continuation_byte.json": "json_invalid",
  "i_string_not_in_unicode_range.json": "json_invalid",
  "i_string_overlong_sequence_2_bytes.json": "json_invalid",
  "i_string_overlong_sequence_6_bytes.json": "json_invalid",
  "i_string_overlong_sequence_6_bytes_null.json": "json_invalid",
  "i_string_truncated-utf-8.json": "json_invalid",
  "i_string_utf16BE_no_BOM.json": "json_invalid",
  "i_string_utf16LE_no_BOM.json": "json_invalid",
  "i_structure_500_nested_arrays.json": "json_too_deep",
  "i_structure_UTF-8_BOM_empty_object.json": "json_invalid",
};

const TRANSFORMED: Readonly<Record<string, string>> = {
  "number_-9223372036854775808.json": "json_unsafe_integer",
  "number_-9223372036854775809.json": "json_unsafe_integer",
  "number_1.0.json": "[1]",
  "number_1.000000000000000005.json": "[1]",
  "number_1000000000000000.json": "[1000000000000000]",
  "number_10000000000000000999.json": "json_unsafe_integer",
  "number_1e-999.json": "[0]",
  "number_1e6.json": "[1000000]",
  "number_9223372036854775807.json": "json_unsafe_integer",
  "number_9223372036854775808.json": "json_unsafe_integer",
  "object_key_nfc_nfd.json": '{"e\u0301":"NFD","\u00e9":"NFC"}',
  "object_key_nfd_nfc.json": '{"e\u0301":"NFD","\u00e9":"NFC"}',
  "object_same_key_different_values.json": "json_duplicate_key",
  "object_same_key_same_value.json": "json_duplicate_key",
  "object_same_key_unclear_values.json": "json_duplicate_key",
  "string_1_escaped_invalid_codepoint.json": "json_lone_surrogate",
  "string_1_invalid_codepoint.json": "json_invalid",
  "string_2_escaped_invalid_codepoints.json": "json_lone_surrogate",
  "string_2_invalid_codepoints.json": "json_invalid",
  "string_3_escaped_invalid_codepoints.json": "json_lone_surrogate",
  "string_3_invalid_codepoints.json": "json_invalid",
  "string_with_escaped_NULL.json": '["A\\u0000B"]',
};

const DUPLICATE_KEYS = ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"];

describeVectors("JSONTestSuite", "jsontestsuite", () => {
  const parsing = () =>
    vectorNames("jsontestsuite/test_parsing").map((name) => ({
      name,
      bytes: vectorBytes(`jsontestsuite/test_parsing/${name}`),
    }));

  it("parseJson() reads every valid text as JSON.parse does, but refuses duplicate keys", () => {
    const counted = tally();
    for (const { name, bytes } of parsing().filter((file) => file.name.startsWith("y_"))) {
      const { code, text } = outcome(bytes);
      if (DUPLICATE_KEYS.includes(name) && code === "json_duplicate_key")
        counted.exclude("valid by the grammar, refused here as json_duplicate_key");
      else if (
        code === undefined &&
        text === canonicalJson(JSON.parse(Buffer.from(bytes).toString("utf8")))
      )
        counted.pass();
      else counted.fail(`${name}: ${code ?? text ?? ""}`);
    }
    const excluded = { "valid by the grammar, refused here as json_duplicate_key": 2 };
    expect(counted.end("JSONTestSuite y_")).toEqual({ passed: 93, failed: [], excluded });
  });

  it("parseJson() refuses every invalid text", () => {
    const counted = tally();
    for (const { name, bytes } of parsing().filter((file) => file.name.startsWith("n_"))) {
      if (outcome(bytes).code === undefined) counted.fail(name);
      else counted.pass();
    }
    expect(counted.end("JSONTestSuite n_")).toEqual({ passed: 188, failed: [], excluded: {} });
  });

  it("parseJson() does what the specification says with what RFC 8259 leaves open", () => {
    const counted = tally();
    for (const { name, bytes } of parsing().filter((file) => file.name.startsWith("i_"))) {
      const { code, text } = outcome(bytes);
      if ((code ?? text) === LEFT_OPEN[name]) counted.pass();
      else counted.fail(`${name}: ${code ?? text ?? ""}`);
    }
    expect(counted.end("JSONTestSuite i_")).toEqual({ passed: 35, failed: [], excluded: {} });
  });

  it("parseJson() refuses what other readers silently transform", () => {
    const counted = tally();
    for (const name of vectorNames("jsontestsuite/test_transform")) {
      const { code, text } = outcome(vectorBytes(`jsontestsuite/test_transform/${name}`));
      if ((code ?? text) === TRANSFORMED[name]) counted.pass();
      else counted.fail(`${name}: ${code ?? text ?? ""}`);
    }
    expect(counted.end("JSONTestSuite transform")).toEqual({
      passed: 22,
      failed: [],
      excluded: {},
    });
  });
});
