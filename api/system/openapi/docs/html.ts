import { htmlText } from '../../../../platform/text/markdown-html';

/** Markup that is written here, or was escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | undefined | Html | Html[];

function partText(part: Part): string {
  if (part instanceof Html) {
    return part.text;
  }
  return Array.isArray(part) ? part.map(({ text }) => text).join('') : htmlText(String(part ?? ''));
}

/** Markup with values in it: escaped, unless they are markup themselves. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.reduce((all, string, n) => all + partText(parts[n - 1]) + string));

/** Text with \`code\` in it. */
export const prose = (text: string): Html[] =>
  text.split('`').map((part, n) => (n % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

/** A table; nothing without rows. */
export const table = (heads: string[], rows: Html[][]): Html =>
  rows.length === 0
    ? html``
    : html`<table>
        <thead>
          <tr>
            ${heads.map((head) => html`<th scope="col">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                ${row.map((cell) => html`<td>${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>`;

/** A whole page. */
export const page = (title: string, content: Html): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Runboard</title>
        <link rel="stylesheet" href="/docs/style.css" />
      </head>
      <body>
        <nav>
          <a href="/docs">API</a> · <a href="/docs/schemas">Schemas</a> ·
          <a href="/api/openapi.json">OpenAPI document</a> · <a href="/">Board</a>
        </nav>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `;
