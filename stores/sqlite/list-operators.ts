import { $set } from 'mingo/operators/update';
import { isPlainObject, valueAt } from '../rules/values';
import { matcher } from './matcher';

type Apply = (fields: Record<string, unknown>) => (document: object) => string[];

const sameJson = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** `$addToSet`. mingo's also removes what was in the list twice before. */
export const addToSet: Apply = (fields) => (document) =>
  Object.entries(fields).flatMap(([path, value]) => {
    const list = (valueAt(document, path) as unknown[] | undefined) ?? [];
    const each: unknown[] = isPlainObject(value) && Array.isArray(value.$each) ? value.$each : [value];
    const added = each.filter(
      (one, at) => !list.some((old) => sameJson(old, one)) && each.findIndex((other) => sameJson(other, one)) === at,
    );
    return added.length === 0 ? [] : $set({ [path]: [...list, ...added] })(document as Record<string, unknown>);
  });

/** `$pull`. mingo's takes an element that is no object for the value of every field of its condition. */
export const pull: Apply = (fields) => (document) =>
  Object.entries(fields).flatMap(([path, condition]) => {
    const list = valueAt(document, path);
    if (!Array.isArray(list)) {
      return [];
    }
    const matches = elementMatcher(condition);
    const remaining = list.filter((element) => !matches(element));
    return remaining.length === list.length ? [] : $set({ [path]: remaining })(document as Record<string, unknown>);
  });

function elementMatcher(condition: unknown): (element: unknown) => boolean {
  if (!isPlainObject(condition)) {
    return (element) => sameJson(element, condition);
  }
  if (Object.keys(condition).some((key) => key.startsWith('$'))) {
    const test = matcher({ element: condition });
    return (element) => test({ element });
  }
  const test = matcher(condition);
  return (element) => isPlainObject(element) && test(element);
}
