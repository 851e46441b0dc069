import type { Catalog, Index } from '../engine/catalog';
import type { Field } from '../engine/field';
import { frameField, frameIntNameOf, frameNameOf } from '../engine/frames';
import { shardWidth } from '../engine/segments';

/** JSON of a description; what is undefined is left out. */
type Described = Readonly<Record<string, unknown>>;

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/** The fields of the current revision, by name. */
const fieldsOf = (index: Index): Field[] =>
  [...index.fields.values()].filter(({ name }) => frameNameOf(name) === undefined).sort(byName);

/** The integer fields of a frame, by name. */
export const frameFieldsOf = (index: Index, frame: string): Field[] =>
  [...index.fields.values()]
    .filter(({ name }) => frameNameOf(name) === frame && frameIntNameOf(name) !== undefined)
    .sort(byName);

const frameNames = (index: Index): string[] =>
  [...index.fields.keys()]
    .flatMap((name) => (frameIntNameOf(name) === undefined ? (frameNameOf(name) ?? []) : []))
    .sort();

function fieldOptions({ options, values }: Field): Described {
  const { type, keys, min, max } = options;
  switch (type) {
    case 'set':
    case 'mutex':
      return { type, cacheType: options.cacheType, cacheSize: options.cacheSize, keys };
    case 'int':
      return { type, base: 0, bitDepth: values?.slices.length ?? 0, min, max, keys };
    case 'time':
      return { type, timeQuantum: options.timeQuantum, keys, noStandardView: options.noStandardView };
    case 'bool':
      return { type };
  }
}

/** An integer field of a frame; what is zero is left out. */
export const frameFieldObject = ({ name, options }: Field): Described => ({
  name: frameIntNameOf(name) ?? '',
  type: 'int',
  min: options.min === 0 ? undefined : options.min,
  max: options.max === 0 ? undefined : options.max,
});

function frameObject(index: Index, name: string): Described {
  const options = index.fields.get(frameField(name))?.options;
  const fields = frameFieldsOf(index, name);
  return {
    name,
    options: {
      cacheType: options?.cacheType,
      cacheSize: options?.cacheSize === 0 ? undefined : options?.cacheSize,
      timeQuantum: options?.timeQuantum === '' ? undefined : options?.timeQuantum,
      fields: fields.length === 0 ? undefined : fields.map(frameFieldObject),
    },
  };
}

/** An index as `/index` and `/schema` return it; frames of the earlier revision are listed beside its fields. */
export function indexObject(index: Index): Described {
  const fields = fieldsOf(index).map((field) => ({ name: field.name, options: fieldOptions(field) }));
  const frames = frameNames(index).map((name) => frameObject(index, name));
  return {
    name: index.name,
    options: { keys: index.options.keys, trackExistence: index.options.trackExistence },
    fields: fields.length > 0 ? fields : null,
    frames: frames.length > 0 ? frames : undefined,
    shardWidth,
  };
}

export const schemaObject = (catalog: Catalog): Described => ({
  indexes: [...catalog.indexes.values()].sort(byName).map(indexObject),
});
