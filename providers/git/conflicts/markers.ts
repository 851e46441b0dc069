import type { ConflictMarker } from '../../../contracts/runs/conflict';

type Begun = Pick<ConflictMarker, 'startLine' | 'oursLabel'> & Partial<ConflictMarker>;

const labelOf = (line: string): string => line.slice(8).replace(/\r$/, '');

/** The conflicts that git's markers show in a text. One that is not complete is none. */
export function conflictMarkers(text: string): ConflictMarker[] {
  const markers: ConflictMarker[] = [];
  let begun: Begun | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const number = index + 1;
    if (/^<{7} /.test(line)) {
      begun = { startLine: number, oursLabel: labelOf(line) };
    } else if (begun && begun.separatorLine === undefined && /^\|{7}(?: |\r?$)/.test(line)) {
      begun = { ...begun, baseLine: number };
    } else if (begun && begun.separatorLine === undefined && /^={7}\r?$/.test(line)) {
      begun = { ...begun, separatorLine: number };
    } else if (begun?.separatorLine !== undefined && /^>{7} /.test(line)) {
      const { separatorLine, ...opened } = begun;
      markers.push({ ...opened, separatorLine, endLine: number, theirsLabel: labelOf(line) });
      begun = undefined;
    }
  }
  return markers;
}
