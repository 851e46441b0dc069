const item = /^(\s*[-*] )\[ \] (.*)$/;
const add = /^add\s+`?([A-Za-z_$][\w$]*)\(([^)]*)\)`?\s*(?::\s*(.*))?$/i;

/**
 * The open items of a list in Markdown, `- [ ] add name(a, b): what it does`.
 *
 * @returns one entry per item: `line` (its number), `raw` (its text) and, when it was understood, `name`,
 *   `parameters` and `text`
 */
export function openItems(markdown) {
  return markdown.split('\n').flatMap((content, line) => {
    const raw = item.exec(content)?.[2]?.trim();
    if (raw === undefined) {
      return [];
    }
    const [, name, parameters = '', text = ''] = add.exec(raw) ?? [];
    const names = parameters
      .split(',')
      .map((parameter) => parameter.trim())
      .filter(Boolean);
    return [{ line, raw, ...(name && { name, parameters: names, text: text.replace(/`/g, '').trim() }) }];
  });
}

/** The same Markdown with the item of one line ticked. */
export function tick(markdown, line) {
  return markdown
    .split('\n')
    .map((content, at) => (at === line ? content.replace('[ ]', '[x]') : content))
    .join('\n');
}
