import { z } from 'zod';
import { exactJson, parseExactJson } from '../../../platform/json/exact';
import { InvalidUtf8Error, utf8Text } from '../../../platform/json/utf8';
import { frameField, frameIntField } from '../engine/frames';
import { cacheTypes, defaultCacheSize, type FieldOptions, fieldTypes, type IndexOptions } from '../engine/options';
import { timeQuanta } from '../engine/time-quantum';
import { type Int, isInt, maxInt64, minInt64, toInt } from '../int';
import { Refusal } from './reply';

const name = /^[a-z][a-z0-9_-]{0,63}$/;

/** @throws Refusal when something cannot be called so */
export function checkName(what: string, value: string): string {
  if (!name.test(value)) {
    throw new Refusal(
      400,
      `invalid ${what} name: lower-case letters, digits, _ and -, beginning with a letter, at most 64`,
      { form: 'envelope' },
    );
  }
  return value;
}

const int64 = z.custom<Int>(
  (value) => isInt(value) && value >= minInt64 && value <= maxInt64,
  'must be a 64-bit integer',
);
const cacheSize = z.number().int().min(0).max(10_000_000);

const indexBody = z.strictObject({
  options: z.strictObject({ keys: z.boolean().default(false), trackExistence: z.boolean().default(true) }).prefault({}),
});

const fieldBody = z.strictObject({
  options: z
    .strictObject({
      type: z.enum(fieldTypes).default('set'),
      keys: z.boolean().optional(),
      cacheType: z.enum(cacheTypes).optional(),
      cacheSize: cacheSize.optional(),
      min: int64.optional(),
      max: int64.optional(),
      timeQuantum: z.string().optional(),
      noStandardView: z.boolean().optional(),
    })
    .prefault({}),
});

type GivenOptions = z.infer<typeof fieldBody>['options'];

const intField = z.strictObject({ name: z.string(), type: z.literal('int'), min: int64, max: int64 });

const frameBody = z.strictObject({
  options: z
    .strictObject({
      timeQuantum: z.string().default(''),
      cacheType: z.enum(cacheTypes).default('lru'),
      cacheSize: cacheSize.default(defaultCacheSize),
      rangeEnabled: z.boolean().optional(),
      inverseEnabled: z.boolean().optional(),
      fields: z.array(intField).default([]),
    })
    .prefault({}),
});

function parseBody<T>(schema: z.ZodType<T>, body: Buffer, form: 'envelope' | 'text'): T {
  let value: unknown;
  try {
    value = body.length === 0 ? {} : parseExactJson(utf8Text(body));
  } catch (error) {
    throw new Refusal(400, error instanceof InvalidUtf8Error ? error.message : 'the body is not JSON', { form });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) {
    return parsed.data;
  }
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const holder = issue.path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown>)[part], value);
    const property = (holder as Record<string, unknown>)[key];
    throw new Refusal(400, `Unknown key: ${[...issue.path, key].join('.')}:${describe(property)}`, { form });
  }
  throw new Refusal(400, `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`, { form });
}

function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    return String(value);
  }
  try {
    return exactJson(value);
  } catch {
    return 'nested too deeply';
  }
}

export const readIndexOptions = (body: Buffer): IndexOptions => parseBody(indexBody, body, 'envelope').options;

/** Which options each type of field has, besides its type. */
const optionsByType: Record<FieldOptions['type'], readonly string[]> = {
  set: ['keys', 'cacheType', 'cacheSize'],
  mutex: ['keys', 'cacheType', 'cacheSize'],
  int: ['keys', 'min', 'max'],
  time: ['keys', 'timeQuantum', 'noStandardView'],
  bool: [],
};

const isQuantum = (text: string): text is (typeof timeQuanta)[number] =>
  (timeQuanta as readonly string[]).includes(text);

/** The options of a new field. */
export function readFieldOptions(body: Buffer): FieldOptions {
  return checkFieldOptions(parseBody(fieldBody, body, 'envelope').options);
}

function checkFieldOptions(options: GivenOptions): FieldOptions {
  const { type, keys = false } = options;
  for (const option of Object.keys(options)) {
    if (option !== 'type' && !optionsByType[type].includes(option)) {
      throw new Refusal(400, `${option} does not apply to field type ${type}`, { form: 'envelope' });
    }
  }
  switch (type) {
    case 'set':
    case 'mutex': {
      const { cacheType = 'ranked', cacheSize: size = defaultCacheSize } = options;
      return { type, keys, cacheType, cacheSize: cacheType === 'none' ? 0 : size };
    }
    case 'int': {
      const { min = toInt(minInt64), max = toInt(maxInt64) } = options;
      if (min > max) {
        throw new Refusal(400, 'int field min cannot be greater than max');
      }
      return { type, keys, min, max };
    }
    case 'time': {
      const { timeQuantum, noStandardView = false } = options;
      if (timeQuantum === undefined) {
        throw new Refusal(400, 'timeQuantum is required for field type time', { form: 'envelope' });
      }
      if (!isQuantum(timeQuantum)) {
        throw new Refusal(400, 'invalid time quantum');
      }
      return { type, keys, timeQuantum, noStandardView };
    }
    case 'bool':
      return { type, keys };
  }
}

export interface FrameOptions {
  bits: FieldOptions;
  /** Integer fields of the frame, by name. */
  fields: { name: string; options: FieldOptions }[];
}

/** The options of a new frame of the earlier revision. */
export const readFrameOptions = (body: Buffer): FrameOptions =>
  checkFrameOptions(parseBody(frameBody, body, 'text').options);

function checkFrameOptions({
  timeQuantum,
  cacheType,
  cacheSize: size,
  fields,
}: z.infer<typeof frameBody>['options']): FrameOptions {
  if (!isQuantum(timeQuantum)) {
    throw new Refusal(400, 'invalid time quantum');
  }
  const bits: FieldOptions = {
    type: 'set',
    keys: false,
    cacheType,
    cacheSize: cacheType === 'none' ? 0 : size,
    timeQuantum,
  };
  mustBeDistinct('field', fields);
  return { bits, fields: fields.map((field) => ({ name: frameFieldName(field.name), options: intOptions(field) })) };
}

function mustBeDistinct(what: string, named: readonly { name: string }[], form: Refusal['form'] = 'text'): void {
  const names = new Set<string>();
  for (const { name: given } of named) {
    if (names.has(given)) {
      throw new Refusal(400, `the ${what} ${given} is given twice`, { form });
    }
    names.add(given);
  }
}

/** @throws Refusal in the earlier revision's form */
export function frameFieldName(value: string): string {
  if (!name.test(value)) {
    throw new Refusal(400, `invalid field name: ${JSON.stringify(value)}`);
  }
  return value;
}

function intOptions({ min, max }: { min: Int; max: Int }): FieldOptions {
  if (min > max) {
    throw new Refusal(400, 'field min cannot be greater than max');
  }
  return { type: 'int', keys: false, min, max };
}

/** The options of a new integer field of a frame: `{type, min, max}`, all required. */
export function readFrameFieldOptions(body: Buffer): FieldOptions {
  if (body.length === 0) {
    throw new Refusal(400, 'EOF');
  }
  return intOptions(parseBody(intField.omit({ name: true }), body, 'text'));
}

/** A schema leaves out what is zero in an integer field of a frame. */
const schemaFrame = z.looseObject({
  name: z.string(),
  options: frameBody.shape.options
    .unwrap()
    .extend({ fields: z.array(intField.extend({ min: int64.default(0), max: int64.default(0) })).default([]) })
    .prefault({}),
});

const schemaBody = z.looseObject({
  indexes: z
    .array(
      z.looseObject({
        name: z.string(),
        options: indexBody.shape.options,
        fields: z
          .array(z.looseObject({ name: z.string(), options: z.record(z.string(), z.unknown()).default({}) }))
          .nullish(),
        frames: z.array(schemaFrame).nullish(),
      }),
    )
    .nullish(),
});

interface GivenField {
  name: string;
  options: FieldOptions;
}

export interface GivenSchema {
  /** Frames are among the fields, as they are stored. */
  indexes: { name: string; options: IndexOptions; fields: GivenField[] }[];
}

/** What a schema describes of an integer field that is no option of it. */
const described = ['base', 'bitDepth'];

function schemaField({ name: field, options }: { name: string; options: Record<string, unknown> }): GivenField {
  const own = Object.entries(options).filter(([option]) => !described.includes(option));
  const parsed = fieldBody.shape.options.safeParse(Object.fromEntries(own));
  if (!parsed.success) {
    throw new Refusal(400, `field ${field}: ${parsed.error.issues[0]?.message ?? 'invalid'}`, { form: 'envelope' });
  }
  return { name: checkName('field', field), options: checkFieldOptions(parsed.data) };
}

function schemaFrameFields({ name: frame, options }: z.infer<typeof schemaFrame>): GivenField[] {
  const { bits, fields } = checkFrameOptions(options);
  return [
    { name: frameField(checkName('frame', frame)), options: bits },
    ...fields.map((field) => ({ name: frameIntField(frame, field.name), options: field.options })),
  ];
}

/** A whole schema, as `GET /schema` returns it. What such a response describes beside options is ignored. */
export function readSchema(body: Buffer): GivenSchema {
  const given = parseBody(schemaBody, body, 'envelope').indexes ?? [];
  mustBeDistinct('index', given, 'envelope');
  const indexes = given.map(({ name: index, options, fields, frames }) => {
    const all = [...(fields ?? []).map(schemaField), ...(frames ?? []).flatMap(schemaFrameFields)];
    mustBeDistinct('field', all, 'envelope');
    return { name: checkName('index', index), options, fields: all };
  });
  return { indexes };
}
