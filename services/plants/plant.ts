import { z } from 'zod';
import { isWellFormed } from '../../platform/text/well-formed';

const int64 = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n };
const notInt64 = 'must be an integer of 64 bits';

const plantId = z
  .bigint({ error: notInt64 })
  .min(int64.least, notInt64)
  .max(int64.greatest, notInt64)
  .meta({ type: 'integer', format: 'int64', description: 'Identification number of the plant' });

/**
 * As it leaves a JSON text (`parseExactJson`): a number where that holds it. A larger number was written with a fraction or an
 * exponent, and has been rounded: it is not the one that the caller chose.
 */
const plantIdInJson = z
  .preprocess((value) => (Number.isSafeInteger(value) ? BigInt(value as number) : value), plantId)
  .meta(plantId.meta() ?? {});

export const plant = z.object({
  name: z.string({ error: 'must be a text' }).meta({ description: 'Name of the plant' }),
  tag: z.string({ error: 'must be a text' }).optional().meta({ description: 'Tag specifying the type' }),
});
export type Plant = z.infer<typeof plant>;

/** Characters of a new plant's texts. Plants of earlier versions may have more. */
const most = { name: 1_000, tag: 200 };

/** Without halves of characters, which no store can contain. */
const storable = (text: z.ZodString, longest: number) =>
  text
    .max(longest, `must have at most ${longest} characters`)
    .refine(isWellFormed, 'must not have half of a character');

/** A plant as it is created, and announced: with the number its caller chose. */
export const newPlant = z.strictObject({
  name: storable(plant.shape.name, most.name),
  tag: storable(plant.shape.tag.unwrap(), most.tag).optional(),
  id: plantIdInJson,
});
export type NewPlant = z.infer<typeof newPlant>;

export const errorBody = z.object({ error: z.int32(), message: z.string() });

/** The number in the path of a deletion. */
export const idInPath = z
  .string()
  .regex(/^-?\d{1,19}$/, notInt64)
  .transform((text) => BigInt(text))
  .pipe(plantId);

/** The `limit` of a listing: at least one; it is an int32. */
export const limitInQuery = z
  .string()
  .regex(/^\d{1,10}$/, 'must be an integer of 32 bits, at least 1')
  .transform(Number)
  .pipe(z.int32().min(1, 'must be at least 1'))
  .meta({ type: 'integer', format: 'int32' });
