// An agent that knows nothing of ACP: it orders with fetch. `node agent.mjs METHOD URL` prints the
// status and what came back.
const [, , method, url] = process.argv;
const answer = await fetch(url, { method, ...(method === "POST" && { body: "item=umbrella" }) });
console.log(`${answer.status} ${await answer.text()}`);
