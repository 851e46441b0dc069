/** A part of a content, in bytes. */
export interface ByteRange {
  offset: number;
  length: number;
}

/**
 * The one range of a `Range` header (RFC 9110, 14.2). `undefined`: everything, which is also the result for a header that is
 * malformed or requests several ranges. `unsatisfiable`: it begins behind the end.
 */
export function requestedRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') {
    return undefined;
  }
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { offset: size - length, length };
  }
  const offset = Number(first);
  if (last !== '' && Number(last) < offset) {
    return undefined;
  }
  if (offset >= size) {
    return 'unsatisfiable';
  }
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return { offset, length: end - offset + 1 };
}
