import { type ChangeKind, changeKind } from '../../../contracts/chat/change';
import { storedTimes } from '../../../contracts/query';
import { validationError } from '../../../platform/errors/app-error';
import { Page, type Position } from '../../../platform/lists/page';

/** The position of a reader of the changes, and since when it reads: the `until` of its last page depends on that. */
export interface ChangePosition {
  /** Time of the last change in milliseconds since 1970, and `<kind>:<id>`. */
  position: { key: number; id: string };
  /** When the first page was requested, in milliseconds since 1970. */
  askedAt: number;
}

const positionInId = new RegExp(`^(\\d{1,15})/((?:${changeKind.options.join('|')}):.*)$`, 's');
/** Behind every id. */
const behindAll = '\uffff';

/** @throws AppError `VALIDATION_ERROR` 400 with the path `cursor` */
export function changePositionOf({ key, id }: Position): ChangePosition {
  const [, askedAt, inOrder] = positionInId.exec(id) ?? [];
  const isTime =
    typeof key === 'number' && Number.isInteger(key) && key >= storedTimes.firstMs && key <= storedTimes.lastMs;
  if (inOrder === undefined || !isTime) {
    throw validationError([{ path: 'cursor', message: 'is not a cursor issued by this service', code: 'custom' }]);
  }
  return { position: { key, id: inOrder }, askedAt: Number(askedAt) };
}

/** The page, continued at a position. */
export const positionAt = <T>({ items, next }: Page<T>, askedAt: number): Page<T> =>
  new Page(items, next && { key: next.key, id: `${String(askedAt)}/${next.id}` });

/** Where the list of one kind continues: kinds follow each other within a millisecond. */
export function cursorOfKind(kind: ChangeKind, { key, id }: ChangePosition['position']): Position {
  const passed = id.slice(0, id.indexOf(':'));
  const rest = id.slice(passed.length + 1);
  const after = passed < kind ? '' : behindAll;
  return { key: new Date(key).toISOString(), id: passed === kind ? rest : after };
}
