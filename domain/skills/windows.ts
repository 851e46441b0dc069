/** How long a text is that a rule searches at a time: what a rule costs is bounded by it, whatever the text. */
const windowLength = 1_000;
/** How much two windows of one line share, so that what is split by one is whole in the other. */
const overlap = 400;

export interface Window {
  /** From 1 on. */
  line: number;
  raw: string;
  /** Whether the line begins, and ends, elsewhere. */
  cut: { before: boolean; after: boolean };
}

/** The lines of a text, longer ones in parts that overlap. */
export function* windowsOf(text: string): Generator<Window> {
  let line = 0;
  for (let from = 0; from <= text.length;) {
    const next = text.indexOf('\n', from);
    const end = next === -1 ? text.length : next;
    line += 1;
    for (let start = from; start === from || start + overlap < end; start += windowLength - overlap) {
      const stop = Math.min(end, start + windowLength);
      yield { line, raw: text.slice(start, stop), cut: { before: start > from, after: stop < end } };
    }
    from = end + 1;
  }
}
