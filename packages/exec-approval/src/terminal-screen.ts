/**
 * Terminal screen: the shared screen of `@acp/host`, with pastes marked while a person types.
 */
import { createScreen, type OutputStream, type Screen } from "@acp/host";

/** A person's screen. */
export interface TerminalScreen extends Pick<Screen, "say" | "restatus"> {
  /**
   * Text from elsewhere, whole: escaped line by line, wrapped, behind the gutter. Returns how many
   * rows it took.
   */
  quote(text: string): number;
  /**
   * The status line and, below it, the line that the person types. From now on a terminal marks
   * what is pasted, so that no pasted line is a decision.
   */
  prompt(status: string): void;
  /** The line was typed: pastes need no mark any more. */
  prompted(): void;
}

// Bracketed paste: a paste begins with ESC [200~, and a line with that is no decision. Source:
// xterm, DEC private mode 2004.
const MARK_PASTES = "\u001b[?2004h";
const MARK_NO_PASTES = "\u001b[?2004l";

/** A screen on a stream; colors on a terminal only. */
export function createTerminalScreen(output: OutputStream): TerminalScreen {
  const isTTY = output.isTTY === true;
  const screen = createScreen({ output, color: isTTY });
  const mark = (code: string): void => (isTTY ? screen.echo(code) : undefined);
  return {
    say: screen.say,
    restatus: screen.restatus,
    quote(text) {
      const rows = screen.rows([text]);
      screen.write(rows);
      return rows.length;
    },
    prompt(status) {
      mark(MARK_PASTES);
      screen.prompt(status, "> ");
    },
    prompted: () => mark(MARK_NO_PASTES),
  };
}
