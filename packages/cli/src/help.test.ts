import { expect, it } from "vitest";
import { COMMANDS } from "./commands.js";
import { exitsOf, renderCommandHelp } from "./help.js";

it("renderCommandHelp() wraps sentences and loses no word", () => {
  for (const command of COMMANDS) {
    const lines = renderCommandHelp(command);
    const first = lines.indexOf("", 2) + 1;
    const details = lines.slice(first, lines.indexOf("Options:") - 1);
    expect(details.join(" ")).toBe(command.details.join(" "));
    for (const line of details) expect(line.length).toBeLessThanOrEqual(100);
  }
});

it("exitsOf() always holds done, failed and a wrong command line, or the one exit of every failure", () => {
  for (const command of COMMANDS)
    expect(exitsOf(command)).toEqual(
      expect.arrayContaining(
        command.failure === undefined ? ["ok", "failed", "usage"] : [command.failure],
      ),
    );
});
