import { describe, expect, it } from "vitest";
import { evaluateCommandSafety } from "../evaluate.js";

const rulesOf = (
  command: string,
  loopbackPorts: readonly number[] = [3000, 8080],
): readonly string[] =>
  evaluateCommandSafety(command, { loopbackPorts }).reasons.map(({ ruleId }) => ruleId);

describe("curl to ports of this machine that a person has named", () => {
  it.each([
    "curl http://localhost:3000",
    "curl -s 'localhost:8080/a?b=c#d' | head -20",
    "curl -sSf -i 'http://127.0.0.1:3000/health'",
    "curl -I 'http://[::1]:3000/'",
    "curl -so /dev/null -w '%{http_code}\\n' http://localhost:3000/",
    "curl --silent --max-time 5 -X GET -H 'Accept: application/json' http://localhost:3000/a http://localhost:8080/b",
    "timeout 5 curl -s http://LOCALHOST:3000",
  ])("%s is safe", (command) => {
    expect(rulesOf(command)).toEqual([]);
    expect(rulesOf(command, [])).not.toEqual([]);
    expect(rulesOf(command, [4000])).not.toEqual([]);
  });

  it.each([
    "curl http://localhost",
    "curl http://localhost:3001",
    "curl https://localhost:3000",
    "curl http://localhost:3000@evil.example/",
    "curl http://a@localhost:3000",
    "curl http://localhost:3000.evil.example",
    "curl http://localhost.evil.example:3000",
    "curl http://127.0.0.1.evil.example:3000",
    "curl http://localhost:{3000,22}/",
    "curl http://localhost:3000/[1-9]",
    "curl http://localhost:03000x",
    "curl http://localhost:3000\\\\@evil.example",
    "curl http://localhost:3000 http://evil.example",
    "curl http://localhost:3000 $x",
    'curl "http://localhost:3000/$x"',
    "curl -L http://localhost:3000",
    "curl -sL http://localhost:3000",
    "curl --location http://localhost:3000",
    "curl -d a=b http://localhost:3000",
    "curl -G -d @.env http://localhost:3000",
    "curl -X POST http://localhost:3000",
    "curl -XPOST http://localhost:3000",
    "curl -X DELETE http://localhost:3000",
    "curl -o x http://localhost:3000",
    "curl -O http://localhost:3000/x",
    "curl -w '%output{x}' http://localhost:3000",
    "curl -w @x http://localhost:3000",
    "curl -H @x http://localhost:3000",
    "curl -H 'Host: evil.example' http://localhost:3000",
    "curl -H $'Accept: a\\r\\n\\r\\nPOST /x HTTP/1.0' http://localhost:3000",
    "curl -K x http://localhost:3000",
    "curl -x evil.example:80 http://localhost:3000",
    "curl --connect-to ::evil.example:80 http://localhost:3000",
    "curl -T x http://localhost:3000",
    "curl -b x http://localhost:3000",
    "curl -n http://localhost:3000",
    "curl --next http://localhost:3000",
    "curl -s",
    "http_proxy=evil.example curl http://localhost:3000",
    "curl http://localhost:3000 > x",
    "wget http://localhost:3000",
  ])("%s is not", (command) => expect(rulesOf(command)).not.toEqual([]));
});
