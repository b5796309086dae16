import { describe, expect, it } from "vitest";
import { sharedUidNotice } from "./shared-uid-notice.js";

describe("sharedUidNotice", () => {
  it("is one line that says what the agent could do and what prevents it", () => {
    expect(sharedUidNotice).toMatch(
      /^[^\n]*same user[^\n]*answer its own questions[^\n]*sandbox[^\n]*$/,
    );
  });
});
