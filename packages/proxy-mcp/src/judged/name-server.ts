/**
 * The server's name in what it asks of the client: with several servers, nothing else tells a person
 * or a model who is asking. Only texts are lengthened; every other byte stays.
 */
import { elementsOf, findValue, membersOf, splice } from "../json-walk.js";
import type { Span } from "../json-walk.js";

const QUOTE = 0x22;

/** The request with the server's name in front of the text that is shown. */
export function nameServer(server: string, line: Buffer): Buffer {
  const text = findValue(line, ["params", "message"]) ?? firstText(line);
  if (text !== undefined && line[text.start] === QUOTE)
    return splice(line, [{ start: text.start + 1, end: text.start + 1, text: `[${server}] ` }]);
  const messages = findValue(line, ["params", "messages"]);
  const params = findValue(line, ["params"]);
  if (messages === undefined || params === undefined) return line;
  // A picture or a sound has no text to stand in front of.
  const prompt = findValue(line, ["params", "systemPrompt"]);
  const at = prompt === undefined ? params.start + 1 : prompt.start + 1;
  const said = prompt === undefined ? `"systemPrompt":"[${server}]",` : `[${server}] `;
  return splice(line, [{ start: at, end: at, text: said }]);
}

/** The first text of the first message. */
function firstText(line: Buffer): Span | undefined {
  const messages = findValue(line, ["params", "messages"]);
  const first = messages === undefined ? undefined : elementsOf(line, messages)?.[0];
  const content = first === undefined ? undefined : memberOf(line, first, "content");
  const blocks = content === undefined ? undefined : elementsOf(line, content);
  for (const block of blocks ?? (content === undefined ? [] : [content])) {
    const text = memberOf(line, block, "text");
    if (text !== undefined) return text;
  }
  return undefined;
}

const memberOf = (line: Buffer, span: Span, key: string): Span | undefined =>
  membersOf(line, span)?.findLast((member) => member.key === key)?.value;
