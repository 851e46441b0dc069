import { hash } from 'node:crypto';

/** Where the entry of a module is in the file, in bytes, and the SHA-256 of it. */
export interface Row {
  offset: number;
  length: number;
  seal: Buffer;
}

const digestBytes = 32;
const numberBytes = 4;

/** SHA-256 of the name, offset, length, SHA-256 of the entry. */
export const rowBytes = 2 * digestBytes + 2 * numberBytes;

/** Rows of fixed length, in the order of the digests of their names: bytes outside of the heap, where objects would be ten times as large. */
export function tableOf(entries: readonly { name: string; content: Buffer }[]): Buffer {
  let end = 0;
  const rows = entries.map(({ name, content }) => {
    const row = Buffer.alloc(rowBytes);
    keyOf(name).copy(row);
    row.writeUInt32LE(end, digestBytes);
    row.writeUInt32LE(content.length, digestBytes + numberBytes);
    hash('sha256', content, 'buffer').copy(row, digestBytes + 2 * numberBytes);
    end += content.length;
    return row;
  });
  return Buffer.concat(rows.toSorted((a, b) => a.compare(b)));
}

/**
 * Opens what `tableOf` made.
 *
 * @param begin where the first entry is in the file
 */
export function openTable(table: Buffer, begin: number): { find: (name: string) => Row | undefined } {
  const find = (name: string): Row | undefined => {
    const key = keyOf(name);
    let [low, high] = [0, table.length / rowBytes];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = middle * rowBytes;
      const order = table.compare(key, 0, digestBytes, at, at + digestBytes);
      if (order === 0) {
        return rowAt(at);
      }
      [low, high] = order < 0 ? [middle + 1, high] : [low, middle];
    }
    return undefined;
  };
  const rowAt = (at: number): Row => ({
    offset: begin + table.readUInt32LE(at + digestBytes),
    length: table.readUInt32LE(at + digestBytes + numberBytes),
    seal: table.subarray(at + digestBytes + 2 * numberBytes, at + rowBytes),
  });
  return { find };
}

const keyOf = (name: string): Buffer => hash('sha256', name, 'buffer');
