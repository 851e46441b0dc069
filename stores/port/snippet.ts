/** Characters that are shown before and after the match. */
const around = 60;

/** The first match of `q` in a text, whatever its case, with a little around it; `undefined` without one. */
export function snippetOf(text: string, q: string): string | undefined {
  const flat = text.replace(/\s+/g, ' ');
  const at = flat.toLowerCase().indexOf(q.toLowerCase());
  if (at < 0) {
    return undefined;
  }
  const start = Math.max(0, at - around);
  const end = Math.min(flat.length, at + q.length + around);
  return `${start > 0 ? '…' : ''}${flat.slice(start, end)}${end < flat.length ? '…' : ''}`;
}
