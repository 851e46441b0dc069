import { z } from 'zod';
import { task } from '../../../contracts/tasks/task';
import { plain, withDefaultsFrom } from './plain';

/** Each field of a task is valid by itself: the contract compares no field with another. */
const schemas = new Map<string, z.ZodType>(Object.entries(task.shape));

/** How many items a field may have, where it is a list whose items are valid each by itself. */
const mostItems = new Map(
  [...schemas].flatMap(([name, schema]) => {
    const most = mostItemsOf(schema);
    return most === undefined ? [] : [[name, most] as const];
  }),
);

/**
 * A field of a task as the contract has it; items of lists that were there `before`, in a valid task, are taken as they are.
 * A list that grows is validated by what is added to it.
 *
 * @returns `undefined` for a value that the contract refuses
 */
export function validField(name: string, value: unknown, before: unknown): { value: unknown } | undefined {
  const schema = schemas.get(name);
  const raw = plain(value);
  if (!schema) {
    return { value: raw };
  }
  const most = mostItems.get(name);
  if (most === undefined || !Array.isArray(raw) || !Array.isArray(before) || raw.length > most) {
    return validated(schema, raw);
  }
  const known = new Set<unknown>(before);
  const added = validated(
    schema,
    raw.filter((item) => !known.has(item)),
  );
  const items = (added?.value as unknown[] | undefined)?.values();
  return items && { value: raw.map((item: unknown) => (known.has(item) ? item : items.next().value)) };
}

function validated(schema: z.ZodType, raw: unknown): { value: unknown } | undefined {
  const parsed = schema.safeParse(raw);
  return parsed.success ? { value: withDefaultsFrom(raw, parsed.data) } : undefined;
}

function mostItemsOf(schema: z.core.$ZodType): number | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return mostItemsOf(schema.unwrap());
  }
  const [bound, ...others] = schema instanceof z.ZodArray ? (schema.def.checks ?? []) : [];
  const isBounded = bound instanceof z.core.$ZodCheckMaxLength && others.length === 0;
  return isBounded ? bound._zod.def.maximum : undefined;
}
