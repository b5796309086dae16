/**
 * Examination of the tool pins: with a file that cannot be read, no server's tools are
 * listed; with a full one, no new server's.
 */
import { parseToolPins, PINNED_SERVERS_MAX } from "@acp/home";
import type { Examination } from "../examination.js";
import { readWhole } from "./read-whole.js";

/** The pins of tools. */
export const toolPinsExamination: Examination = {
  id: "tool-pins",
  looksAt: "Pins of tools can be read",
  look: ({ home }) =>
    readWhole(
      { home },
      {
        path: home.toolPinsPath,
        bytesMax: 16 * 1024 * 1024,
        code: "pins_broken",
        without: "every tool is seen for the first time again",
        parse(text) {
          const { length } = parseToolPins(text);
          if (length < PINNED_SERVERS_MAX) return [];
          throw new Error(`it has ${length} servers, and no room for another`);
        },
      },
    ),
};
