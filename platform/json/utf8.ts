import { isUtf8 } from 'node:buffer';

/** Bytes that were to be a text are none. */
export class InvalidUtf8Error extends Error {
  override readonly name = 'InvalidUtf8Error';
}

/**
 * The text of bytes from a caller, without a byte order mark. A lenient decoder would store another text than was sent.
 *
 * @throws InvalidUtf8Error
 */
export function utf8Text(bytes: Buffer): string {
  if (!isUtf8(bytes)) {
    throw new InvalidUtf8Error('The bytes are not valid UTF-8.');
  }
  const text = bytes.toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
