import { z } from 'zod';
import { clearable, revision, slug, text, timestamp } from '../common';
import { listPage } from '../query';

/** Maximum of prompts, so that a list of all fits into one response. */
export const maxPrompts = 500;

/** How many former versions of a prompt are retained; the oldest are removed. */
export const maxFormerVersions = 100;

/** The longest prompt, and the longest text that it is rendered to, in characters. */
export const promptLimits = { content: 50_000, rendered: 500_000, value: 20_000, variables: 200 };

export const promptCategory = z.enum(['system', 'agent', 'tool', 'evaluation']);

const fields = {
  name: text(200, 1),
  description: text(2000),
  category: promptCategory,
  content: text(promptLimits.content, 1),
};
const changelog = text(2000, 1);

/** A prompt with its current version. `variables` are the names in `{{name}}`, each once, in their order. */
export const prompt = z
  .object({
    id: slug,
    ...fields,
    description: fields.description.optional(),
    variables: z.array(z.string()),
    version: z.number().int().min(1),
    /** What the current version changed. */
    changelog: changelog.optional(),
    revision,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Prompt' });
export type Prompt = z.infer<typeof prompt>;

export const promptCreate = z
  .strictObject({ ...fields, id: slug.optional(), description: fields.description.optional() })
  .meta({ id: 'PromptCreate' });

/** `changelog` describes a new version, and so needs another `content`. */
export const promptPatch = z
  .strictObject({
    name: fields.name.optional(),
    description: clearable(fields.description),
    category: fields.category.optional(),
    content: fields.content.optional(),
    changelog: changelog.optional(),
    expectedRevision: revision.optional(),
  })
  .refine((patch) => patch.changelog === undefined || patch.content !== undefined, {
    path: ['changelog'],
    message: 'describes a new version: send it with another content',
  })
  .meta({ id: 'PromptPatch' });

export const promptQuery = z
  .strictObject({ category: promptCategory.optional(), ...listPage(100, maxPrompts) })
  .meta({ id: 'PromptQuery' });

export const promptPageQuery = z.strictObject(listPage(20, 100));

/** One version of a prompt's content. */
export const promptVersion = z
  .object({
    promptId: slug,
    version: z.number().int().min(1),
    content: z.string(),
    changelog: changelog.optional(),
    createdAt: timestamp,
  })
  .meta({ id: 'PromptVersion' });
export type PromptVersion = z.infer<typeof promptVersion>;

const sampleValue = z.union([z.string().max(promptLimits.value), z.number(), z.boolean()]);

export const promptPreview = z
  .strictObject({
    sampleVariables: z
      .record(z.string().max(64), sampleValue)
      .refine((values) => Object.keys(values).length <= promptLimits.variables, {
        message: `must have at most ${promptLimits.variables} variables`,
      })
      .default({}),
  })
  .meta({ id: 'PromptPreview' });

/** A prompt with values in it; variables without a value stay as they are. */
export const renderedPrompt = z
  .object({
    renderedPrompt: z.string(),
    unmatchedVariables: z.array(z.string()),
    /** Values that were sent for no variable of the prompt. */
    unusedVariables: z.array(z.string()),
  })
  .meta({ id: 'RenderedPrompt' });
export type RenderedPrompt = z.infer<typeof renderedPrompt>;

const tokens = z.number().int().min(0).max(1_000_000_000);

export const promptUsageCreate = z
  .strictObject({
    usedBy: text(100, 1).optional(),
    renderedPrompt: text(promptLimits.content).optional(),
    model: text(200, 1).optional(),
    inputTokens: tokens.optional(),
    outputTokens: tokens.optional(),
  })
  .meta({ id: 'PromptUsageCreate' });

/** One use of a prompt, in the version that was current. What looks like a secret in the text is redacted. */
export const promptUsage = z
  .object({
    id: z.string(),
    promptId: slug,
    version: z.number().int().min(1),
    usedBy: z.string().optional(),
    renderedPrompt: z.string().optional(),
    model: z.string().optional(),
    inputTokens: tokens.optional(),
    outputTokens: tokens.optional(),
    usedAt: timestamp,
  })
  .meta({ id: 'PromptUsage' });
export type PromptUsage = z.infer<typeof promptUsage>;

/** The uses of a prompt that are retained, summed up. */
export const promptStats = z
  .object({
    promptId: slug,
    version: z.number().int().min(1),
    uses: z.number().int(),
    inputTokens: z.number().int(),
    outputTokens: z.number().int(),
    lastUsedAt: timestamp.nullable(),
  })
  .meta({ id: 'PromptStats' });
export type PromptStats = z.infer<typeof promptStats>;
