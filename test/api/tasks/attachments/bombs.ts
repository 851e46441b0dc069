import { constants, deflateRawSync, deflateSync } from 'node:zlib';

export const mebibyte = 1_048_576;

/** Zlib streams of a block that repeats, without ever holding all of it. */
function deflatedSpaces(megabytes: number): Buffer {
  // A block that ends with a full flush can follow itself: what repeats is compressed once.
  const block = Buffer.alloc(mebibyte, ' ');
  const flushed = deflateRawSync(block, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const header = Buffer.from([0x78, 0xda]);
  const last = deflateRawSync(Buffer.alloc(0));
  // The checksum is invalid: readers of documents ignore it.
  return Buffer.concat([header, ...Array.from({ length: megabytes }, () => flushed), last, Buffer.alloc(4)]);
}

/** A PDF of one page whose content unpacks to so many megabytes, three times over. */
export function deflatedPdf(megabytes: number): Buffer {
  const content = deflateSync(deflateSync(deflatedSpaces(megabytes), { level: 9 }), { level: 9 });
  const filters = '[/FlateDecode/FlateDecode/FlateDecode]';
  return Buffer.concat([
    Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<<>>>>endobj
4 0 obj<</Length ${content.length}/Filter${filters}>>stream
`),
    content,
    Buffer.from('\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF'),
  ]);
}
