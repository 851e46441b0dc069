import { crc32 } from 'node:zlib';

/**
 * What log and snapshot files are made of: a mark, the length of the body, its checksum, the body. The mark lets a reader
 * find the next whole frame behind a damaged one.
 */
const mark = 0x52424631;
const markBytes = Buffer.from([0x31, 0x46, 0x42, 0x52]);
export const headerSize = 12;

/** The header that goes before a body. */
export function frameHeader(body: Uint8Array): Buffer {
  const header = Buffer.allocUnsafe(headerSize);
  header.writeUInt32LE(mark, 0);
  header.writeUInt32LE(body.length, 4);
  header.writeUInt32LE(crc32(body), 8);
  return header;
}

/** The body of the frame at `at`, or undefined when there is no whole, undamaged one. */
export function frameAt(bytes: Buffer, at: number): Buffer | undefined {
  if (at + headerSize > bytes.length || bytes.readUInt32LE(at) !== mark) {
    return undefined;
  }
  const end = at + headerSize + bytes.readUInt32LE(at + 4);
  if (end > bytes.length) {
    return undefined;
  }
  const body = bytes.subarray(at + headerSize, end);
  return crc32(body) === bytes.readUInt32LE(at + 8) ? body : undefined;
}

/** Where the next whole frame begins, from `at` on. */
export function nextFrame(bytes: Buffer, at: number): number | undefined {
  for (let position = bytes.indexOf(markBytes, at); position >= 0; position = bytes.indexOf(markBytes, position + 1)) {
    if (frameAt(bytes, position)) {
      return position;
    }
  }
  return undefined;
}
