import { ulid } from 'ulid';
import { currentOperation, operationBytes } from './operation';

/** A UUID of version 4; in a repetition of the running operation, the one it made before. */
export function operationUuid(): string {
  const bytes = operationBytes('uuid', 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  return currentOperation()?.own(id) ?? id;
}

/**
 * A ULID for what is made at `at`; in a repetition of the running operation, the one it made before.
 *
 * @param next makes one where no key allows a repetition of the request, in an order that a repetition could not preserve
 */
export function operationUlid(at: Date, next: (milliseconds: number) => string): string {
  const operation = currentOperation();
  if (!operation?.isKeyed) {
    return next(at.getTime());
  }
  return operation.own(ulid(at.getTime(), () => operation.bytes('ulid', 6).readUIntBE(0, 6) / 2 ** 48));
}
