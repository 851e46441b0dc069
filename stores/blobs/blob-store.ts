/** Content under its own hash: bodies that are too large for a document. Shared by every process with the same stores. */
export interface BlobStore {
  /** Stores content; content that exists already counts as used again. Durable when this resolves. */
  put(content: Uint8Array): Promise<Blob>;
  /** Length in bytes; `undefined` when there is no such content. */
  size(sha256: string): Promise<number | undefined>;
  /**
   * The bytes from `offset` (0 when absent), up to `length` of them (all when absent), in pieces: never the whole at once.
   *
   * @throws BlobMissingError when the content is missing or disappears meanwhile
   */
  read(sha256: string, range?: { offset?: number; length?: number }): AsyncIterable<Buffer>;
  /**
   * Removes content, unless it was put at or after `unusedSince`: the caller that puts content refers to it a moment later.
   *
   * @returns whether it is gone
   */
  remove(sha256: string, unusedSince: Date): Promise<boolean>;
}

export interface Blob {
  /** `sha256:` and 64 lower-case hexadecimal digits. */
  sha256: string;
  bytes: number;
}

export class BlobMissingError extends Error {
  override readonly name = 'BlobMissingError';

  constructor(sha256: string) {
    super(`No content has the hash ${sha256}.`);
  }
}

const shape = /^sha256:([0-9a-f]{64})$/;

/** The bare hash, which adapters name objects by. @throws TypeError for anything that is no hash, e.g. a path */
export function hexOf(sha256: string): string {
  const hex = shape.exec(sha256)?.[1];
  if (hex === undefined) {
    throw new TypeError(`${JSON.stringify(sha256)} is not a SHA-256.`);
  }
  return hex;
}
