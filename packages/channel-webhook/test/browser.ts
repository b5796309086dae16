/** What a person's browser does with a link: opens it, and sends its form. */

export interface OpenedPage {
  readonly status: number;
  readonly text: string;
  /** The hidden field of the form; empty where the page has none. */
  readonly key: string;
}

export async function openPage(url: string): Promise<OpenedPage> {
  const response = await fetch(url);
  const text = await response.text();
  return { status: response.status, text, key: /name="key" value="([^"]*)"/.exec(text)?.[1] ?? "" };
}

export async function sendForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenedPage> {
  const { origin } = new URL(url);
  const response = await fetch(url, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { origin, ...headers },
  });
  return { status: response.status, text: await response.text(), key: "" };
}
