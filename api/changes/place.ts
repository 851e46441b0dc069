import { changeKind, type ChangeKind } from '../../contracts/change-feed';
import { validationError } from '../../platform/errors/app-error';
import { Page, type Position } from '../../platform/lists/page';

/** Where a reader of the changes is, and since when it reads: what its last page says of `until` depends on that. */
export interface Place {
  /** Time of the last change in milliseconds since 1970, and `<kind>:<id>`. */
  position: { key: number; id: string };
  /** When the first page was asked for, in milliseconds since 1970. */
  askedAt: number;
}

const placeInId = new RegExp(`^(\\d{1,15})/((?:${changeKind.options.join('|')}):.*)$`, 's');
const farthestMs = 8_640_000_000_000_000;
/** Behind every id. */
const behindAll = '\uffff';

/** @throws AppError `VALIDATION_ERROR` 400 with the path `cursor` */
export function placeOf({ key, id }: Position): Place {
  const [, askedAt, inOrder] = placeInId.exec(id) ?? [];
  if (inOrder === undefined || typeof key !== 'number' || !Number.isInteger(key) || Math.abs(key) > farthestMs)
    throw validationError([{ path: 'cursor', message: 'is no cursor that this service has given', code: 'custom' }]);
  return { position: { key, id: inOrder }, askedAt: Number(askedAt) };
}

/** The page, going on at a place. */
export const positionAt = <T>({ items, next }: Page<T>, askedAt: number): Page<T> =>
  new Page(items, next && { key: next.key, id: `${String(askedAt)}/${next.id}` });

/** Where the list of one kind goes on: kinds follow each other within a millisecond. */
export function cursorOfKind(kind: ChangeKind, { key, id }: Place['position']): Position {
  const passed = id.slice(0, id.indexOf(':'));
  const rest = id.slice(passed.length + 1);
  const after = passed < kind ? '' : behindAll;
  return { key: new Date(key).toISOString(), id: passed === kind ? rest : after };
}
