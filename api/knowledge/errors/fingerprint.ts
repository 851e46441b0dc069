import { createHash } from 'node:crypto';
import type { ErrorType } from '../../../contracts/knowledge/error';

/** The length by which messages are compared; what comes after is mostly the stack. */
const comparedLength = 2_000;

/** The folders of an absolute path, up to its last part. */
const folders = /(?:\b[a-z]:)?[\\/](?:[^\s:'"()]*[\\/])?/g;
const identifiers = /\b(?=[0-9a-f-]*\d)[0-9a-f]{7,64}(?:-[0-9a-f]{4,64}){0,4}\b/g;
const numbers = /\d+/g;

/** A message without what differs each time: folders, ids, numbers, case and spacing. */
export const normalised = (message: string): string =>
  message
    .slice(0, comparedLength)
    .toLowerCase()
    .replace(folders, '/')
    .replace(identifiers, '#')
    .replace(numbers, '#')
    .replace(/\s+/g, ' ')
    .trim();

/** The same for the same error, whenever and wherever it happens: 24 hexadecimal digits. */
export const fingerprintOf = (type: ErrorType, message: string): string =>
  createHash('sha256')
    .update(`${type}\n${normalised(message)}`)
    .digest('hex')
    .slice(0, 24);
