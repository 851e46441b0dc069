import { z } from 'zod';
import { clearable, revision, slug, text, timestamp } from '../common';
import { flag } from '../query';

/** Most items of one list. */
export const managedListLimit = 500;

export const managedListName = z.enum(['projects', 'sprints', 'task-types']);
export type ManagedListName = z.infer<typeof managedListName>;

const label = text(200, 1);

/** What is particular to some lists. */
const particulars = {
  description: text(1000),
  /** A colour of CSS or a style sheet: `#7c3aed`, `violet`, `bg-violet-500/20`. */
  color: z
    .string()
    .max(100)
    .regex(/^[\w#(),.%/ -]+$/, 'letters, digits, spaces and # ( ) , . % / _ -'),
  /** The name of an icon. */
  icon: z
    .string()
    .max(64)
    .regex(/^[A-Za-z0-9][\w:-]*$/, 'letters, digits, colon, dash and underscore'),
};

const common = {
  id: slug,
  label,
  /** The position in the list, from 0. */
  order: z.number().int().min(0),
  /** Whether it was there from the beginning. */
  isDefault: z.boolean().optional(),
  /** Whether it is only listed with `includeHidden`. Tasks that name it do not change. */
  isHidden: z.boolean().optional(),
  revision,
  created: timestamp,
  updated: timestamp,
};

/** An item of any list. */
export const managedItem = z.object({ ...common, ...z.object(particulars).partial().shape });
export type ManagedItem = z.infer<typeof managedItem>;

type Particular = keyof typeof particulars;

/** The contracts of a list whose items have these fields besides their label. */
function listOf<F extends Particular>(name: string, fields: readonly F[]) {
  // Object.fromEntries forgets which field has which schema.
  const pick = Object.fromEntries(fields.map((field) => [field, particulars[field]])) as Pick<typeof particulars, F>;
  const own = z.strictObject(pick).partial().shape;
  // The same of the schemas that also accept null.
  const cleared = Object.fromEntries(fields.map((field) => [field, clearable(particulars[field])])) as unknown as {
    [K in F]: ReturnType<typeof clearable<(typeof particulars)[K]>>;
  };
  return {
    item: z.object({ ...common, ...own }).meta({ id: name }),
    create: z.strictObject({ label, ...own }).meta({ id: `${name}Create` }),
    patch: z
      .strictObject({ label: label.optional(), isHidden: z.boolean().optional(), ...cleared })
      .meta({ id: `${name}Patch` }),
  };
}

export const managedLists = {
  projects: listOf('Project', ['description', 'color']),
  sprints: listOf('Sprint', ['description']),
  'task-types': listOf('TaskType', ['icon', 'color']),
};

/** What any list takes for a new item, and for a change of one; `undefined` in a change takes the field away. */
export type ManagedItemCreate = Pick<ManagedItem, 'label' | Particular>;
export type ManagedItemPatch = Partial<Pick<ManagedItem, 'label' | 'isHidden' | Particular>>;

export const managedListQuery = z.strictObject({ includeHidden: flag.optional() }).meta({ id: 'ManagedListQuery' });
export const managedItemRemoval = z.strictObject({ force: flag.optional() }).meta({ id: 'ManagedItemRemoval' });

export const managedListOrder = z
  .strictObject({ orderedIds: z.array(slug).min(1).max(managedListLimit) })
  .meta({ id: 'ManagedListOrder' });

/** Whether an item can be deleted without `force`. */
export const managedItemUse = z
  .object({ allowed: z.boolean(), referenceCount: z.number().int(), isDefault: z.boolean() })
  .meta({ id: 'ManagedItemUse' });
