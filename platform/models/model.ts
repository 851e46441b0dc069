import { z } from 'zod';

const tokens = z.number().int().min(1);
/** USD per million tokens. */
const price = z.number().min(0).optional();

/** How a model is called in URLs and requests. A slash in it is `%2F` in a path. */
export const modelName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]*$/, 'letters, digits and . _ : / - only; starts with a letter or digit');

/** A model in a response. What is missing is not known. */
export const model = z
  .object({
    id: modelName,
    provider: z.string(),
    family: z.string(),
    display_name: z.string(),
    limits: z.object({ context_window: tokens, max_output: tokens.optional() }),
    training: z.iso.date().optional().meta({ description: 'End of its training data' }),
    features: z.object({ tools: z.boolean(), vision: z.boolean(), reasoning: z.boolean() }),
    costs: z.object({
      input_cost_per_mtok: price,
      output_cost_per_mtok: price,
      cache_input_cost_per_mtok: price,
    }),
    estimated_output_tps: z.number().positive().optional(),
    aliases: z.array(modelName),
    default: z.boolean(),
  })
  .meta({ id: 'Model' });
export type Model = z.infer<typeof model>;

/** What a test of a model has shown. */
export const modelTest = z
  .object({ model_id: z.string(), status: z.enum(['ok', 'error']), error_message: z.string().optional() })
  .meta({ id: 'ModelTest' });
export type ModelTest = z.infer<typeof modelTest>;
